// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
)

// announce records the events of a status that has changed from before.
func (p *pass) announce(before v1alpha1.MachineRequestStatus, d decision) {
	if p.created {
		p.event("VMCreated", "Create", "created machine %q on %s", p.request.Spec.MachineName, p.request.Spec.ProviderRef.Name)
	}
	switch {
	case d.phase == v1alpha1.MachineFailed && before.FailureReason != p.request.Status.FailureReason,
		d.phase == v1alpha1.MachineUnknown && before.Phase != d.phase,
		(p.facts.err != nil || d.reason == request.ReasonSelfHosted) && request.ReadyReason(before.Conditions) != d.reason:
		p.Events.Eventf(p.request, nil, corev1.EventTypeWarning, d.reason, "Reconcile", "%s", request.Short(d.message))
	case before.Phase == d.phase:
	case before.Phase == v1alpha1.MachineFailed && !p.facts.deleting, before.Phase == v1alpha1.MachineUnknown && !p.facts.deleting:
		p.event("VMRecovered", "Reconcile", "machine %q has recovered from %s: %s", p.request.Spec.MachineName, before.Phase, request.Short(d.message))
	case d.phase == v1alpha1.MachineRunning:
		p.event(reasonRunning, "Observe", "machine %q is running at %s", p.request.Spec.MachineName, p.request.Status.IPAddress)
	case d.phase == v1alpha1.MachineDeleting:
		p.event(reasonDeleting, "Delete", "deleting machine %q from %s", p.request.Spec.MachineName, p.request.Spec.ProviderRef.Name)
	case d.phase == v1alpha1.MachineDeleted:
		p.event(reasonDeleted, "Delete", "machine %q is gone from %s", p.request.Spec.MachineName, p.request.Spec.ProviderRef.Name)
	}
}

// release lets the request go.
func (p *pass) release(ctx context.Context) error {
	err := p.claim.Release(ctx)
	if err == nil && p.facts.taken != "" {
		p.event(request.ReasonOwnerTaken, "Release", "released without deleting machine %q: %s", p.request.Spec.MachineName, request.Short(p.facts.taken))
	}
	return err
}

func (p *pass) event(reason, action, note string, args ...any) {
	p.Events.Eventf(p.request, nil, corev1.EventTypeNormal, reason, action, note, args...)
}
