// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"cmp"
	"context"
	"net/netip"
	"slices"

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
	reasonRunning    = "VMRunning"
	reasonCreating   = "VMCreating"
	reasonSettling   = "VMNotVisible"
	reasonNotRunning = "VMNotRunning"
	reasonIncomplete = "VMIncomplete"
	reasonBroken     = "VMBroken"
	reasonDeleting   = "VMDeleting"
	reasonDeleted    = "VMDeleted"
)

// report writes the status if the decision changes it, and tells what happened.
func (p *pass) report(ctx context.Context, d decision) error {
	if d.keep {
		return nil
	}
	base := p.request.DeepCopy()
	if p.facts.err != nil || d.phase == v1alpha1.MachineFailed || d.reason == reasonNotRunning {
		d.message = request.Identified(d.message, cmp.Or(p.facts.machine.ID, p.request.Status.ProviderID))
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
		log.FromContext(ctx).Info("phase changed", "machine", p.request.Spec.MachineName,
			"from", base.Status.Phase, "to", d.phase, "reason", d.reason)
	}
	p.announce(base.Status, d)
	return nil
}

func (p *pass) apply(d decision) {
	s, m := &p.request.Status, p.facts.machine
	s.Phase, s.ObservedGeneration = d.phase, p.request.Generation
	if p.facts.err == nil {
		describe(s, m)
	}
	switch {
	case d.phase != v1alpha1.MachineFailed:
		s.FailureReason, s.FailureMessage = "", ""
	case p.facts.err == nil || !request.Transient(p.facts.err):
		s.FailureReason, s.FailureMessage = d.reason, d.message
	}
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: d.ready,
		Reason: d.reason, Message: d.message, ObservedGeneration: p.request.Generation,
	})
}

// describe copies what the platform reports. What it does not report any more is
// kept: the address of a machine that restarts is still its own. The primary address
// stays as long as it is reported, in whatever order the platform lists them.
func describe(s *v1alpha1.MachineRequestStatus, m provider.Machine) {
	if m.ID != "" {
		s.ProviderID = m.ID
	}
	if m.MAC != "" {
		s.MACAddress = m.MAC
	}
	if m.State != provider.StateRunning || len(m.Addresses) == 0 {
		return
	}
	primary := m.Addresses[0]
	if known, err := netip.ParseAddr(s.IPAddress); err == nil && slices.Contains(m.Addresses, known) {
		primary = known
	}
	s.IPAddress, s.IPAddresses = primary.String(), []string{primary.String()}
	for _, a := range m.Addresses {
		if a != primary {
			s.IPAddresses = append(s.IPAddresses, a.String())
		}
	}
}
