// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/lag"
)

// TestAPassWaitsForTheLastWrite has a walk begin with what a cache had before the last walk wrote
// its end: it may arrive at just that state, which then looks like no change.
func TestAPassWaitsForTheLastWrite(t *testing.T) {
	f := &fixture{Fixture: newBare(t)}
	r := &Reconciler{Live: f, Clock: time.Now, Recorder: events.NewFakeRecorder(10)}
	r.Client = r.writes.Client(f)
	past := f.tenant()
	f.Must(f.Create(t.Context(), past))
	t.Cleanup(func() { _ = f.Delete(f.Context(), past) })
	next := past.DeepCopy()
	set(next, v1alpha1.ConditionReady, metav1.ConditionFalse, reasonRetrying, "the API server does not answer")
	f.Must(r.report(t.Context(), past, next))
	if result, err := r.Reconcile(t.Context(), past.DeepCopy()); err != nil || result.RequeueAfter != lag.Again {
		t.Errorf("a pass over the object before the last write is the last one: %v %v", result, err)
	}
	if r.writes.Behind(next) {
		t.Error("the present state is taken for one of the past")
	}
}
