// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/controller/lag"
)

// TestAPassWaitsForTheLastWrite has a ProviderConfig come and go: to a cache without the report
// about the first change nothing has changed.
func TestAPassWaitsForTheLastWrite(t *testing.T) {
	w := newFixture(t)
	w.Reconciler.Client = w.writes.Client(w.Client)
	w.create(clusterBootstrap())
	w.reconcile("dev")
	past := w.reconcile("dev")
	config := providerConfig()
	w.create(config)
	if _, err := w.Reconcile(t.Context(), past.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	if now := w.get("dev"); now.ResourceVersion == past.ResourceVersion {
		t.Fatalf("nothing was reported: %+v", now.Status)
	}
	if err := client.IgnoreNotFound(w.Delete(t.Context(), config)); err != nil {
		t.Fatal(err)
	}
	if result, err := w.Reconcile(t.Context(), past.DeepCopy()); err != nil || result.RequeueAfter != lag.Again {
		t.Errorf("a pass over the object before the last write is the last one: %v %v", result, err)
	}
}
