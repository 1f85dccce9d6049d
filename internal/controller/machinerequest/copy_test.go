// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// copyOf copies a request as kubectl and tools for backups do: all of its
// metadata but what the API server sets; the status, too, where they know it.
// Without the claim it is as if an operator handed over too early.
func (w *fixture) copyOf(r *v1alpha1.MachineRequest, name string, status, claimed bool) *v1alpha1.MachineRequest {
	w.Helper()
	w.Must(w.read(r))
	c := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.Namespace, Name: name, Labels: r.Labels, Annotations: maps.Clone(r.Annotations), Finalizers: r.Finalizers,
	}, Spec: r.Spec}
	if !claimed {
		delete(c.Annotations, v1alpha1.AnnotationClaimedBy)
	}
	w.Must(w.Create(w.Context(), c))
	if status {
		base := c.DeepCopy()
		c.Status = r.Status
		w.Must(w.Status().Patch(w.Context(), c, client.MergeFrom(base)))
		w.Nudge()
	}
	return c
}

func TestACopyOfARequestTouchesNothing(t *testing.T) {
	for name, tc := range map[string]struct{ status, claimed bool }{
		"as kubectl copies":              {claimed: true},
		"with its status":                {claimed: true, status: true},
		"without the claim":              {},
		"with its status, not the claim": {status: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, inmemory.Options{})
			w.Configure()
			r := w.request("a")
			w.phase(r, v1alpha1.MachineRunning)
			c := w.copyOf(r, "copy", tc.status, tc.claimed)
			w.reason(c, "OwnerTaken")
			if c.Status.Phase != v1alpha1.MachineFailed || c.Status.FailureReason != "OwnerTaken" {
				t.Errorf("the copy is %s, %s", c.Status.Phase, c.Status.FailureReason)
			}
			w.Event(c, "OwnerTaken")
			w.Must(w.Delete(w.Context(), c))
			w.Gone(c)
			w.Nudge()
			w.passes("later")
			w.phase(r, v1alpha1.MachineRunning)
			if n := w.platform.Calls(inmemory.Delete); n != 0 {
				t.Errorf("%d deletes were sent", n)
			}
			w.machines(2)
		})
	}
}

func TestACopyIsHandedOverByHandOnly(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	c := w.copyOf(r, "copy", false, true)
	w.reason(c, "OwnerTaken")
	w.Must(w.Delete(w.Context(), r))
	w.Gone(r)
	w.machines(0)
	w.Nudge()
	w.passes("later")
	w.reason(c, "OwnerTaken")
	w.machines(1)
	base := c.DeepCopy()
	delete(c.Annotations, v1alpha1.AnnotationClaimedBy)
	w.Must(w.Patch(w.Context(), c, client.MergeFrom(base)))
	w.phase(c, v1alpha1.MachineRunning)
	w.machines(2)
}
