// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
)

// Reasons of the conditions, besides those of the steps.
const (
	reasonComplete = "BootstrapComplete"
	reasonRetrying = "Retrying"
	reasonPaused   = "Paused"
	reasonHeld     = "SelfHosted"
	reasonPivoted  = "Pivoted"
)

// settle turns the end of a walk into a status. Once Ready the phase stays:
// later trouble shows in the conditions. So it does once Pivoting: another plane
// that takes over has to look at everything again.
func settle(cb *v1alpha1.ClusterBootstrap, p bootstrap.Progress, err error) {
	var failure *bootstrap.Failure
	s := &cb.Status
	s.ObservedGeneration = cb.Generation
	s.FailureReason, s.FailureMessage = "", ""
	was := s.Phase
	switch {
	case errors.As(err, &failure):
		s.FailureReason, s.FailureMessage = failure.Reason, failure.Message
		s.Phase = v1alpha1.BootstrapFailed
		conditions(cb, failure.Reason, failure.Message)
	case err != nil:
		s.Phase = p.Phase
		conditions(cb, reasonRetrying, err.Error())
	case p.Obstacle != nil:
		s.Phase = p.Phase
		conditions(cb, p.Obstacle.Reason, p.Obstacle.Message)
	default:
		s.Phase = p.Phase
		conditions(cb, reasonComplete, "all nodes and addons are Ready")
	}
	addonsReady(cb)
	pivoted(cb)
	switch {
	case was == v1alpha1.BootstrapReady:
		s.Phase = was
	case was == v1alpha1.BootstrapPivoting && s.Phase != v1alpha1.BootstrapReady && s.FailureReason == "":
		s.Phase = was
	}
}

// conditions says the same thing from three sides.
func conditions(cb *v1alpha1.ClusterBootstrap, reason, message string) {
	failed := cb.Status.FailureReason != ""
	ready := reason == reasonComplete
	set(cb, v1alpha1.ConditionReady, ready, reason, message)
	set(cb, v1alpha1.ConditionProgressing, !ready && !failed, reason, message)
	set(cb, v1alpha1.ConditionFailed, failed, reason, message)
}

// addonsReady says what the addons wait for, as soon as there are any.
func addonsReady(cb *v1alpha1.ClusterBootstrap) {
	if len(cb.Status.Addons) == 0 {
		return
	}
	if o := bootstrap.AddonObstacle(cb.Status.Addons); o != nil {
		set(cb, v1alpha1.ConditionAddonsReady, false, o.Reason, o.Message)
		return
	}
	set(cb, v1alpha1.ConditionAddonsReady, true, "AddonsReady", fmt.Sprintf("%d addons are ready", len(cb.Status.Addons)))
}

// pivoted says whether the cluster manages itself. What a move that failed has
// left to be read stays.
func pivoted(cb *v1alpha1.ClusterBootstrap) {
	switch {
	case bootstrap.SelfHosted(cb):
		message := fmt.Sprintf("the cluster manages itself; its plane has moved (epoch %s)", cb.Annotations[v1alpha1.AnnotationEpoch])
		set(cb, v1alpha1.ConditionPivoted, true, reasonPivoted, message)
	case meta.IsStatusConditionTrue(cb.Status.Conditions, v1alpha1.ConditionPivoted):
		meta.RemoveStatusCondition(&cb.Status.Conditions, v1alpha1.ConditionPivoted)
	}
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
	next.Status.Phase = cmp.Or(next.Status.Phase, v1alpha1.BootstrapPending)
	const message = "spec.paused is true: nothing is changed"
	if next.Status.Phase != v1alpha1.BootstrapReady {
		set(next, v1alpha1.ConditionReady, false, reasonPaused, message)
	}
	set(next, v1alpha1.ConditionProgressing, false, reasonPaused, message)
	return next
}

// held is a ClusterBootstrap that was deleted on the cluster it is about.
func held(cb *v1alpha1.ClusterBootstrap) *v1alpha1.ClusterBootstrap {
	next := cb.DeepCopy()
	next.Status.ObservedGeneration = cb.Generation
	message := fmt.Sprintf("the cluster manages itself and cannot delete its own machines: nothing is deleted; run butleradm destroy %s, which moves the management back first", cb.Spec.Cluster.Name)
	set(next, v1alpha1.ConditionReady, false, reasonHeld, message)
	set(next, v1alpha1.ConditionProgressing, false, reasonHeld, message)
	return next
}

func deleting(cb *v1alpha1.ClusterBootstrap, o *bootstrap.Obstacle) *v1alpha1.ClusterBootstrap {
	next := cb.DeepCopy()
	next.Status.ObservedGeneration = cb.Generation
	set(next, v1alpha1.ConditionReady, false, o.Reason, o.Message)
	set(next, v1alpha1.ConditionProgressing, true, o.Reason, o.Message)
	return next
}

// report writes a status that has changed, and records events.
func (r *Reconciler) report(ctx context.Context, before, after *v1alpha1.ClusterBootstrap) error {
	if after.Spec.StatusCredentials != v1alpha1.StatusCredentialsInline {
		after.Status.Kubeconfig, after.Status.Talosconfig = "", ""
	}
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
	}
	r.announce(before, after)
	return nil
}
