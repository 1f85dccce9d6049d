// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

// Reasons of conditions, besides those of the steps.
const (
	reasonReady       = "Ready"
	reasonRetrying    = "Retrying"
	reasonNotObserved = "NotObserved"
	// Reasons of a cluster that is being changed to what its spec says.
	reasonUpgrading  = "Upgrading"
	reasonRollingOut = "RollingOut"
	reasonScaling    = "Scaling"
)

// conditionTypes are all conditions of the steps, in the order of their tests.
func conditionTypes() (out []string) {
	for _, s := range steps() {
		if !slices.Contains(out, s.condition) {
			out = append(out, s.condition)
		}
	}
	return out
}

// settle turns the end of a walk into a status.
func settle(tc *v1alpha1.TenantCluster, p progress, err error) {
	var failure *step.Failure
	reason, message := reasonReady, "control plane, workers and addons are ready"
	switch {
	case errors.As(err, &failure):
		reason, message = failure.Reason, failure.Message
	case err != nil:
		reason, message = reasonRetrying, step.Stable(err)
	case p.first() != nil:
		reason, message = p.first().Reason, p.first().Message
	}
	for _, kind := range conditionTypes() {
		switch o := p.of(kind); {
		case kind == p.condition:
			set(tc, kind, metav1.ConditionFalse, reason, message)
		case o != nil:
			set(tc, kind, metav1.ConditionFalse, o.Reason, o.Message)
		case slices.Contains(p.done, kind) && kind == v1alpha1.ConditionNetworkReady && p.lacking != nil:
			set(tc, kind, metav1.ConditionFalse, p.lacking.Reason, p.lacking.Message)
		case slices.Contains(p.done, kind):
			set(tc, kind, metav1.ConditionTrue, kind, "")
		default:
			set(tc, kind, metav1.ConditionUnknown, reasonNotObserved, "waits for "+p.condition)
		}
	}
	ready := metav1.ConditionFalse
	if p.condition == "" && err == nil && len(p.postponed) == 0 {
		ready = metav1.ConditionTrue
	}
	set(tc, v1alpha1.ConditionReady, ready, reason, message)
	tc.Status.Phase = phase(tc, p, failure != nil, reason)
	if failure == nil && tc.Status.Phase == v1alpha1.TenantReady && p.upgrades() {
		tc.Status.Phase = v1alpha1.TenantUpdating
	}
	tc.Status.ObservedGeneration = tc.Generation
}

// phase is that of the step where the walk ended. A cluster that was Ready is Updating while
// it is changed to what its spec says; trouble otherwise shows in the conditions alone.
func phase(tc *v1alpha1.TenantCluster, p progress, failed bool, reason string) v1alpha1.TenantClusterPhase {
	was := tc.Status.Phase
	updating := slices.Contains([]string{reasonUpgrading, reasonRollingOut, reasonScaling}, reason)
	switch {
	case failed:
		return v1alpha1.TenantFailed
	case p.phase == v1alpha1.TenantReady, p.phase == "":
		return cmp.Or(p.phase, was, v1alpha1.TenantPending)
	case was == v1alpha1.TenantUpdating,
		was == v1alpha1.TenantReady && (updating || tc.Generation != tc.Status.ObservedGeneration):
		return v1alpha1.TenantUpdating
	case was == v1alpha1.TenantReady:
		return was
	}
	return p.phase
}

// upgrades reports whether the walk continued beside an upgrade of the control plane.
func (p progress) upgrades() bool {
	return slices.ContainsFunc(p.postponed, func(each postponed) bool { return each.obstacle.Reason == reasonUpgrading })
}

func set(tc *v1alpha1.TenantCluster, kind string, is metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&tc.Status.Conditions, metav1.Condition{
		Type: kind, Status: is, Reason: reason, Message: message, ObservedGeneration: tc.Generation,
	})
}

