// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"strings"
	"testing"

	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func TestStatesOfInstances(t *testing.T) {
	p := &platform{}
	p.spec.ProjectID = "p"
	address := []*computepb.NetworkInterface{{NetworkIP: new("10.0.0.2"), AccessConfigs: []*computepb.AccessConfig{{NatIP: new("34.1.2.3")}}}}
	for name, c := range map[string]struct {
		*computepb.Instance
		state   provider.State
		id      bool
		message string
	}{
		"it waits for resources":   {&computepb.Instance{Status: new("PROVISIONING")}, provider.StatePartial, false, "waits for its resources"},
		"it is started again":      {&computepb.Instance{Status: new("PROVISIONING"), LastStopTimestamp: new("x")}, provider.StatePending, true, "is starting"},
		"it boots":                 {&computepb.Instance{Status: new("STAGING")}, provider.StatePending, true, "is starting"},
		"it runs":                  {&computepb.Instance{Status: new("RUNNING"), NetworkInterfaces: address}, provider.StateRunning, true, ""},
		"it runs without address":  {&computepb.Instance{Status: new("RUNNING")}, provider.StatePending, true, "without an address"},
		"it is stopped":            {&computepb.Instance{Status: new("TERMINATED"), StatusMessage: new("by a user")}, provider.StateStopped, true, "by a user"},
		"it is suspended":          {&computepb.Instance{Status: new("SUSPENDED")}, provider.StateStopped, true, "suspended"},
		"it is stopped or deleted": {&computepb.Instance{Status: new("STOPPING")}, provider.StatePending, true, "stopped or deleted"},
		"its host failed":          {&computepb.Instance{Status: new("REPAIRING")}, provider.StatePending, true, "repaired"},
	} {
		c.Name, c.Zone = new("m"), new("https://x/projects/p/zones/z-a")
		got := p.report(c.Instance, provider.MachineRef{Name: "m"})
		if got.State != c.state || (got.ID != "") != c.id || !strings.Contains(got.Message, c.message) || (got.Message == "") != (c.state == provider.StateRunning) {
			t.Errorf("%s: %+v", name, got)
		}
		if c.state == provider.StateRunning && (got.NodeProviderID != "gce://p/z-a/m" || got.ID != "projects/p/zones/z-a/instances/m" || got.Addresses[0].String() != "10.0.0.2") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestDisksAreReportedByDeviceName(t *testing.T) {
	i := &computepb.Instance{Disks: []*computepb.AttachedDisk{{Boot: new(true), DeviceName: new("root")}, {DeviceName: new("disk-1")}}}
	want := []v1alpha1.MachineDisk{{Name: "root", Serial: "root"}, {Name: "disk-1", Serial: "disk-1"}}
	if diff := cmp.Diff(want, disks(i)); diff != "" {
		t.Error(diff)
	}
	i.Disks[1].Interface = new("NVME")
	if got := disks(i); got != nil {
		t.Errorf("disks on NVMe: %v", got)
	}
}

// TestCopiesAreRecognised by their name and zone: labels are copied.
func TestCopiesAreRecognised(t *testing.T) {
	labels := map[string]string{labelOwner: "o", "butler-machine": "m", labelZone: "z-a"}
	for name, c := range map[string]struct {
		name, zone string
		want       bool
	}{
		"the machine": {"m", "z-a", true}, "a clone": {"m-copy", "z-a", false}, "a clone in another zone": {"m", "z-b", false},
	} {
		zone := "https://x/projects/p/zones/" + c.zone
		if got := original(&computepb.Instance{Name: &c.name, Zone: &zone, Labels: labels}); got != c.want {
			t.Errorf("%s: instance %t", name, got)
		}
		if got := !copied(&computepb.Disk{Name: &c.name, Zone: &zone, Labels: labels}); got != c.want {
			t.Errorf("%s: disk %t", name, got)
		}
	}
	if copied(&computepb.Disk{Name: new("m-disk-2"), Zone: new("zones/z-a"), Labels: labels}) {
		t.Error("an extra disk is taken for a copy")
	}
}
