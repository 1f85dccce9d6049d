// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// TestStatesOfAVM has what Prism Central shows, and what it means.
func TestStatesOfAVM(t *testing.T) {
	p := &platform{spec: v1alpha1.NutanixSpec{SubnetUUID: "net"}}
	disks := []disk{{bus: busSCSI}, {bus: "IDE", cdrom: true}, {bus: busSCSI, index: 2}}
	nics := []nic{{subnet: "other", addresses: []string{"10.9.0.4"}}, {subnet: "net", mac: "50:6B:8D:00:00:01", addresses: []string{"10.40.0.4", "169.254.1.1"}}}
	for name, c := range map[string]struct {
		vm
		state   provider.State
		message string
	}{
		"being created":  {vm{state: "PENDING"}, provider.StatePending, "VM a is being created or changed"},
		"task runs":      {vm{state: "RUNNING"}, provider.StatePending, "VM a is being created or changed"},
		"no address":     {vm{state: stateComplete, power: powerOn}, provider.StatePending, "VM a runs without an address"},
		"running":        {vm{state: stateComplete, power: powerOn, nics: nics}, provider.StateRunning, ""},
		"failed update":  {vm{state: stateError, power: powerOn, nics: nics, messages: []string{"x"}}, provider.StateRunning, ""},
		"off":            {vm{state: stateComplete, power: powerOff}, provider.StateStopped, "VM a is off (OFF)"},
		"suspended":      {vm{state: stateComplete, power: "SUSPENDED"}, provider.StateStopped, "VM a is off (SUSPENDED)"},
		"failed":         {vm{state: stateError, messages: []string{"no image", ""}}, provider.StateBroken, "VM a is in an error state: no image"},
		"not powered on": {vm{state: stateError, power: powerOff, wanted: powerOn, disks: disks, messages: []string{"no memory"}}, provider.StatePartial, "VM a could not be powered on: no memory"},
		"being deleted":  {vm{state: "DELETE_PENDING", power: powerOn, nics: nics}, provider.StateDeleting, "VM a is being deleted"},
	} {
		c.name, c.uuid = "a", "u"
		got := p.report(c.vm, provider.MachineRef{Name: "a"})
		if got.State != c.state || got.Message != c.message || got.ID != "u" {
			t.Errorf("%s: %s %q %q", name, got.State, got.Message, got.ID)
		}
		if want := map[bool]string{true: "nutanix://u"}[c.state == provider.StateRunning]; got.NodeProviderID != want {
			t.Errorf("%s: the kubelet gets %q", name, got.NodeProviderID)
		}
	}
	got := p.report(vm{name: "a", nics: nics, disks: disks}, provider.MachineRef{})
	if got.MAC != "50:6b:8d:00:00:01" || len(got.Addresses) != 2 || got.Addresses[0].String() != "10.40.0.4" {
		t.Errorf("%s %v", got.MAC, got.Addresses)
	}
	if diff := cmp.Diff([]v1alpha1.MachineDisk{{Name: "root", LUN: new(int32(0))}, {Name: "disk-2", LUN: new(int32(2))}}, got.Disks); diff != "" {
		t.Error(diff)
	}
}

// TestCopiesAreNoMachines has VMs with the description of one machine: clones have a parent,
// restored ones another name, and of two alike the recorded one is the machine, or the older.
func TestCopiesAreNoMachines(t *testing.T) {
	ref := provider.MachineRef{Name: "a", Owner: provider.Owner{ID: "o", ClusterID: "c"}}
	text := `{"butler-owner-id":"o","butler-cluster-id":"c","butler-machine":"a"}`
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	all := []vm{
		{uuid: "younger", name: "a", description: text, created: at(2)},
		{uuid: "clone", name: "a", description: text, created: at(0), parent: "machine"},
		{uuid: "machine", name: "a", description: text, created: at(1)},
		{uuid: "restored", name: "a-restored", description: text, created: at(0)},
		{uuid: "foreign", name: "a", description: "created by hand", created: at(0)},
	}
	if got := oldestOf(all, ref); got == nil || got.uuid != "machine" {
		t.Errorf("the machine is %+v", got)
	}
	for recorded, want := range map[string]string{"": "machine", "younger": "younger", "restored": "restored", "gone": ""} {
		origins := map[string]string{originOf("o", "a"): recorded, originOf("o", "b"): "clone"}
		if recorded == "" {
			delete(origins, originOf("o", "a"))
		}
		groups, found := groupsOf(all, origins, ""), ""
		for _, o := range groups[0].Objects {
			found += o.Of.uuid
		}
		if len(groups) != 1 || found != want || len(groups[0].Objects)+len(groups[0].Copies) != 4 {
			t.Errorf("recorded %q: %+v", recorded, groups)
		}
	}
}
