// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalancerrequest

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
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

// report writes the status if the decision changes it, and tells what happened.
func (p *pass) report(ctx context.Context, d decision) error {
	if d.keep {
		return nil
	}
	base := p.request.DeepCopy()
	if p.facts.err != nil || d.phase == v1alpha1.LoadBalancerFailed {
		d.message = request.Identified(d.message, cmp.Or(p.facts.balancer.ID, p.request.Status.ResourceID))
	}
	p.apply(d)
	if equality.Semantic.DeepEqual(base.Status, p.request.Status) {
		return nil
	}
	p.request.Status.LastUpdated = &metav1.Time{Time: p.clock()}
	if err := p.claim.Report(ctx, base); err != nil {
		return err
	}
	if base.Status.Phase != d.phase {
		log.FromContext(ctx).Info("phase changed", "loadBalancer", p.request.Name,
			"from", base.Status.Phase, "to", d.phase, "reason", d.reason)
	}
	p.announce(base.Status, d)
	return nil
}

func (p *pass) apply(d decision) {
	s := &p.request.Status
	s.Phase, s.ObservedGeneration = d.phase, p.request.Generation
	if p.facts.err == nil {
		describe(s, p.facts.balancer)
	}
	switch {
	case d.phase != v1alpha1.LoadBalancerFailed:
		s.FailureReason, s.FailureMessage = "", ""
	case p.facts.err == nil || !request.Transient(p.facts.err):
		s.FailureReason, s.FailureMessage = d.reason, d.message
	}
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: d.ready,
		Reason: d.reason, Message: d.message, ObservedGeneration: p.request.Generation,
	})
}

// describe copies what the platform reports. Identifier and endpoint are kept
// where it does not report them any more.
func describe(s *v1alpha1.LoadBalancerRequestStatus, b provider.LoadBalancer) {
	if b.ID != "" {
		s.ResourceID = b.ID
	}
	if b.Endpoint != "" {
		s.Endpoint = b.Endpoint
	}
	s.RegisteredTargets = b.Registered
}
