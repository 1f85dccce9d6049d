// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// TestAnExposureThatCannotBeServedIsRefused changes the ButlerConfig from case to case. The API
// server sees a change a moment later.
func TestAnExposureThatCannotBeServedIsRefused(t *testing.T) {
	c := connect(t)
	config := &v1alpha1.ButlerConfig{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.ButlerConfigName}}
	if err := c.Create(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a", 60)
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: long}}); err != nil {
		t.Fatal(err)
	}
	short, longest := "*.k8s.example.com", "*.k8s."+strings.Repeat(strings.Repeat("b", 60)+".", 3)+"com"
	for _, tc := range []struct {
		reason             string
		mode               v1alpha1.ExposureMode
		domain             string
		namespace, service string
		want               string // part of the message; empty: accepted
	}{
		{reason: "a load balancer", mode: "LoadBalancer"},
		{reason: "no address at all", mode: "LoadBalancer", service: "ClusterIP", want: "leave it out"},
		{reason: "a Gateway", mode: "Gateway", domain: short, service: "ClusterIP"},
		{reason: "a Gateway of any domain", mode: "Gateway", domain: "example.com"},
		{reason: "a name that is too long", mode: "Gateway", domain: longest, namespace: long, want: "longer than 253"},
		{reason: "a long domain, and no name", mode: "Gateway", domain: longest, namespace: long, service: "LoadBalancer"},
		{reason: "an Ingress", mode: "Ingress", domain: short},
		{reason: "an Ingress without a second name", mode: "Ingress", domain: "*.example.com", want: "no label k8s"},
		{reason: "an Ingress that is not used", mode: "Ingress", domain: "*.example.com", service: "LoadBalancer"},
	} {
		config.Spec.ControlPlaneExposure = &v1alpha1.ControlPlaneExposureSpec{Mode: tc.mode, Hostname: tc.domain, GatewayRef: "a/b"}
		if err := c.Update(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		o := addresses()[2].(*v1alpha1.TenantCluster)
		o.Name, o.Spec.ControlPlane.ServiceType = "web", tc.service
		if tc.namespace != "" {
			o.Namespace = tc.namespace
		}
		await(t, tc.reason, func() bool {
			err := c.Create(t.Context(), o.DeepCopy(), client.DryRunAll)
			if tc.want == "" {
				return err == nil
			}
			return err != nil && strings.Contains(err.Error(), tc.want)
		})
	}
	if err := c.Delete(t.Context(), config); err != nil {
		t.Fatal(err)
	}
}
