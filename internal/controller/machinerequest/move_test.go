// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// move copies a request to another API server, where it has another UID, as it
// stands: metadata first, then the status. What is being deleted is deleted there.
func (w *fixture) move(to *fixture, r *v1alpha1.MachineRequest) *v1alpha1.MachineRequest {
	w.Helper()
	w.Must(w.read(r))
	moved := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{
		Namespace: to.Namespace, Name: r.Name, Labels: r.Labels, Annotations: r.Annotations, Finalizers: r.Finalizers,
	}, Spec: r.Spec}
	delete(moved.Annotations, v1alpha1.AnnotationClaimedBy)
	w.Must(to.Create(w.Context(), moved))
	moved.Status = r.Status
	w.Must(to.Status().Update(w.Context(), moved))
	if !r.DeletionTimestamp.IsZero() {
		w.Must(to.Delete(w.Context(), moved))
	}
	if moved.UID == r.UID {
		w.Fatal("a moved request has the same UID")
	}
	return moved
}

// TestRequestsContinueAfterAMove lets one plane make machines, stops it in different
// places, and lets another one continue that remembers nothing.
func TestRequestsContinueAfterAMove(t *testing.T) {
	p := planetest.Start(t, plane.Options{AdmissionOff: []string{"ServiceAccount"}})
	t.Run("running", func(t *testing.T) { movesRunning(t, p) })
	t.Run("lost", func(t *testing.T) { movesLost(t, p) })
	t.Run("asked for, not visible", func(t *testing.T) { movesInvisible(t, p) })
	t.Run("being deleted", func(t *testing.T) { movesDeleting(t, p) })
}

// twoPlanes is a fixture, and an idle one over the same platform on another plane.
func twoPlanes(t *testing.T, p *plane.Plane, o inmemory.Options) (from, to *fixture) {
	t.Helper()
	from = newFixture(t, o)
	to = idleFixture(t, p.Config(), from.platform)
	from.Configure()
	to.Configure()
	return from, to
}

func movesRunning(t *testing.T, p *plane.Plane) {
	from, to := twoPlanes(t, p, inmemory.Options{Settle: time.Hour})
	r := from.request("a")
	from.phase(r, v1alpha1.MachineRunning)
	from.stop()
	moved := from.move(to, r)
	from.platform.Hide(3) // a platform that shows it late does not lose it
	to.start()
	to.Must(to.asked(inmemory.Observe, 4))
	to.Must(to.read(moved))
	if moved.Status.Phase != v1alpha1.MachineRunning || moved.Status.ProviderID != r.Status.ProviderID {
		t.Errorf("status is %+v", moved.Status)
	}
	if n := from.platform.Calls(inmemory.Create); n != 1 {
		t.Errorf("%d creates were sent", n)
	}
	to.machines(1)
}

func movesLost(t *testing.T, p *plane.Plane) {
	from, to := twoPlanes(t, p, inmemory.Options{})
	r := from.request("a")
	from.phase(r, v1alpha1.MachineRunning)
	from.stop()
	moved := from.move(to, r)
	from.platform.Remove("a")
	to.start()
	to.phase(moved, v1alpha1.MachineFailed)
	if moved.Status.FailureReason != "VMLost" {
		t.Errorf("failure is %s", moved.Status.FailureReason)
	}
	to.machines(0)
}

func movesInvisible(t *testing.T, p *plane.Plane) {
	from, to := twoPlanes(t, p, inmemory.Options{Settle: time.Hour})
	from.platform.Lose(inmemory.Create)
	from.platform.Hide(1000)
	r := from.request("a")
	from.reason(r, "VMNotVisible")
	from.stop()
	moved := from.move(to, r)
	seen := from.platform.Calls(inmemory.Observe)
	to.start()
	to.Must(to.asked(inmemory.Observe, seen+3))
	if n := from.platform.Calls(inmemory.Create); n != 1 {
		t.Errorf("%d creates were sent before the window was over", n)
	}
	from.platform.Lift()
	to.phase(moved, v1alpha1.MachineRunning)
	to.machines(1)
}

func movesDeleting(t *testing.T, p *plane.Plane) {
	from, to := twoPlanes(t, p, inmemory.Options{})
	r := from.request("a")
	from.phase(r, v1alpha1.MachineRunning)
	from.platform.FailLate(inmemory.Delete)
	from.stop()
	from.Must(from.Delete(from.Context(), r))
	moved := from.move(to, r)
	to.start()
	to.Gone(moved)
	to.machines(0)
}
