// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
)

// settle turns the end of a walk into a status. Once Ready the phase stays:
// later trouble shows in the conditions.
func settle(cb *v1alpha1.ClusterBootstrap, p bootstrap.Progress, err error) {
	var failure *bootstrap.Failure
	s := &cb.Status
	s.ObservedGeneration = cb.Generation
	s.FailureReason, s.FailureMessage = "", ""
	wasReady := s.Phase == v1alpha1.BootstrapReady
	switch {
	case errors.As(err, &failure):
		s.FailureReason, s.FailureMessage = failure.Reason, failure.Message
		s.Phase = v1alpha1.BootstrapFailed
		conditions(cb, failure.Reason, failure.Message)
	case err != nil:
		s.Phase = p.Phase
		conditions(cb, "Retrying", err.Error())
	case p.Obstacle != nil:
		s.Phase = p.Phase
		conditions(cb, p.Obstacle.Reason, p.Obstacle.Message)
	default:
		s.Phase = p.Phase
		conditions(cb, "BootstrapComplete", "all nodes are Ready; addons are not installed by this version")
	}
	if wasReady {
		s.Phase = v1alpha1.BootstrapReady
	}
}

// conditions says the same thing from three sides.
func conditions(cb *v1alpha1.ClusterBootstrap, reason, message string) {
	failed := cb.Status.FailureReason != ""
	ready := reason == "BootstrapComplete"
	set(cb, v1alpha1.ConditionReady, ready, reason, message)
	set(cb, v1alpha1.ConditionProgressing, !ready && !failed, reason, message)
	set(cb, v1alpha1.ConditionFailed, failed, reason, message)
}

func set(cb *v1alpha1.ClusterBootstrap, kind string, is bool, reason, message string) {
	status := metav1.ConditionFalse
	if is {
		status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&cb.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: cb.Generation,
	})
}

func paused(cb *v1alpha1.ClusterBootstrap) *v1alpha1.ClusterBootstrap {
	next := cb.DeepCopy()
	next.Status.ObservedGeneration = cb.Generation
	const message = "spec.paused is true: nothing is changed"
	if next.Status.Phase != v1alpha1.BootstrapReady {
		set(next, v1alpha1.ConditionReady, false, "Paused", message)
	}
	set(next, v1alpha1.ConditionProgressing, false, "Paused", message)
	return next
}

func deleting(cb *v1alpha1.ClusterBootstrap, o *bootstrap.Obstacle) *v1alpha1.ClusterBootstrap {
	next := cb.DeepCopy()
	set(next, v1alpha1.ConditionReady, false, o.Reason, o.Message)
	set(next, v1alpha1.ConditionProgressing, true, o.Reason, o.Message)
	return next
}

// report writes a status that has changed, and tells of a new phase.
func (r *Reconciler) report(ctx context.Context, before, after *v1alpha1.ClusterBootstrap) error {
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	after.Status.LastUpdated = &metav1.Time{Time: r.Clock()}
	lock := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, after, lock); err != nil {
		return err
	}
	if from, to := before.Status.Phase, after.Status.Phase; from != to {
		log.FromContext(ctx).Info("phase changed", "cluster", after.Spec.Cluster.Name, "from", from, "to", to)
		r.announce(after)
	}
	return nil
}

func (r *Reconciler) announce(cb *v1alpha1.ClusterBootstrap) {
	kind := corev1.EventTypeNormal
	if cb.Status.Phase == v1alpha1.BootstrapFailed {
		kind = corev1.EventTypeWarning
	}
	message := ""
	if c := meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionReady); c != nil {
		message = c.Message
	}
	r.Recorder.Eventf(cb, nil, kind, string(cb.Status.Phase), "Bootstrap", "%s", message)
}
