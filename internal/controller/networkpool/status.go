// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package networkpool

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// report writes a status that has changed, and records an event about another reason.
func (r *Reconciler) report(ctx context.Context, pool *v1alpha1.NetworkPool, v verdict) error {
	before := pool.DeepCopy()
	s := &pool.Status
	s.ObservedGeneration = pool.Generation
	s.TotalIPs, s.AvailableIPs, s.LargestFreeBlock = ipam.Int32(v.usage.Total), ipam.Int32(v.usage.Free), ipam.Int32(v.usage.LargestFree)
	s.FragmentationPercent, s.ReservedIPs = v.usage.Fragmentation, ipam.Int32(v.usage.withheld)
	s.AllocatedIPs, s.RestingIPs, s.AllocationCount = int32(v.usage.allocated), int32(v.usage.resting), int32(v.usage.allocations)
	c := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v.reason, Message: v.message, ObservedGeneration: pool.Generation}
	if v.reason == reasonReady {
		c.Status = metav1.ConditionTrue
	}
	r.Metrics.Pool(pool)
	meta.SetStatusCondition(&s.Conditions, c)
	if equality.Semantic.DeepEqual(before.Status, *s) {
		return nil
	}
	if err := r.Client.Status().Patch(ctx, pool, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	if was := meta.FindStatusCondition(before.Status.Conditions, c.Type); was == nil || was.Reason != c.Reason {
		r.announce(pool, c)
	}
	return nil
}

// action is what all events are about.
const action = "Manage"

// note cuts a message to what the API server takes as the note of an event.
const note = "%.1000s"

func (r *Reconciler) announce(pool *v1alpha1.NetworkPool, c metav1.Condition) {
	kind := corev1.EventTypeNormal
	if c.Status != metav1.ConditionTrue {
		kind = corev1.EventTypeWarning
	}
	r.Recorder.Eventf(pool, nil, kind, c.Reason, action, note, c.Message)
}
