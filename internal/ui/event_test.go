// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestChangesReportsOnlyWhatChanged(t *testing.T) {
	machine := v1alpha1.BootstrapMachineStatus{Name: "a-cp-0", Role: v1alpha1.RoleControlPlane, Phase: v1alpha1.MachineCreating}
	running := machine
	running.Phase, running.IPAddress = v1alpha1.MachineRunning, "10.0.0.1"
	ready := running
	ready.TalosConfigured, ready.Ready = true, true
	provisioning := State{Phase: v1alpha1.BootstrapProvisioningMachines, Obstacle: "no address", Machines: []v1alpha1.BootstrapMachineStatus{machine}}
	for reason, c := range map[string]struct {
		before, after State
		want          []string
	}{
		"nothing changed": {provisioning, provisioning, nil},
		"everything is new": {State{}, provisioning, []string{
			"   1.5s •   ProvisioningMachines",
			"   1.5s     a-cp-0 Creating",
			"   1.5s   … no address",
		}},
		"an obstacle that goes is not reported": {provisioning, State{Phase: provisioning.Phase, Machines: []v1alpha1.BootstrapMachineStatus{running}}, []string{
			"   1.5s     a-cp-0 Running at 10.0.0.1",
		}},
		"a node becomes ready": {State{Phase: v1alpha1.BootstrapReady, Machines: []v1alpha1.BootstrapMachineStatus{running}}, State{Phase: v1alpha1.BootstrapReady, Machines: []v1alpha1.BootstrapMachineStatus{ready}}, []string{
			"   1.5s     a-cp-0 Running at 10.0.0.1, node Ready",
		}},
	} {
		var got []string
		for _, e := range Changes(c.before, c.after) {
			e.Elapsed = 1.5
			got = append(got, Plain(e))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", reason, diff)
		}
	}
}

func TestChangesOfAddonsAreThoseThatPeopleWaitFor(t *testing.T) {
	addon := func(phase v1alpha1.AddonPhase, message string) State {
		return State{Phase: v1alpha1.BootstrapInstallingAddons, Addons: []v1alpha1.BootstrapAddonStatus{
			{Name: "cilium", Version: "1.17.0", Phase: phase, Message: message, Digest: "sha256:0a"},
		}}
	}
	pending, installing := addon(v1alpha1.AddonPending, "waits for gateway-api"), addon(v1alpha1.AddonInstalling, "")
	waiting, ready := addon(v1alpha1.AddonWaiting, "2 of 6 pods"), addon(v1alpha1.AddonReady, "")
	failing := addon(v1alpha1.AddonFailing, "connection refused")
	for reason, c := range map[string]struct {
		before, after State
		want          []string
	}{
		"pending is nothing to report":     {State{Phase: pending.Phase}, pending, nil},
		"it is looked at again":            {ready, pending, nil},
		"it begins":                        {pending, addon(v1alpha1.AddonInstalling, "is fetched"), []string{"   1.5s     cilium 1.17.0 Installing"}},
		"it is applied":                    {installing, waiting, nil},
		"it waits for something else":      {waiting, addon(v1alpha1.AddonWaiting, "5 of 6 pods"), nil},
		"it is ready":                      {waiting, ready, []string{"   1.5s     cilium 1.17.0 Ready (1 of 1, 100%)"}},
		"it was ready":                     {ready, waiting, []string{"   1.5s     cilium 1.17.0 Waiting: 2 of 6 pods"}},
		"it fails":                         {installing, failing, []string{"   1.5s   ✗ cilium 1.17.0 Failing: connection refused"}},
		"it fails as before":               {failing, failing, nil},
		"it fails for another reason":      {failing, addon(v1alpha1.AddonFailing, "no such version"), []string{"   1.5s   ✗ cilium 1.17.0 Failing: no such version"}},
		"it was not seen before and fails": {State{Phase: pending.Phase}, failing, []string{"   1.5s   ✗ cilium 1.17.0 Failing: connection refused"}},
	} {
		var got []string
		for _, e := range Changes(c.before, c.after) {
			if e.Type != EventAddon || e.Addon == nil || *e.Addon != c.after.Addons[0] {
				t.Errorf("%s: %+v", reason, e)
			}
			e.Elapsed = 1.5
			got = append(got, Plain(e))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", reason, diff)
		}
	}
}

func TestPlainFitsIntoEightyColumns(t *testing.T) {
	e := Event{Type: EventWaiting, Elapsed: 1234.5, Message: "machine butler-mgmt-cp-0 is Creating: the disk butler-mgmt-cp-0-root waits for storage class longhorn-image-5rs6d,\nwhich does not exist \x1b[31mred"}
	want := `1234.5s   … machine butler-mgmt-cp-0 is Creating: the disk butler-mgmt-cp-0-root
            waits for storage class longhorn-image-5rs6d, which does not exist
            red`
	if diff := cmp.Diff(want, Plain(e)); diff != "" {
		t.Error(diff)
	}
}

func TestRefusedChecksStandOut(t *testing.T) {
	for verdict, want := range map[string]string{"Refused": "   0.0s   ✗ x", "Unknown": "   0.0s   ? x"} {
		if got := Plain(Event{Type: EventCheck, Check: &Check{Verdict: verdict}, Message: "x"}); got != want {
			t.Errorf("%s is %q, want %q", verdict, got, want)
		}
	}
}

func TestJSONIsOneLineWithItsSchema(t *testing.T) {
	e := Event{Time: time.Unix(0, 0).UTC(), Elapsed: 2, Type: EventPhase, Phase: v1alpha1.BootstrapPending, Message: "two\nlines"}
	want := `{"time":"1970-01-01T00:00:00Z","elapsed":2,"type":"phase","phase":"Pending","message":"two\nlines"}`
	if got := JSON(e); got != want || strings.Contains(got, "\n") {
		t.Errorf("got %s", got)
	}
}

// TestEventsAreDocumented: the reference has a row for every field and for every
// type, and for no other.
func TestEventsAreDocumented(t *testing.T) {
	data, err := os.ReadFile("../../docs/reference/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, found := strings.Cut(string(data), "\n## Events\n")
	if !found {
		t.Fatal("there is no section Events")
	}
	fields, types, found := strings.Cut(page, "\n### Types\n")
	if !found {
		t.Fatal("there is no section Types")
	}
	var want []string
	for _, typ := range EventTypes() {
		want = append(want, string(typ))
	}
	if diff := cmp.Diff(want, rows(types)); diff != "" {
		t.Errorf("types (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(fieldPaths(reflect.TypeFor[Event](), ""), rows(fields)); diff != "" {
		t.Errorf("fields (-want +got)\n%s", diff)
	}
}

var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// rows are the first cells of a page's tables.
func rows(page string) (out []string) {
	for _, m := range row.FindAllStringSubmatch(page, -1) {
		out = append(out, m[1])
	}
	return out
}

func fieldPaths(of reflect.Type, prefix string) (out []string) {
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, prefix+name)
		if inner := f.Type; inner.Kind() == reflect.Pointer {
			out = append(out, fieldPaths(inner.Elem(), prefix+name+".")...)
		}
	}
	return slices.Clip(out)
}
