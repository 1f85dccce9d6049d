// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/controller/program"
)

// A run ends, fails and moves on what its own controllers have found.
func TestWhatAnEarlierRunFoundIsDoubted(t *testing.T) {
	for reason, c := range map[string]struct {
		condition metav1.Condition
		doubted   bool
	}{
		"ready":              {metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Ready"}, true},
		"failed":             {metav1.Condition{Type: v1alpha1.ConditionFailed, Status: metav1.ConditionTrue, Reason: "Broken"}, true},
		"ready to move":      {metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: bootstrap.ReasonReadyToPivot}, true},
		"not ready":          {metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: "WaitingForNodes"}, false},
		"something that was": {metav1.Condition{Type: v1alpha1.ConditionAddonsReady, Status: metav1.ConditionTrue, Reason: "Ready"}, false},
	} {
		cb := &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b"}}
		meta.SetStatusCondition(&cb.Status.Conditions, c.condition)
		scheme, err := program.Scheme()
		if err != nil {
			t.Fatal(err)
		}
		o := &Operation{Local: fake.NewClientBuilder().WithScheme(scheme).WithObjects(cb).WithStatusSubresource(cb).Build()}
		if _, err := o.doubt(t.Context(), client.ObjectKeyFromObject(cb)); err != nil {
			t.Fatal(err)
		}
		if err := o.Client().Get(t.Context(), client.ObjectKeyFromObject(cb), cb); err != nil {
			t.Fatal(err)
		}
		if got := cb.Status.Conditions[0]; (got.Reason == ReasonChecking && got.Status == metav1.ConditionUnknown) != c.doubted || ReadyToPivot(cb) {
			t.Errorf("%s: %+v", reason, got)
		}
	}
}
