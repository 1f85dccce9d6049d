// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"cmp"
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// report writes the status if the decision changes it, and records events.
func (p *Pass[O, P, S]) report(ctx context.Context, d Decision[P]) error {
	if d.Keep {
		return nil
	}
	base := p.Request.DeepCopyObject().(O)
	before, after := p.r.Kind.Status(base), p.r.Kind.Status(p.Request)
	if p.Facts.Err != nil || d.Identify || d.Phase == phaseFailed {
		id, _ := p.r.Kind.Sighted(p.Facts.Seen)
		d.Message = Identified(d.Message, cmp.Or(id, p.Subject.ID))
	}
	p.apply(after, d)
	if equality.Semantic.DeepEqual(base, p.Request) {
		return nil
	}
	*after.LastUpdated = &metav1.Time{Time: p.r.now()}
	if err := p.Claim.Report(ctx, base); err != nil {
		return err
	}
	if *before.Phase != d.Phase {
		log.FromContext(ctx).Info("phase changed", "name", p.Subject.Name, "from", *before.Phase, "to", d.Phase, "reason", d.Reason)
	}
	p.announce(base, before, after, d)
	return nil
}

func (p *Pass[O, P, S]) apply(s Status[P], d Decision[P]) {
	*s.Phase, *s.ObservedGeneration = d.Phase, p.Request.GetGeneration()
	if p.Facts.Err == nil {
		p.r.Kind.Describe(p.Request, p.Facts.Seen)
	}
	switch {
	case d.Phase != phaseFailed:
		*s.FailureReason, *s.FailureMessage = "", ""
	case p.Facts.Err == nil || !Transient(p.Facts.Err):
		*s.FailureReason, *s.FailureMessage = d.Reason, d.Message
	}
	meta.SetStatusCondition(s.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: d.Ready,
		Reason: d.Reason, Message: d.Message, ObservedGeneration: p.Request.GetGeneration(),
	})
}

// announce records the events of a status that has changed.
func (p *Pass[O, P, S]) announce(base O, before, after Status[P], d Decision[P]) {
	if p.created {
		p.Event(p.r.Kind.Prefix+"Created", "Create", "created %s on %s", p.Subject.What, p.Request.ProviderConfig().Name)
	}
	if announce := p.r.Kind.Extra.Announce; announce != nil {
		announce(p, base, d)
	}
	from := *before.Phase
	switch {
	case d.Phase == phaseFailed && *before.FailureReason != *after.FailureReason,
		d.Phase == phaseUnknown && from != d.Phase,
		(p.Facts.Err != nil || d.Reason == ReasonSelfHosted) && ReadyReason(*before.Conditions) != d.Reason:
		p.r.Events.Eventf(p.Request, nil, corev1.EventTypeWarning, d.Reason, "Reconcile", "%s", Short(d.Message))
	case from == d.Phase:
	case (from == phaseFailed || from == phaseUnknown) && !p.Facts.Deleting:
		p.Event(p.r.Kind.Prefix+"Recovered", "Reconcile", "%s has recovered from %s: %s", p.Subject.What, from, Short(d.Message))
	default:
		p.announcePhase(d.Phase)
	}
}

func (p *Pass[O, P, S]) announcePhase(phase P) {
	reason, what, config := p.r.Kind.Prefix+string(phase), p.Subject.What, p.Request.ProviderConfig().Name
	switch phase {
	case p.r.Kind.Up:
		p.Event(reason, "Observe", "%s is %s at %s", what, strings.ToLower(string(phase)), p.r.Kind.Subject(p.Request).Address)
	case phaseDeleting:
		p.Event(reason, "Delete", "deleting %s from %s", what, config)
	case phaseDeleted:
		p.Event(reason, "Delete", "%s is gone from %s", what, config)
	}
}

// release removes the finalizer. What has no phase for being gone gets an event alone.
func (p *Pass[O, P, S]) release(ctx context.Context, d Decision[P]) error {
	if err := p.Claim.Release(ctx); err != nil {
		return err
	}
	switch {
	case p.Facts.Taken != "":
		p.Event(ReasonOwnerTaken, "Release", "released without deleting %s: %s", p.Subject.What, Short(p.Facts.Taken))
	case d.Phase != phaseDeleted:
		p.announcePhase(phaseDeleted)
	}
	return nil
}

// Event records a normal event about the request.
func (p *Pass[O, P, S]) Event(reason, action, note string, args ...any) {
	p.r.Events.Eventf(p.Request, nil, corev1.EventTypeNormal, reason, action, note, args...)
}
