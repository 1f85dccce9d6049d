// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalancerrequest

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
)

// announce records the events of a status that has changed from before.
func (p *pass) announce(before v1alpha1.LoadBalancerRequestStatus, d decision) {
	if p.created {
		p.event("LoadBalancerCreated", "Create", "created load balancer %q on %s", p.request.Name, p.config())
	}
	if d.phase == v1alpha1.LoadBalancerReady && before.RegisteredTargets != p.request.Status.RegisteredTargets {
		p.event("TargetsChanged", "Ensure", "load balancer %q has %d targets", p.request.Name, p.request.Status.RegisteredTargets)
	}
	switch {
	case d.phase == v1alpha1.LoadBalancerFailed && before.FailureReason != p.request.Status.FailureReason,
		(p.facts.err != nil || d.reason == request.ReasonSelfHosted) && request.ReadyReason(before.Conditions) != d.reason:
		p.Events.Eventf(p.request, nil, corev1.EventTypeWarning, d.reason, "Reconcile", "%s", request.Short(d.message))
	case before.Phase == d.phase:
	case before.Phase == v1alpha1.LoadBalancerFailed && !p.facts.deleting:
		p.event("LoadBalancerRecovered", "Reconcile", "load balancer %q has recovered from %s: %s", p.request.Name, before.Phase, request.Short(d.message))
	case d.phase == v1alpha1.LoadBalancerReady:
		p.event(reasonReady, "Observe", "load balancer %q is ready at %s", p.request.Name, p.request.Status.Endpoint)
	case d.phase == v1alpha1.LoadBalancerDeleting:
		p.event(reasonDeleting, "Delete", "deleting load balancer %q from %s", p.request.Name, p.config())
	}
}

// release lets the request go. There is no phase for what is gone, so an event
// is all that tells of it.
func (p *pass) release(ctx context.Context) error {
	if err := p.claim.Release(ctx); err != nil {
		return err
	}
	if p.facts.taken != "" {
		p.event(request.ReasonOwnerTaken, "Release", "released without deleting load balancer %q: %s", p.request.Name, request.Short(p.facts.taken))
		return nil
	}
	p.event("LoadBalancerDeleted", "Delete", "load balancer %q is gone from %s", p.request.Name, p.config())
	return nil
}

func (p *pass) event(reason, action, note string, args ...any) {
	p.Events.Eventf(p.request, nil, corev1.EventTypeNormal, reason, action, note, args...)
}

func (p *pass) config() string { return p.request.Spec.ProviderConfigRef.Name }
