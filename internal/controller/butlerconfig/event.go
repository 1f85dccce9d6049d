// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package butlerconfig

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// action is what all events are about.
const action = "Configure"

// note cuts a message to what the API server takes as the note of an event.
const note = "%.1000s"

// announce records an event about a changed condition.
func (r *Reconciler) announce(config *v1alpha1.ButlerConfig, c metav1.Condition) {
	kind := corev1.EventTypeNormal
	if c.Status != metav1.ConditionTrue {
		kind = corev1.EventTypeWarning
	}
	r.Recorder.Eventf(config, nil, kind, c.Reason, action, note, c.Message)
}
