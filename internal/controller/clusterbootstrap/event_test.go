// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// recorded are the events so far, without their notes.
func (w *fixture) recorded() (out []string) {
	for {
		select {
		case e := <-w.events.Events:
			words := strings.Fields(e)
			out = append(out, words[0]+" "+words[1])
		default:
			return out
		}
	}
}

func TestEventsReportPhasesObstaclesAndWarningsOnce(t *testing.T) {
	w := newFixture(t)
	cb := haBootstrap(v1alpha1.ProviderHarvester, 0)
	cb.Spec.Cluster.ControlPlane.Replicas = 2
	w.create(cb)
	for _, step := range []struct {
		name string
		do   func()
		want []string
	}{
		{"no provider", func() {}, []string{"Normal Pending"}},
		{"the same again", func() {}, nil},
		{"machines", func() { w.create(providerConfig()) }, []string{"Warning EvenControlPlanes", "Normal ProvisioningMachines"}},
		{"another message, the same obstacle", func() { w.run("dev-cp-0") }, nil},
		{"paused", func() { w.change("dev", pause) }, []string{"Normal Paused"}},
		{"resumed", func() { w.change("dev", resume) }, []string{"Normal WaitingForMachines"}},
		{"the next phase", func() { w.run("dev-cp-1") }, []string{"Normal ConfiguringTalos"}},
	} {
		step.do()
		w.reconcile("dev")
		if diff := cmp.Diff(step.want, w.recorded()); diff != "" {
			t.Errorf("%s: %s", step.name, diff)
		}
	}
}

func TestMachineOfAPlatformThatCannotBeAskedStopsNothing(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	w.reconcile("dev")
	w.run("dev-cp-0")
	w.reconcile("dev")
	r, err := w.request("dev-cp-0")
	if err != nil {
		t.Fatal(err)
	}
	for phase, want := range map[v1alpha1.MachinePhase]v1alpha1.ClusterBootstrapPhase{
		v1alpha1.MachineUnknown: v1alpha1.BootstrapConfiguringTalos,
		v1alpha1.MachineFailed:  v1alpha1.BootstrapProvisioningMachines,
	} {
		r.Status.Phase = phase
		if err := w.Status().Update(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		cb := w.reconcile("dev")
		if cb.Status.Phase != want || cb.Status.Machines[0].Phase != phase {
			t.Errorf("%s: phase %s, machine %+v", phase, cb.Status.Phase, cb.Status.Machines[0])
		}
	}
}

func TestFailedMachineIsNamedBeforeThoseThatAreOnTheirWay(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(haBootstrap(v1alpha1.ProviderHarvester, 1))
	w.reconcile("dev")
	r, err := w.request("dev-w-0")
	if err != nil {
		t.Fatal(err)
	}
	r.Status.Phase = v1alpha1.MachineFailed
	if err := w.Status().Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if c := progressing(w.reconcile("dev")); c.Message != "machine dev-w-0 is Failed (and 3 more)" {
		t.Errorf("%s", c.Message)
	}
}

func TestWorkersCarryTheirOwnPool(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(haBootstrap(v1alpha1.ProviderHarvester, 2))
	w.reconcile("dev")
	r, err := w.request("dev-w-1")
	if err != nil {
		t.Fatal(err)
	}
	want := v1alpha1.MachineRequestSpec{
		ProviderRef: v1alpha1.ProviderReference{Namespace: w.namespace, Name: "harvester"},
		MachineName: "dev-w-1", Role: v1alpha1.RoleWorker, CPU: 8, MemoryMB: 16384, DiskGB: 100,
		ExtraDisks:   []v1alpha1.DiskSpec{{SizeGB: 500, StorageClass: "bulk"}},
		TalosVersion: "v1.9.2", Schematic: "abc",
		Labels: map[string]string{v1alpha1.LabelCluster: "dev", v1alpha1.LabelRole: "worker"},
	}
	if diff := cmp.Diff(want, r.Spec); diff != "" {
		t.Error(diff)
	}
}

func TestPatchThatCannotBeAppliedFailsBeforeMachinesAndAChangedOneRevives(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	cb := clusterBootstrap()
	cb.Spec.Talos.ConfigPatches = []v1alpha1.TalosConfigPatch{{Op: "remove", Path: "/machine/nothing"}}
	w.create(cb)
	if cb = w.reconcile("dev"); cb.Status.FailureReason != "InvalidTalosConfig" || cb.Status.Phase != v1alpha1.BootstrapFailed || len(cb.Status.Machines) != 0 {
		t.Fatalf("%+v", cb.Status)
	}
	w.change("dev", func(s *v1alpha1.ClusterBootstrapSpec) { s.Talos.ConfigPatches = nil })
	if cb = w.reconcile("dev"); cb.Status.Phase != v1alpha1.BootstrapProvisioningMachines || cb.Status.FailureMessage != "" {
		t.Errorf("%+v", cb.Status)
	}
}

// TestLongMessagesAreStillRecorded asks the API server, which refuses longer notes.
func TestLongMessagesAreStillRecorded(t *testing.T) {
	w := newFixture(t)
	m, err := manager.New(api.Config(), manager.Options{Scheme: w.Scheme(), Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	w.Recorder = m.GetEventRecorder("test")
	cb := clusterBootstrap()
	cb.Spec.Cluster.ControlPlane.Labels = map[string]string{}
	for i := range 30 {
		cb.Spec.Cluster.ControlPlane.Labels[fmt.Sprintf("not a label %d", i)] = "ä"
	}
	w.create(cb)
	message := w.reconcile("dev").Status.FailureMessage
	if len(message) <= maxNote {
		t.Fatalf("a message of %d bytes is not long", len(message))
	}
	var recorded eventsv1.EventList
	for deadline := time.Now().Add(patience); len(recorded.Items) == 0 && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err := w.List(t.Context(), &recorded, client.InNamespace(w.namespace)); err != nil {
			t.Fatal(err)
		}
	}
	if len(recorded.Items) != 1 || recorded.Items[0].Reason != "Failed" || !strings.HasPrefix(recorded.Items[0].Note, message[:900]) {
		t.Errorf("events: %+v", recorded.Items)
	}
}
