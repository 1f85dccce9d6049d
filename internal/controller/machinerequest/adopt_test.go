// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"fmt"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// served creates a request as another program leaves it that has the same finalizer
// and knows no owner id.
func (w *fixture) served(name, id, adopt string) *v1alpha1.MachineRequest {
	w.Helper()
	r := w.request(name, func(r *v1alpha1.MachineRequest) {
		r.Finalizers = []string{v1alpha1.FinalizerMachineRequest(v1alpha1.ProviderHarvester)}
		if adopt != "" {
			r.Annotations = map[string]string{v1alpha1.AnnotationAdopt: adopt}
		}
	})
	if id != "" {
		r.Status.ProviderID, r.Status.Phase = id, v1alpha1.MachineRunning
		w.Must(w.Status().Update(w.Context(), r))
	}
	return r
}

func TestRequestsOfAnotherProviderAreReleasedHeldOrAdopted(t *testing.T) {
	w := idleFixture(t, api, inmemory.New(inmemory.Options{}))
	w.Configure()
	for _, name := range []string{"adopted", "held", "other"} {
		w.platform.CreateConflict(provider.MachineRef{Name: name})
	}
	id := func(name string) string { return w.platform.Sightings(name)[0].ID }
	never := w.served("never", "", "")
	held := w.served("held", id("held"), "")
	wrong := w.served("wrong", id("other"), "other")
	adopted := w.served("adopted", id("adopted"), "adopted")
	w.stop = w.start()

	w.Must(w.Delete(w.Context(), never))
	w.Gone(never)
	for r, reason := range map[*v1alpha1.MachineRequest]string{held: "OwnerMissing", wrong: "AdoptionRefused"} {
		w.Must(w.Delete(w.Context(), r))
		w.reason(r, reason)
	}
	w.Await(func() error {
		if err := w.read(adopted); err != nil {
			return err
		}
		owner := adopted.Annotations[v1alpha1.AnnotationOwnerID]
		if seen := w.platform.Sightings("adopted"); owner == "" || adopted.Annotations[v1alpha1.AnnotationAdopt] != "" || seen[0].Ref.Owner.ID != owner {
			return fmt.Errorf("annotations %v, on the platform %+v", adopted.Annotations, seen)
		}
		return nil
	})
	w.Must(w.Delete(w.Context(), adopted))
	w.Gone(adopted)
	if len(w.platform.Sightings("adopted")) != 0 || len(w.platform.Sightings("held")) != 1 || len(w.platform.Sightings("other")) != 1 {
		t.Errorf("left: %+v", w.platform.Machines())
	}
}
