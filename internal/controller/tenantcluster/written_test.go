// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// TestAStateOfThePastIsNotReportedAsUnchanged has a walk begin with what a cache had before the
// last walk wrote its end, and arrive at just that state.
func TestAStateOfThePastIsNotReportedAsUnchanged(t *testing.T) {
	f := &fixture{Fixture: newBare(t)}
	r := &Reconciler{Client: f, Live: f, Clock: time.Now, Recorder: events.NewFakeRecorder(10)}
	past := f.tenant()
	f.Must(f.Create(t.Context(), past))
	t.Cleanup(func() { _ = f.Delete(f.Context(), past) })
	next := past.DeepCopy()
	set(next, v1alpha1.ConditionReady, metav1.ConditionFalse, reasonRetrying, "the API server does not answer")
	f.Must(r.report(t.Context(), past, next))
	if err := r.report(t.Context(), past, past.DeepCopy()); !errors.Is(err, errChanged) {
		t.Errorf("the state before the last write is taken for the present one: %v", err)
	}
	f.Must(r.report(t.Context(), next, next.DeepCopy()))
	now := &v1alpha1.TenantCluster{}
	f.Must(f.Get(t.Context(), client.ObjectKeyFromObject(past), now))
	now.Annotations = map[string]string{"by": "another client"}
	f.Must(f.Update(t.Context(), now))
	f.Must(r.report(t.Context(), now, now.DeepCopy()))
	if r.written.of(now) != now.ResourceVersion {
		t.Error("it is read from the API server at every walk")
	}
}
