// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
)

// action is what all events are about.
const action = "Bootstrap"

// maxNote is how long the API server lets the note of an event be, in bytes.
const maxNote = 1024

// note is a message cut to what an event takes.
func note(message string) string {
	if len(message) <= maxNote {
		return message
	}
	const cut = "…"
	return strings.ToValidUTF8(message[:maxNote-len(cut)], "") + cut
}

// announce records an event about a new phase, or else about a new obstacle, but not of
// each turn that an obstacle takes.
func (r *Reconciler) announce(before, after *v1alpha1.ClusterBootstrap) {
	if len(before.Status.Machines) == 0 && len(after.Status.Machines) > 0 {
		r.warn(after)
	}
	r.announceAddons(before, after)
	was, is := obstacle(before), obstacle(after)
	kind := corev1.EventTypeNormal
	if meta.IsStatusConditionTrue(after.Status.Conditions, v1alpha1.ConditionFailed) || is.Reason == reasonHeld {
		kind = corev1.EventTypeWarning
	}
	switch {
	case before.Status.Phase != after.Status.Phase:
		r.Recorder.Eventf(after, nil, kind, string(after.Status.Phase), action, "%s", note(is.Message))
	case was.Reason != is.Reason:
		r.Recorder.Eventf(after, nil, kind, is.Reason, action, "%s", note(is.Message))
	}
}

// announceAddons records an event about each addon that has become ready, is lost, or
// fails for a new reason.
func (r *Reconciler) announceAddons(before, after *v1alpha1.ClusterBootstrap) {
	known := map[string]v1alpha1.BootstrapAddonStatus{}
	for _, a := range before.Status.Addons {
		known[a.Name] = a
	}
	for _, a := range after.Status.Addons {
		was := known[a.Name]
		switch {
		case a.Phase == v1alpha1.AddonReady && was.Phase != v1alpha1.AddonReady:
			r.Recorder.Eventf(after, nil, corev1.EventTypeNormal, "AddonReady", action, "addon %s %s is ready", a.Name, a.Version)
		case a.Phase == v1alpha1.AddonFailing && was != a:
			r.Recorder.Eventf(after, nil, corev1.EventTypeWarning, "AddonFailing", action, "%s", note("addon "+a.Name+": "+a.Message))
		case was.Phase == v1alpha1.AddonReady && a.Phase == v1alpha1.AddonWaiting:
			r.Recorder.Eventf(after, nil, corev1.EventTypeWarning, "AddonLost", action, "%s", note("addon "+a.Name+": "+a.Message))
		}
	}
}

// obstacle is the condition that contains the obstacle. Of a Ready cluster
// that is paused, Ready says nothing new.
func obstacle(cb *v1alpha1.ClusterBootstrap) metav1.Condition {
	if c := meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionProgressing); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// warn records the warnings of the plan once, when machines are requested.
func (r *Reconciler) warn(cb *v1alpha1.ClusterBootstrap) {
	plan, err := bootstrap.NewPlan(bootstrap.Effective(cb))
	if err != nil {
		return
	}
	for _, w := range plan.Warnings {
		r.Recorder.Eventf(cb, nil, corev1.EventTypeWarning, w.Reason, action, "%s", w.Message)
	}
}
