// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

func spec() v1alpha1.ClusterBootstrapSpec {
	return v1alpha1.ClusterBootstrapSpec{
		Provider: v1alpha1.ProviderHarvester,
		Cluster: v1alpha1.ClusterSpec{
			Name: "dev", Topology: v1alpha1.TopologySingleNode,
			ControlPlane: v1alpha1.NodePool{Replicas: 3, CPU: 4, MemoryMB: 8192, DiskGB: 50},
			Workers:      &v1alpha1.NodePool{Replicas: 2},
		},
		Network: v1alpha1.NetworkSpec{PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12", VIP: "10.40.0.100"},
		Talos:   v1alpha1.TalosSpec{Version: "v1.9.2", Schematic: "abc"},
	}
}

func TestSingleNodeIsOneControlPlaneWhateverThePoolsSay(t *testing.T) {
	plan, err := NewPlan(spec())
	if err != nil {
		t.Fatal(err)
	}
	want := []Machine{{Name: "dev-cp-0", Role: v1alpha1.RoleControlPlane, Pool: spec().Cluster.ControlPlane}}
	if diff := cmp.Diff(want, plan.Machines); diff != "" {
		t.Error(diff)
	}
	if !plan.Talos.ScheduleOnControlPlanes {
		t.Error("nothing can be scheduled on a single node")
	}
	if plan.Talos.KubernetesVersion == "" {
		t.Error("no Kubernetes version")
	}
}

func TestVIPOfASingleNodeIsTalosSharedIPOnlyIfItIsAnAddress(t *testing.T) {
	for vip, want := range map[string]string{"10.40.0.100": "10.40.0.100", "fd00::1": "fd00::1", "api.example.com": "", "": ""} {
		s := spec()
		s.Network.VIP = vip
		plan, err := NewPlan(s)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Endpoint != vip || plan.Talos.SharedIP.Address != want {
			t.Errorf("vip %q: endpoint %q, shared address %q", vip, plan.Endpoint, plan.Talos.SharedIP.Address)
		}
	}
}

func TestWhatCannotBeHadIsAFailureWithItsReason(t *testing.T) {
	for reason, change := range map[string]func(*v1alpha1.ClusterBootstrapSpec){
		"TopologyNotSupported":    func(s *v1alpha1.ClusterBootstrapSpec) { s.Cluster.Topology = v1alpha1.TopologyHA },
		"ProviderNotSupported":    func(s *v1alpha1.ClusterBootstrapSpec) { s.Provider = v1alpha1.ProviderAWS },
		"RemediationNotSupported": func(s *v1alpha1.ClusterBootstrapSpec) { s.Remediation = v1alpha1.RemediationReplaceWorkers },
		"InvalidSpec":             func(s *v1alpha1.ClusterBootstrapSpec) { s.Talos.Version = "v9.9.9" },
	} {
		s := spec()
		change(&s)
		_, err := NewPlan(s)
		var failure *Failure
		if !errors.As(err, &failure) || failure.Reason != reason {
			t.Errorf("%s: got %v", reason, err)
		}
	}
}

func TestLongNamesAreShortenedAndStayDifferent(t *testing.T) {
	long := strings.Repeat("a", 62)
	one, two := machineName(long+"x", "cp", 0), machineName(long+"y", "cp", 0)
	if len(one) > maxName || one == two || !strings.HasSuffix(one, "-cp-0") {
		t.Errorf("%q and %q", one, two)
	}
	if again := machineName(long+"x", "cp", 0); again != one {
		t.Errorf("not stable: %q, %q", one, again)
	}
	if got := machineName("dev", "w", 2); got != "dev-w-2" {
		t.Errorf("got %q", got)
	}
}

func TestPatchesReachTheirTargets(t *testing.T) {
	s, value := spec(), "8192"
	s.Talos.ConfigPatches = []v1alpha1.TalosConfigPatch{{Op: "add", Path: "/machine/sysctls", Value: &value, Target: v1alpha1.PatchWorker}, {Op: "remove", Path: "/x"}}
	s.Talos.StrategicPatches = []v1alpha1.TalosStrategicPatch{{Patch: "machine: {}", Target: v1alpha1.PatchAll}}
	plan, err := NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON := []talos.JSONPatch{{Target: talos.TargetWorker, Op: "add", Path: "/machine/sysctls", Value: "8192"}, {Op: "remove", Path: "/x"}}
	wantMerge := []talos.MergePatch{{Target: talos.TargetAll, YAML: "machine: {}"}}
	if diff := cmp.Diff(wantJSON, plan.Talos.JSONPatches) + cmp.Diff(wantMerge, plan.Talos.MergePatches); diff != "" {
		t.Error(diff)
	}
}

func TestWalkEndsAtTheFirstStepThatIsNotFinished(t *testing.T) {
	done := func(context.Context, *Session) (*Obstacle, error) { return nil, nil }
	waits := func(context.Context, *Session) (*Obstacle, error) { return &Obstacle{Reason: "Waiting"}, nil }
	never := func(context.Context, *Session) (*Obstacle, error) {
		t.Error("a step after an unfinished one was taken")
		return nil, nil
	}
	p, err := (&Session{ClusterBootstrap: &v1alpha1.ClusterBootstrap{}}).Walk(t.Context(), []Step{{v1alpha1.BootstrapPending, done}, {v1alpha1.BootstrapConfiguringTalos, waits}, {v1alpha1.BootstrapReady, never}})
	if err != nil || p.Phase != v1alpha1.BootstrapConfiguringTalos || p.Obstacle.Reason != "Waiting" {
		t.Errorf("got %+v, %v", p, err)
	}
	p, err = (&Session{ClusterBootstrap: &v1alpha1.ClusterBootstrap{}}).Walk(t.Context(), []Step{{v1alpha1.BootstrapPending, done}})
	if err != nil || p.Phase != v1alpha1.BootstrapReady || p.Obstacle != nil {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestPhasesOfTheStepsNeverGoBack(t *testing.T) {
	order := map[v1alpha1.ClusterBootstrapPhase]int{
		v1alpha1.BootstrapPending: 0, v1alpha1.BootstrapProvisioningMachines: 1, v1alpha1.BootstrapConfiguringTalos: 2, v1alpha1.BootstrapBootstrappingCluster: 3,
	}
	last := 0
	for _, s := range Steps() {
		at, known := order[s.Phase]
		if !known || at < last {
			t.Errorf("phase %s stands in the wrong place", s.Phase)
		}
		last = at
	}
}
