// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package loadbalancerrequest reconciles LoadBalancerRequests of one provider. It
// is the same for every platform: the driver observes, ensures and deletes; what
// that means for a request is decided here. The pass is that of package request.
package loadbalancerrequest

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
)

// What package request works with, for load balancers.
type (
	kind     = request.Kind[*v1alpha1.LoadBalancerRequest, v1alpha1.LoadBalancerPhase, provider.LoadBalancer]
	pass     = request.Pass[*v1alpha1.LoadBalancerRequest, v1alpha1.LoadBalancerPhase, provider.LoadBalancer]
	common   = request.Facts[v1alpha1.LoadBalancerPhase, provider.LoadBalancer]
	decision = request.Decision[v1alpha1.LoadBalancerPhase]
)

// Register adds the reconciler of a provider to a manager.
func Register(m manager.Manager, o request.Options) error {
	return request.Register(m, o, loadBalancers())
}

// loadBalancers is the kind. A cluster has one, so that few are reconciled at once.
func loadBalancers() kind {
	k := kind{
		Name: "loadbalancerrequest", Prefix: "LoadBalancer", Up: v1alpha1.LoadBalancerReady,
		Workers: 64, PerPlatform: 16, WhileSilent: 2,
		New:       func() *v1alpha1.LoadBalancerRequest { return &v1alpha1.LoadBalancerRequest{} },
		NewList:   func() client.ObjectList { return &v1alpha1.LoadBalancerRequestList{} },
		Finalizer: v1alpha1.FinalizerLoadBalancerRequest,
		Subject:   subjectOf, Status: statusOf,
		Observe: observe, Act: act, Describe: describe,
		Decide: func(l *v1alpha1.LoadBalancerRequest, f common) decision {
			return decide(facts{f, int32(len(distinct(l.Spec.Targets)))})
		},
		Sighted: func(b provider.LoadBalancer) (string, provider.State) { return b.ID, b.State },
		Absent:  provider.LoadBalancer{State: provider.StateAbsent},
	}
	k.Extra.Certain = func(b provider.LoadBalancer) bool { return b.State == provider.StateAbsent && b.Certain }
	k.Extra.Accept, k.Extra.Announce = accept, announce
	return k
}

func subjectOf(l *v1alpha1.LoadBalancerRequest) request.Subject {
	return request.Subject{
		Name: l.Name, What: fmt.Sprintf("load balancer %q", l.Name),
		ID: l.Status.ResourceID, Address: l.Status.Endpoint,
	}
}

func statusOf(l *v1alpha1.LoadBalancerRequest) request.Status[v1alpha1.LoadBalancerPhase] {
	s := &l.Status
	return request.Status[v1alpha1.LoadBalancerPhase]{
		Phase: &s.Phase, Conditions: &s.Conditions, FailureReason: &s.FailureReason, FailureMessage: &s.FailureMessage,
		ObservedGeneration: &s.ObservedGeneration, LastUpdated: &s.LastUpdated,
	}
}

// announce records how many targets a load balancer has by now.
func announce(p *pass, before *v1alpha1.LoadBalancerRequest, d decision) {
	n := p.Request.Status.RegisteredTargets
	if d.Phase == v1alpha1.LoadBalancerReady && before.Status.RegisteredTargets != n {
		p.Event("TargetsChanged", "Ensure", "%s has %d targets", p.Subject.What, n)
	}
}
