// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package networkpool

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/lag"
)

// TestAPassWaitsForTheLastWrite has a claim go right after it was counted: to a cache without the
// count nothing has changed.
func TestAPassWaitsForTheLastWrite(t *testing.T) {
	f := newFixture(t)
	f.r.Client = f.r.writes.Client(f)
	past := f.pool("pool", "10.0.0.0/28", nil)
	f.reconcile(past)
	f.claim("10.0.0.2", nil)
	now := past.DeepCopy()
	_, err := f.r.Reconcile(t.Context(), now)
	f.Must(err)
	if now.Status.AllocatedIPs != 1 {
		t.Fatalf("%+v", now.Status)
	}
	f.Must(f.DeleteAllOf(t.Context(), &v1alpha1.AddressClaim{}))
	if result, err := f.r.Reconcile(t.Context(), past); err != nil || result.RequeueAfter != lag.Again {
		t.Errorf("a pass over the object before the last write is the last one: %v %v", result, err)
	}
	f.Must(f.Get(t.Context(), client.ObjectKeyFromObject(now), now))
	_, err = f.r.Reconcile(t.Context(), now)
	f.Must(err)
	if now.Status.AllocatedIPs != 0 {
		t.Errorf("%+v", now.Status)
	}
}
