// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalancerrequest

import (
	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Reasons of the Ready condition, besides those of the drivers.
const (
	reasonReady       = "LoadBalancerReady"
	reasonCreating    = "LoadBalancerCreating"
	reasonSettling    = "LoadBalancerNotVisible"
	reasonNotReady    = "LoadBalancerNotReady"
	reasonTargets     = "TargetsMissing"
	reasonLost        = "LoadBalancerLost"
	reasonBroken      = "LoadBalancerBroken"
	reasonDeleting    = "LoadBalancerDeleting"
	reasonUnsupported = "LoadBalancersUnsupported"
)

// describe copies what the platform reports into the status. Identifier and endpoint
// are kept where it does not report them any more.
func describe(l *v1alpha1.LoadBalancerRequest, b provider.LoadBalancer) {
	if b.ID != "" {
		l.Status.ResourceID = b.ID
	}
	if b.Endpoint != "" {
		l.Status.Endpoint = b.Endpoint
	}
	l.Status.RegisteredTargets = b.Registered
}
