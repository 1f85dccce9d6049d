// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/controller/lag"
)

// TestAPassWaitsForTheLastWrite has a pool become ready and not ready again: to a cache without the
// report about the first change nothing has changed.
func TestAPassWaitsForTheLastWrite(t *testing.T) {
	f := newFixture(t, 4)
	r := reconciler(f)
	r.Client = r.writes.Client(f)
	f.allocation("web", 1)
	f.ready(metav1.ConditionFalse, "it overlaps with another")
	past := f.settle(r, "web")
	f.ready(metav1.ConditionFalse, "its range is invalid")
	_, err := r.pass(t.Context(), past.DeepCopy())
	f.Must(err)
	f.ready(metav1.ConditionFalse, "it overlaps with another")
	if result, err := r.pass(t.Context(), past.DeepCopy()); err != nil || result.RequeueAfter != lag.Again {
		t.Errorf("a pass over the object before the last write is the last one: %v %v", result, err)
	}
	if now := f.settle(r, "web"); now.Status.Conditions[0].Message != past.Status.Conditions[0].Message {
		t.Errorf("%+v", now.Status.Conditions)
	}
}
