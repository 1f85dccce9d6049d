// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// TestPlatformThatRunsIsReportedAndAsked: another plan for machines that are on, and what
// is there, and was wrong.
func TestPlatformThatRunsIsReportedAndAsked(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	script := filepath.Join(t.TempDir(), "boot")
	if err := os.WriteFile(script, []byte(machineScript), 0o700); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := sim.SetFaults(t.Context(), dir, fault.Plan{}); err == nil || !strings.Contains(err.Error(), "no simulated platform runs") {
		t.Errorf("no simulator, and no error that says so: %v", err)
	}
	p := start(t, dir, sim.Setup{BootCommand: script, Seed: sim.Seed{
		Subnet: "10.77.0.0/24", Desired: []audit.Desired{{Cluster: "dev", Machines: 1}},
	}})
	p.create("dying")
	address := p.await("dying", true)
	p.shown("boot 1 of dying at " + address + "/24 by 10.77.0.1")
	if err := sim.SetFaults(t.Context(), dir, fault.Plan{Faults: []fault.Fault{{Kind: fault.MachineDies, Machine: "dying"}}}); err != nil {
		t.Fatal(err)
	}
	p.shown("boot 2 of dying at " + address + "/24 by 10.77.0.1")
	tallies, err := sim.Tallies(t.Context(), dir)
	if err != nil || len(tallies) != 1 || len(tallies[0].Idle()) != 0 {
		t.Errorf("the fault that happened is reported as %+v, %v", tallies, err)
	}

	for i, name := range []string{"owned", "surplus"} {
		p.create(name)
		p.tag(name, fmt.Sprintf("o%d", i))
	}
	eventually(t, "what is there", func() error {
		left, err := sim.Left(t.Context(), dir)
		if err != nil || len(left) != 2 || left[0].Name != "owned" || left[1].Name != "surplus" {
			return fmt.Errorf("%+v, %w", left, err)
		}
		return nil
	})
	violations, err := sim.Violations(dir)
	if err != nil || len(violations) != 1 || violations[0].Invariant != audit.WithinDesired {
		t.Errorf("violations: %v, %v", violations, err)
	}
	p.end()
}

// TestPlatformThatRunsExpectsMoreMachinesWithoutARestart: to end the platform would end this
// process.
func TestPlatformThatRunsExpectsMoreMachinesWithoutARestart(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	dir := t.TempDir()
	setup := func(machines int) sim.Setup {
		return sim.Setup{BootCommand: "/bin/true", Seed: sim.Seed{Subnet: "10.78.0.0/24", Desired: []audit.Desired{{Cluster: "dev", Machines: machines}}}}
	}
	p := start(t, dir, setup(1))
	for _, machines := range []int{2, 1} {
		i, err := sim.Ensure(t.Context(), dir, "/does/not/exist", v1alpha1.ProviderHarvester, setup(machines))
		if err != nil || i.PID != p.info.PID {
			t.Fatalf("%d: %+v, %v", machines, i, err)
		}
	}
	for i, name := range []string{"first", "second"} {
		p.create(name)
		p.tag(name, fmt.Sprintf("o%d", i))
	}
	eventually(t, "what is there", func() error {
		left, err := sim.Left(t.Context(), dir)
		if err != nil || len(left) != 2 {
			return fmt.Errorf("%+v, %w", left, err)
		}
		return nil
	})
	if violations, err := sim.Violations(dir); err != nil || len(violations) != 0 {
		t.Errorf("violations: %v, %v", violations, err)
	}
	p.end()
}

// tag gives a machine an owner, as the platform's administrator.
func (p *platform) tag(name, owner string) {
	p.t.Helper()
	p.connect(p.info.Admin)
	defer p.connect(p.info.Credentials[v1alpha1.KeyKubeconfig])
	vm := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine"}}
	vm.SetNamespace("default")
	vm.SetName(name)
	labels := fmt.Appendf(nil, `{"metadata": {"labels": {%q: %q, %q: "c1", %q: "dev"}}}`, audit.TagOwnerID, owner, audit.TagClusterID, audit.TagCluster)
	if err := p.Patch(p.t.Context(), vm, client.RawPatch("application/merge-patch+json", labels)); err != nil {
		p.t.Fatal(err)
	}
}
