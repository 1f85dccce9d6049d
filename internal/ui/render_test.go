// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files")

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func after(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }

// six are the machines of an HA cluster, as far as steps have brought them.
func six(phase v1alpha1.MachinePhase, addressed, configured, ready int) (out []v1alpha1.BootstrapMachineStatus) {
	for i := range 6 {
		m := v1alpha1.BootstrapMachineStatus{Name: fmt.Sprintf("butler-mgmt-cp-%d", i), Role: v1alpha1.RoleControlPlane, Phase: phase}
		if i > 2 {
			m.Name, m.Role = fmt.Sprintf("butler-mgmt-w-%d", i-3), v1alpha1.RoleWorker
		}
		if i < addressed {
			m.Phase, m.IPAddress = v1alpha1.MachineRunning, fmt.Sprintf("10.40.0.%d", 10+i)
		}
		m.TalosConfigured, m.Ready = i < configured, i < ready
		out = append(out, m)
	}
	return out
}

const unreachable = "chart metallb 0.14.9 cannot be fetched from https://metallb.github.io/metallb: connection refused; check the connection, or name a directory or a registry that has it with --charts"

// fourteen are the addons of an HA cluster on their way: some are ready, some at
// work, one fails, some wait for others.
func fourteen() []v1alpha1.BootstrapAddonStatus {
	addon := func(name, version string, phase v1alpha1.AddonPhase, message string) v1alpha1.BootstrapAddonStatus {
		return v1alpha1.BootstrapAddonStatus{Name: name, Version: version, Phase: phase, Message: message}
	}
	return []v1alpha1.BootstrapAddonStatus{
		addon("kube-vip", "v0.8.7", v1alpha1.AddonReady, ""),
		addon("cilium", "1.17.0", v1alpha1.AddonReady, ""),
		addon("butler-crds", "0.1.0", v1alpha1.AddonReady, ""),
		addon("cert-manager", "v1.16.2", v1alpha1.AddonWaiting, "the webhook cert-manager-webhook does not answer"),
		addon("longhorn", "1.7.2", v1alpha1.AddonInstalling, ""),
		addon("metallb", "0.14.9", v1alpha1.AddonFailing, unreachable),
		addon("flux", "2.14.1", v1alpha1.AddonWaiting, "Deployment flux-system/source-controller:\n0 of 1 pods are ready: container manager ended with exit code 1"),
		addon("butler-controller", "0.1.0", v1alpha1.AddonWaiting, ""),
		addon("butler-bootstrap", "0.1.0", v1alpha1.AddonReady, ""),
		addon("butler-provider-harvester", "0.1.0", v1alpha1.AddonReady, ""),
		addon("traefik", "34.3.0", v1alpha1.AddonPending, "waits for metallb"),
		addon("steward", "0.4.0", v1alpha1.AddonPending, "waits for cert-manager, longhorn"),
		addon("capi", "v1.9.4", v1alpha1.AddonPending, "waits for cert-manager, steward"),
		addon("console", "0.14.2", v1alpha1.AddonPending, "waits for butler-controller, traefik"),
	}
}

// installed are the same addons, all of them ready.
func installed() []v1alpha1.BootstrapAddonStatus {
	out := fourteen()
	for i := range out {
		out[i].Phase, out[i].Message = v1alpha1.AddonReady, ""
	}
	return out
}

// story is a bootstrap from its first to its last state.
func story() []View {
	v := View{Title: "butler-mgmt on harvester (rehearsal)", Begin: begin}
	var all []View
	see := func(at int, s State) {
		v = v.Next(s, after(at))
		all = append(all, v)
	}
	see(3, State{Phase: v1alpha1.BootstrapPending, Obstacle: "ProviderConfig harvester-prod is not Ready yet"})
	see(4, State{Phase: v1alpha1.BootstrapProvisioningMachines, Machines: six(v1alpha1.MachineCreating, 2, 0, 0),
		Obstacle: "machine butler-mgmt-cp-2 is Creating: the disk butler-mgmt-cp-2-root waits for storage class longhorn-image-5rs6d, which does not exist"})
	see(40, State{Phase: v1alpha1.BootstrapConfiguringTalos, Machines: six(v1alpha1.MachineCreating, 6, 1, 0), Obstacle: "butler-mgmt-cp-1 (10.40.0.11) restarts to take its configuration"})
	see(50, State{Phase: v1alpha1.BootstrapBootstrappingCluster, Machines: six("", 6, 3, 0), Obstacle: "the API server does not answer yet: connection refused"})
	see(80, State{Phase: v1alpha1.BootstrapInstallingAddons, Machines: six("", 6, 6, 2), Addons: fourteen(), Obstacle: "node butler-mgmt-cp-2 is not Ready"})
	see(95, State{Phase: v1alpha1.BootstrapReady, Machines: six("", 6, 6, 6), Addons: installed()})
	return all
}

