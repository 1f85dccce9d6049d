// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// LoadBalancers creates, observes and removes load balancers that pass TCP through
// to control planes. The rules are those of Machines.
type LoadBalancers interface {
	// Observe reports what the platform holds for the owner.
	Observe(context.Context, LoadBalancerRef) (LoadBalancer, error)
	// Ensure creates what is missing and brings everything but the scheme in line with
	// the spec. It is asked again while the state that it reports is Partial.
	Ensure(context.Context, LoadBalancerSpec) (LoadBalancer, error)
	// Delete asks the platform to remove everything that Ensure created.
	Delete(context.Context, LoadBalancerRef) error
	// List reports all load balancers whose owner matches every field that is set.
	List(context.Context, Owner) ([]LoadBalancer, error)
}

// LoadBalancerRef names a load balancer.
type LoadBalancerRef struct {
	Name  string
	Owner Owner
}

// LoadBalancerSpec is the load balancer that is wanted.
type LoadBalancerSpec struct {
	LoadBalancerRef
	Port            int32
	HealthCheckPort int32
	// AdditionalPorts are further listeners. Each forwards to the same port of every
	// target, and is probed on it.
	AdditionalPorts []int32
	// Scheme does not change during the life of a load balancer.
	Scheme v1alpha1.LoadBalancerScheme
	// AllowedCIDRs are the clients that may connect to any port; empty means all.
	AllowedCIDRs []string
	Targets      []Target
}

// Target is a machine behind a load balancer.
type Target struct {
	// ID is the ID of the Machine.
	ID   string
	Name string
	IP   string
}

// LoadBalancer is what the platform reports; StateRunning means that the
// endpoint exists and passes traffic to the registered targets.
type LoadBalancer struct {
	Ref   LoadBalancerRef
	State State
	ID    string
	// Endpoint is reported as soon as the platform has named it, in whatever state.
	Endpoint string
	// Registered counts the targets that the platform knows.
	Registered int32
	// Message is the present obstacle on the way to StateRunning, for people.
	Message string
	// Certain says, with StateAbsent, that nothing can appear any more: no Settle has to
	// pass.
	Certain bool
	// Parts are all objects that the platform holds for it. Only List fills them in.
	Parts []Part
}
