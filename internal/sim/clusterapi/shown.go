// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// shown is a condition as a provider sets it: False with severity, reason and message, or True.
type shown struct {
	kind                      string
	ok                        bool
	severity, reason, message string
}

// moment is what a provider has conditions about.
type moment int

const (
	ofCluster moment = iota
	creating
	starting
	deleting
)

// show sets the condition of a moment, and the summary Ready, which has the same reason and
// message. Providers without conditions of their own have the summary alone.
func (k kind) show(o *unstructured.Unstructured, at moment, err error) {
	s := k.plain(at, err)
	if k.shows != nil {
		s = k.shows(at, err)
		settleOthers(o, s.kind)
		setCondition(o, s)
	}
	s.kind = "Ready"
	setCondition(o, s)
}

// settleOthers has the conditions before one be true: a provider gets that far only then.
func settleOthers(o *unstructured.Unstructured, kind string) {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, each := range all {
		c, _ := each.(map[string]any)
		if other, _ := c["type"].(string); other != kind && other != "Ready" {
			setCondition(o, shown{kind: other, ok: true})
		}
	}
}

// plain is the summary of providers without conditions of their own.
func (k kind) plain(at moment, err error) shown {
	if err == nil {
		return shown{ok: true}
	}
	reason := map[moment]string{ofCluster: "ClusterReconciliationFailed", creating: "ProvisioningFailed", starting: "InstanceNotReady", deleting: "DeletionFailed"}[at]
	switch {
	case errors.Is(err, errWait) && at == ofCluster:
		reason = "WaitingForControlPlaneEndpoint"
	case errors.Is(err, errWait) && at == creating:
		reason = "WaitingForInfrastructure"
	}
	return shown{severity: "Error", reason: reason, message: err.Error()}
}

// awsShows has the conditions of the provider for AWS. What it waits for has no message.
func awsShows(at moment, err error) shown {
	const machine = "InstanceReady"
	switch {
	case at == ofCluster:
		return awsClusterShows(err)
	case err == nil:
		return shown{kind: machine, ok: true}
	case errors.Is(err, errWait):
		return shown{kind: machine, severity: "Info", reason: waitReason(err)}
	case at == starting:
		return shown{kind: machine, severity: "Warning", reason: "InstanceNotReady"}
	case at == deleting:
		return shown{kind: machine, severity: "Warning", reason: "DeletingFailed", message: err.Error()}
	}
	return shown{kind: machine, severity: "Error", reason: "InstanceProvisionFailed", message: err.Error()}
}

func awsClusterShows(err error) shown {
	switch {
	case err == nil:
		return shown{kind: "LoadBalancerReady", ok: true}
	case errors.Is(err, errWait):
		return shown{kind: "LoadBalancerReady", severity: "Info", reason: "WaitForExternalControlPlaneEndpoint"}
	case errors.Is(err, errNotAllowed):
		return shown{kind: "PrincipalUsageAllowed", severity: "Error", reason: "PrincipalUsageUnauthorized", message: err.Error()}
	}
	return shown{kind: "PrincipalCredentialRetrieved", severity: "Error", reason: "PrincipalCredentialRetrievalFailed", message: err.Error()}
}

// azureShows has the conditions of the provider for Azure.
func azureShows(at moment, err error) shown {
	const machine, vm = "VMRunning", "virtualmachine"
	switch {
	case at == ofCluster:
		return azureClusterShows(err)
	case err == nil:
		return shown{kind: machine, ok: true}
	case errors.Is(err, errWait):
		return shown{kind: machine, severity: "Info", reason: waitReason(err)}
	case at == starting:
		return shown{kind: machine, severity: "Info", reason: "Creating", message: vm + " creating or updating"}
	case at == deleting:
		return shown{kind: machine, severity: "Error", reason: "DeletionFailed", message: vm + " failed to delete. err: " + err.Error()}
	}
	return shown{kind: machine, severity: "Error", reason: "Failed", message: vm + " failed to create or update. err: " + err.Error()}
}

func azureClusterShows(err error) shown {
	s := shown{kind: "NetworkInfrastructureReady", ok: err == nil}
	switch {
	case err == nil:
	case errors.Is(err, errWait):
		s.severity, s.reason, s.message = "Info", "ExternallyManagedControlPlane", "Waiting for the Control Plane host"
	case errors.Is(err, errNotAllowed):
		s.severity, s.reason = "Error", "NamespaceNotAllowedByIdentity"
	default:
		s.severity, s.reason, s.message = "Error", "Failed", err.Error()
	}
	return s
}

// waitReason is how the providers for clouds call what a machine waits for.
func waitReason(err error) string {
	if strings.Contains(err.Error(), "bootstrap data") {
		return "WaitingForBootstrapData"
	}
	return "WaitingForClusterInfrastructure"
}
