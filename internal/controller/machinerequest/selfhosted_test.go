// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"errors"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// annotate sets an annotation of the ClusterBootstrap.
func (w *fixture) annotate(cb *v1alpha1.ClusterBootstrap, key, value string) {
	w.Helper()
	base := cb.DeepCopy()
	cb.Annotations[key] = value
	w.Must(w.Patch(w.Context(), cb, client.MergeFrom(base)))
}

func TestAClusterThatManagesItselfDeletesTheMachineAloneThatItReplaces(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	cb := w.bootstrap(false)
	w.annotate(cb, v1alpha1.AnnotationPlane, v1alpha1.PlaneSelf)
	all := map[string]*v1alpha1.MachineRequest{}
	for _, name := range []string{"mgmt-cp-0", "mgmt-cp-1", "mgmt-cp-2"} {
		all[name] = w.request(name, ofBootstrap)
	}
	for _, r := range all {
		w.phase(r, v1alpha1.MachineRunning)
		w.Must(w.Delete(w.Context(), r))
	}
	for _, r := range all {
		w.reason(r, "SelfHosted")
		w.Event(r, "SelfHosted")
		if r.Status.Phase != v1alpha1.MachineRunning || r.Status.IPAddress == "" {
			t.Errorf("%s: %+v", r.Name, r.Status)
		}
	}
	w.machines(3)
	w.annotate(cb, v1alpha1.AnnotationReplacing, "mgmt-cp-1 2026-01-01T00:00:00Z")
	w.Gone(all["mgmt-cp-1"])
	w.machines(2)

	replacement := w.request("mgmt-cp-1", ofBootstrap, func(r *v1alpha1.MachineRequest) {
		r.Annotations[v1alpha1.AnnotationReplacement] = cb.Annotations[v1alpha1.AnnotationReplacing]
	})
	w.phase(replacement, v1alpha1.MachineRunning)
	w.Must(w.Delete(w.Context(), replacement))
	w.reason(replacement, "SelfHosted")
	w.machines(3)
	if n := w.platform.Calls(inmemory.Delete); n != 2 { // of one machine, until it is gone
		t.Errorf("%d deletes were sent", n)
	}
}

// TestAClusterThatManagesItselfDeletesWorkersThatItDoesNotHaveAnyMore deletes a control plane and
// two workers, of which the status has one.
func TestAClusterThatManagesItselfDeletesWorkersThatItDoesNotHaveAnyMore(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	cb := w.bootstrap(false)
	w.annotate(cb, v1alpha1.AnnotationPlane, v1alpha1.PlaneSelf)
	as := func(role v1alpha1.MachineRole) func(*v1alpha1.MachineRequest) {
		return func(r *v1alpha1.MachineRequest) { r.Spec.Role = role }
	}
	first := w.request("mgmt-cp-0", ofBootstrap, as(v1alpha1.RoleControlPlane))
	stays, goes := w.request("mgmt-w-0", ofBootstrap, as(v1alpha1.RoleWorker)), w.request("mgmt-w-1", ofBootstrap, as(v1alpha1.RoleWorker))
	for _, r := range []*v1alpha1.MachineRequest{first, stays, goes} {
		w.phase(r, v1alpha1.MachineRunning)
		w.Must(w.Delete(w.Context(), r))
	}
	for _, r := range []*v1alpha1.MachineRequest{first, stays, goes} {
		w.reason(r, "SelfHosted")
	}
	base := cb.DeepCopy()
	cb.Status.Machines = []v1alpha1.BootstrapMachineStatus{{Name: "mgmt-w-0", Role: v1alpha1.RoleWorker, Phase: v1alpha1.MachineRunning}}
	cb.Status.Phase = v1alpha1.BootstrapReady
	w.Must(w.Status().Patch(w.Context(), cb, client.MergeFrom(base)))
	w.Gone(goes)
	w.machines(2)
	for _, r := range []*v1alpha1.MachineRequest{first, stays} {
		w.reason(r, "SelfHosted")
	}
}

func TestWhatIsGoneIsReleasedOnAClusterThatManagesItself(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	w.annotate(w.bootstrap(false), v1alpha1.AnnotationPlane, v1alpha1.PlaneSelf)
	r := w.request("a", ofBootstrap)
	w.phase(r, v1alpha1.MachineRunning)
	w.platform.Remove("a")
	w.Nudge()
	w.reason(r, "VMLost")
	w.Must(w.Delete(w.Context(), r))
	w.Gone(r)
}

func TestDecideHeldDeletion(t *testing.T) {
	held := facts{Deleting: true, Held: "it manages itself", Attempted: true, Known: true, Served: true, Phase: "Running"}
	for reason, tc := range map[string]struct {
		machine provider.Machine
		err     error
		want    request.Action
		phase   v1alpha1.MachinePhase
	}{
		"it runs":                      {machine: in(provider.StateRunning), phase: "Running"},
		"it is off":                    {machine: in(provider.StateStopped), phase: "Running"},
		"a part of it is left":         {machine: in(provider.StatePartial), phase: "Running"},
		"the platform deletes it":      {machine: in(provider.StateDeleting), phase: "Running"},
		"the platform does not answer": {err: errors.New("boom"), phase: "Running"},
		"it is gone":                   {machine: provider.Machine{State: provider.StateAbsent}, want: request.Release, phase: "Deleted"},
	} {
		f := held
		f.Seen, f.Err, f.Settled = tc.machine, tc.err, true
		d := decide(f)
		if d.Act != tc.want || d.Phase != tc.phase || d.Act == request.None && d.Reason != "SelfHosted" {
			t.Errorf("%s: %+v", reason, d)
		}
	}
}