// remark keeps a condition about what users should know, as long as there is something.
func (s *session) remark(kind, reason string, messages []string) {
	if len(messages) == 0 {
		meta.RemoveStatusCondition(&s.Status.Conditions, kind)
		return
	}
	set(s.TenantCluster, kind, metav1.ConditionTrue, reason, strings.Join(messages, "; "))
}

// lastChange is when the status last changed.
func lastChange(tc *v1alpha1.TenantCluster) (last time.Time) {
	for _, c := range tc.Status.Conditions {
		if c.LastTransitionTime.After(last) {
			last = c.LastTransitionTime.Time
		}
	}
	return last
}

// report writes a status that has changed, and records events.
func (r *Reconciler) report(ctx context.Context, before, after *v1alpha1.TenantCluster) error {
	if before.Status.Phase != after.Status.Phase {
		after.Status.LastTransitionTime = &metav1.Time{Time: r.Clock()}
	}
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	lock := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, after, lock); err != nil {
		return err
	}
	r.announce(ctx, before, after)
	r.announceRemarks(before, after)
	return nil
}

// announceRemarks records an event about each remark on the cluster that is new.
func (r *Reconciler) announceRemarks(before, after *v1alpha1.TenantCluster) {
	for _, kind := range []string{v1alpha1.ConditionFieldsWithoutEffect, v1alpha1.ConditionLeftOnPlatform} {
		is, was := meta.FindStatusCondition(after.Status.Conditions, kind), meta.FindStatusCondition(before.Status.Conditions, kind)
		if is != nil && (was == nil || was.Message != is.Message) {
			r.Recorder.Eventf(after, nil, corev1.EventTypeWarning, is.Reason, action, "%s", note(is.Message))
		}
	}
}

// announce records an event about a new phase, or else about a new obstacle.
func (r *Reconciler) announce(ctx context.Context, before, after *v1alpha1.TenantCluster) {
	is, was := readyCondition(after), readyCondition(before)
	kind := corev1.EventTypeNormal
	if after.Status.Phase == v1alpha1.TenantFailed {
		kind = corev1.EventTypeWarning
	}
	switch from, to := before.Status.Phase, after.Status.Phase; {
	case from != to:
		log.FromContext(ctx).Info("phase changed", "tenant", after.Name, "from", from, "to", to)
		r.Recorder.Eventf(after, nil, kind, string(to), action, "%s", note(is.Message))
	case was.Reason != is.Reason:
		r.Recorder.Eventf(after, nil, kind, is.Reason, action, "%s", note(is.Message))
	}
	if now, then := networkCondition(after), networkCondition(before); is.Status == metav1.ConditionTrue && now.Status == metav1.ConditionFalse && now.Reason != then.Reason {
		r.Recorder.Eventf(after, nil, corev1.EventTypeWarning, now.Reason, action, "%s", note(now.Message))
	}
}

// action is what all events are about.
const action = "Reconcile"

// note is a message cut to what an event takes.
func note(message string) string {
	const most, cut = 1024, "…"
	if message == "" {
		return "-"
	}
	if len(message) <= most {
		return message
	}
	return strings.ToValidUTF8(message[:most-len(cut)], "") + cut
}

func readyCondition(tc *v1alpha1.TenantCluster) metav1.Condition {
	return conditionOf(tc, v1alpha1.ConditionReady)
}

func networkCondition(tc *v1alpha1.TenantCluster) metav1.Condition {
	return conditionOf(tc, v1alpha1.ConditionNetworkReady)
}

func conditionOf(tc *v1alpha1.TenantCluster, kind string) metav1.Condition {
	if c := meta.FindStatusCondition(tc.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// obstacle is what a step waits for and no event reports.
func polled(reason, format string, args ...any) *step.Obstacle {
	return &step.Obstacle{Reason: reason, Message: fmt.Sprintf(format, args...), Poll: true}
}

// reported is what a step waits for, with a watch that reports its end.
func reported(reason, format string, args ...any) *step.Obstacle {
	return &step.Obstacle{Reason: reason, Message: fmt.Sprintf(format, args...)}
}
