// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// conditionsOf returns "TYPE STATUS REASON MESSAGE" of each condition.
func conditionsOf(o *unstructured.Unstructured) (out []string) {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, each := range all {
		c := each.(map[string]any)
		text := func(key string) string { s, _ := c[key].(string); return s }
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", text("type"), text("status"), text("reason"), text("message"))))
	}
	return out
}

// TestProvidersShowTheirOwnConditions leads objects from a refusal through a wait to ready.
func TestProvidersShowTheirOwnConditions(t *testing.T) {
	refused := fmt.Errorf("identity web %w in namespace x", errNotAllowed)
	full, wait, data := errors.New("quota exceeded"), waitFor("spec.controlPlaneEndpoint"), waitFor("the bootstrap data to be available")
	type at struct {
		moment
		err  error
		want []string
	}
	for reason, c := range map[string]struct {
		kind kind
		way  []at
	}{
		"a cluster on AWS": {kind{shows: awsShows}, []at{
			{ofCluster, refused, []string{"PrincipalUsageAllowed False PrincipalUsageUnauthorized " + refused.Error(), "Ready False PrincipalUsageUnauthorized " + refused.Error()}},
			{ofCluster, wait, []string{"PrincipalUsageAllowed True", "Ready False WaitForExternalControlPlaneEndpoint", "LoadBalancerReady False WaitForExternalControlPlaneEndpoint"}},
			{ofCluster, nil, []string{"PrincipalUsageAllowed True", "Ready True", "LoadBalancerReady True"}},
		}},
		"a machine on AWS": {kind{shows: awsShows}, []at{
			{creating, data, []string{"InstanceReady False WaitingForBootstrapData", "Ready False WaitingForBootstrapData"}},
			{creating, full, []string{"InstanceReady False InstanceProvisionFailed quota exceeded", "Ready False InstanceProvisionFailed quota exceeded"}},
			{starting, errors.New("pending"), []string{"InstanceReady False InstanceNotReady", "Ready False InstanceNotReady"}},
			{starting, nil, []string{"InstanceReady True", "Ready True"}},
			{deleting, full, []string{"InstanceReady False DeletingFailed quota exceeded", "Ready False DeletingFailed quota exceeded"}},
		}},
		"a cluster on Azure": {kind{shows: azureShows}, []at{
			{ofCluster, refused, []string{"NetworkInfrastructureReady False NamespaceNotAllowedByIdentity", "Ready False NamespaceNotAllowedByIdentity"}},
			{ofCluster, wait, []string{"NetworkInfrastructureReady False ExternallyManagedControlPlane Waiting for the Control Plane host", "Ready False ExternallyManagedControlPlane Waiting for the Control Plane host"}},
			{ofCluster, nil, []string{"NetworkInfrastructureReady True", "Ready True"}},
		}},
		"a machine on Azure": {kind{shows: azureShows}, []at{
			{creating, full, []string{"VMRunning False Failed virtualmachine failed to create or update. err: quota exceeded", "Ready False Failed virtualmachine failed to create or update. err: quota exceeded"}},
			{starting, nil, []string{"VMRunning True", "Ready True"}},
		}},
		"a machine of another provider": {kind{}, []at{
			{creating, full, []string{"Ready False ProvisioningFailed quota exceeded"}},
			{starting, nil, []string{"Ready True"}},
		}},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		for _, at := range c.way {
			c.kind.show(o, at.moment, at.err)
			if diff := cmp.Diff(at.want, conditionsOf(o)); diff != "" {
				t.Errorf("%s: %s", reason, diff)
			}
		}
	}
}
