// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// atTenants explains the first tenant cluster that is not ready.
func (w *walk) atTenants() bool {
	for _, t := range w.Tenants {
		if t.troubled() {
			return w.tenant(t)
		}
	}
	return false
}

// tenant follows a tenant cluster: its step that is not finished, then the object of Cluster
// API that says most.
func (w *walk) tenant(t Tenant) bool {
	w.linkTo(t.Object)
	for _, c := range t.Conditions {
		if c.Type != "Ready" && c.Status == metav1.ConditionFalse && c.Reason == t.Ready().Reason {
			w.link(Link{Object: t.ID(), State: c.Type + " is False", Reason: c.Reason, Says: c.Message})
		}
	}
	for _, o := range t.Objects {
		c := o.worst()
		w.link(Link{Object: o.ID(), State: o.Phase, Reason: c.Reason, Says: c.Message, Evidence: w.warnings(o.ID(), c.Message)})
		return w.byReason(c)
	}
	return w.byReason(t.Ready())
}

// worst is the condition of an object of Cluster API that says why it is not ready: the
// first that is false and has a message, Ready last, as it sums up others.
func (o Object) worst() (out metav1.Condition) {
	for _, c := range o.Conditions {
		if c.Status != metav1.ConditionFalse || c.Message == "" {
			continue
		}
		if c.Type != "Ready" {
			return c
		}
		out = c
	}
	return out
}
