// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// TestWhatNoControllerServesSaysSo: within a minute, and until one reports.
func TestWhatNoControllerServesSaysSo(t *testing.T) {
	w := newFixture(t)
	config := providerConfig()
	w.create(config)
	w.create(clusterBootstrap())
	now := time.Now()
	u := &unserved{Client: w.Client, clock: func() time.Time { return now }}
	look := func() (after time.Duration, ready *metav1.Condition) {
		t.Helper()
		if err := w.Get(t.Context(), client.ObjectKeyFromObject(config), config); err != nil {
			t.Fatal(err)
		}
		result, err := u.Reconcile(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		return result.RequeueAfter, meta.FindStatusCondition(config.Status.Conditions, v1alpha1.ConditionReady)
	}
	if after, ready := look(); after != servedWithin || ready != nil {
		t.Errorf("at first: again after %s, %+v", after, ready)
	}
	if c := progressing(w.reconcile("dev")); c.Reason == v1alpha1.ReasonNoController {
		t.Error("a controller that is only starting gets no time")
	}
	now = now.Add(servedWithin)
	if after, ready := look(); after != 0 || ready == nil || ready.Reason != v1alpha1.ReasonNoController || ready.Status != metav1.ConditionUnknown {
		t.Errorf("after a while: again after %s, %+v", after, ready)
	}
	if c := progressing(w.reconcile("dev")); c.Reason != v1alpha1.ReasonNoController {
		t.Errorf("the ClusterBootstrap says %s: %s", c.Reason, c.Message)
	}
	meta.SetStatusCondition(&config.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "CredentialsAccepted", ObservedGeneration: config.Generation,
	})
	if err := w.Status().Update(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if after, ready := look(); after != 0 || ready.Reason != "CredentialsAccepted" {
		t.Errorf("once one reports: again after %s, %+v", after, ready)
	}
	if c := progressing(w.reconcile("dev")); c.Reason != "WaitingForMachines" {
		t.Errorf("the ClusterBootstrap says %s: %s", c.Reason, c.Message)
	}
}