func TestRenderIsGolden(t *testing.T) {
	all := story()
	views := map[string]View{
		"pending": all[0], "machines": all[1], "talos": all[2], "bootstrap": all[3], "addons": all[4],
		"ready":       all[5].Ended(Ready, after(95)),
		"interrupted": all[2].Ended(Interrupted, after(47)),
		"failed": all[1].Next(State{Phase: v1alpha1.BootstrapFailed, Machines: six(v1alpha1.MachineFailed, 2, 0, 0),
			Obstacle: "Talos v9.9.9 is newer than this version knows; choose v1.13 or older"}, after(41)).Ended(Failed, after(41)),
		"paused": all[3].Next(State{Phase: v1alpha1.BootstrapBootstrappingCluster, Machines: six("", 6, 3, 0), Paused: true,
			Obstacle: "spec.paused is true: nothing is changed"}, after(60)),
		"obstacle-of-an-addon": all[4].Next(State{Phase: v1alpha1.BootstrapInstallingAddons, Machines: six("", 6, 6, 6), Addons: fourteen(),
			Obstacle: "metallb: " + unreachable}, after(96)),
		"pivot-ahead": all[1].Next(State{Phase: v1alpha1.BootstrapProvisioningMachines, Machines: six(v1alpha1.MachineCreating, 2, 0, 0), Moves: true}, after(5)),
		"pivoting": all[4].Next(State{Phase: v1alpha1.BootstrapPivoting, Machines: six("", 6, 6, 6), Addons: installed(), Moves: true,
			Obstacle: "everything is ready for the cluster to manage itself"}, after(92)),
		"warning": all[1].Warned("2 control planes tolerate the loss of none, as 1 does; choose an odd number").Warned("2 control planes tolerate the loss of none, as 1 does; choose an odd number"),
		"resumed": View{Title: "butler-mgmt on harvester (rehearsal)", Begin: begin}.Next(all[4].State, after(2)),
	}
	for name, v := range views {
		for _, width := range []int{80, 60, 36} {
			golden(t, fmt.Sprintf("%s-%d", name, width), Render(v, Screen{Width: width}, after(98)), width, 0)
		}
	}
	golden(t, "colour", Render(views["warning"], Screen{Width: 80, Colour: true}, after(20)), 80, 0)
	golden(t, "colour-addons", Render(all[4], Screen{Width: 80, Colour: true}, after(90)), 80, 0)
	golden(t, "addons-36-height-30", Render(all[4], Screen{Width: 36, Height: 30}, after(90)), 36, 30)
	for _, height := range []int{40, 30, 24, 20, 14, 11, 8, 3} {
		golden(t, fmt.Sprintf("height-%d", height), Render(all[4], Screen{Width: 80, Height: height}, after(90)), 80, height)
	}
	warned := all[4].Warned("Longhorn keeps 3 copies of a volume on different nodes, and only 2 take volumes: set spec.addons.storage.replicaCount to 2, or volumes stay degraded")
	golden(t, "warning-height-15", Render(warned, Screen{Width: 60, Height: 15}, after(90)), 60, 15)
	golden(t, "warning-height-10", Render(warned, Screen{Width: 40, Height: 10}, after(90)), 40, 10)
}

// golden compares a frame with its file, and holds it to its screen.
func golden(t *testing.T, name, got string, width, height int) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	for _, line := range lines {
		if w := ansi.StringWidth(line); w > width {
			t.Errorf("%s has a line of %d columns: %q", name, w, line)
		}
	}
	if height > 0 && len(lines) >= height {
		t.Errorf("%s has %d lines on a screen of %d", name, len(lines), height)
	}
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", name, diff)
	}
}

