// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// report writes a status that has changed, and records an event.
func (r *Reconciler) report(ctx context.Context, a *v1alpha1.IPAllocation, v verdict) error {
	before := a.DeepCopy()
	s := &a.Status
	s.Phase, s.ObservedGeneration = v.phase, a.Generation
	if v.addresses != nil {
		r.setAddresses(s, *v.addresses, v.network)
	}
	if s.StartAddress != "" && v.phase == v1alpha1.IPAllocationPending {
		s.Phase = v1alpha1.IPAllocationAllocated // what was handed out is not taken back
	}
	if v.phase == v1alpha1.IPAllocationReleased && s.ReleasedAt == nil {
		s.ReleasedAt = &metav1.Time{Time: r.now()}
	}
	c := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v.reason, Message: v.message, ObservedGeneration: a.Generation}
	if v.reason == reasonAllocated {
		c.Status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&s.Conditions, c)
	if equality.Semantic.DeepEqual(before.Status, *s) {
		return nil
	}
	if err := r.Client.Status().Patch(ctx, a, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	if was := meta.FindStatusCondition(before.Status.Conditions, c.Type); was == nil || was.Reason != c.Reason || was.Message != c.Message {
		log.FromContext(ctx).Info("allocation", "phase", s.Phase, "reason", c.Reason, "message", c.Message)
		r.announce(a, c)
	}
	return nil
}

// setAddresses writes the addresses, and when they were allocated first.
func (r *Reconciler) setAddresses(s *v1alpha1.IPAllocationStatus, has ipam.Range, network string) {
	s.StartAddress, s.EndAddress, s.AllocatedCount, s.Addresses = has.First.String(), has.Last.String(), ipam.Int32(has.Size()), nil
	for address := range has.All() {
		s.Addresses = append(s.Addresses, address.String())
	}
	if s.AllocatedAt == nil {
		s.AllocatedAt, s.AllocatedBy, s.CIDR = &metav1.Time{Time: r.now()}, r.Name, network
	}
}

// action is what all events are about.
const action = "Allocate"

// note cuts a message to what the API server takes as the note of an event.
const note = "%.1000s"

func (r *Reconciler) announce(a *v1alpha1.IPAllocation, c metav1.Condition) {
	kind := corev1.EventTypeNormal
	if c.Status != metav1.ConditionTrue {
		kind = corev1.EventTypeWarning
	}
	r.Recorder.Eventf(a, nil, kind, c.Reason, action, note, c.Message)
}