func TestRenderFitsEveryScreen(t *testing.T) {
	views := append(story(), View{State: State{Phase: v1alpha1.BootstrapPending}}, story()[1].Warned(strings.Repeat("long ", 50)))
	for width := 8; width <= 90; width += 7 {
		for height := 2; height <= 40; height += 3 {
			for i, v := range views {
				lines := strings.Split(strings.TrimSuffix(Render(v, Screen{Width: width, Height: height, Colour: true}, after(5000)), "\n"), "\n")
				if len(lines) >= height {
					t.Errorf("view %d has %d lines on a screen of %d", i, len(lines), height)
				}
				for _, line := range lines {
					if w := ansi.StringWidth(line); w > width {
						t.Errorf("view %d has %d columns on a screen of %d: %q", i, w, width, line)
					}
				}
			}
		}
	}
}

func TestNextKeepsTheTimesOfWhatDidNotChange(t *testing.T) {
	one := story()[1]
	two := one.Next(State{Phase: one.Phase, Obstacle: one.Obstacle, Machines: six(v1alpha1.MachineCreating, 3, 0, 0)}, after(30))
	if two.Since != one.Since || two.Machines[0].Since != after(4) || two.Machines[2].Since != after(30) {
		t.Errorf("obstacle since %s, machines since %s and %s", two.Since, two.Machines[0].Since, two.Machines[2].Since)
	}
	if one.Machines[2].Since != after(4) {
		t.Error("the earlier view has changed")
	}
}

func TestNextKeepsTheTimeOfAnAddonInItsPhase(t *testing.T) {
	one := story()[4]
	addons := fourteen()
	addons[3].Message, addons[4].Phase = "something else", v1alpha1.AddonWaiting
	two := one.Next(State{Phase: one.Phase, Addons: addons}, after(120))
	if two.Addons[3].Since != after(80) || two.Addons[4].Since != after(120) {
		t.Errorf("since %s and %s", two.Addons[3].Since, two.Addons[4].Since)
	}
}

// TestAddonsShowWhenThereIsSomethingToSay: a plan alone is nothing to look at.
func TestAddonsShowWhenThereIsSomethingToSay(t *testing.T) {
	pending := []v1alpha1.BootstrapAddonStatus{{Name: "cilium", Phase: v1alpha1.AddonPending}}
	working := []v1alpha1.BootstrapAddonStatus{{Name: "cilium", Phase: v1alpha1.AddonInstalling}}
	for _, c := range []struct {
		phase  v1alpha1.ClusterBootstrapPhase
		addons []v1alpha1.BootstrapAddonStatus
		want   bool
	}{
		{v1alpha1.BootstrapBootstrappingCluster, pending, false},
		{v1alpha1.BootstrapBootstrappingCluster, working, true},
		{v1alpha1.BootstrapInstallingAddons, pending, true},
		{v1alpha1.BootstrapInstallingAddons, nil, false},
	} {
		v := View{Begin: begin}.Next(State{Phase: c.phase, Addons: c.addons}, begin)
		if got := strings.Contains(Render(v, Screen{Width: 80}, begin), "ADDON"); got != c.want {
			t.Errorf("%s with %v: shown %t", c.phase, c.addons, got)
		}
	}
}

func TestDurationIsShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 1500 * time.Millisecond: "1s", 65 * time.Second: "1m05s", 3700 * time.Second: "1h01m",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

func TestPivotIsAheadOnlyOfClustersThatMove(t *testing.T) {
	for reason, tc := range map[string]struct {
		topology   v1alpha1.Topology
		plane      string
		controller *bool
		want       bool
	}{
		"HA":                          {v1alpha1.TopologyHA, v1alpha1.PlaneLocal, nil, true},
		"HA that has moved":           {v1alpha1.TopologyHA, v1alpha1.PlaneSelf, new(true), true},
		"HA without its controllers":  {v1alpha1.TopologyHA, v1alpha1.PlaneLocal, new(false), false},
		"HA on a cluster of the user": {v1alpha1.TopologyHA, "", nil, false},
		"single node":                 {v1alpha1.TopologySingleNode, v1alpha1.PlaneLocal, nil, false},
	} {
		cb := &v1alpha1.ClusterBootstrap{}
		cb.Spec.Cluster.Topology, cb.Spec.Addons.ButlerController.Enabled = tc.topology, tc.controller
		if tc.plane != "" {
			cb.Annotations = map[string]string{v1alpha1.AnnotationPlane: tc.plane}
		}
		if got := StateOf(cb).Moves; got != tc.want {
			t.Errorf("%s: %v", reason, got)
		}
	}
}
