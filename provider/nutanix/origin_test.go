// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"net/http"
	"slices"
	"testing"

	"github.com/butlerdotdev/butler/provider"
)

// replaceLost demands that the VM which replaces a lost one is the machine, although the record
// named the lost one and the response to its creation is lost.
func replaceLost(t *testing.T, o operator, p provider.Platform) {
	s := wantedSpec(func(s *provider.MachineSpec) { s.Name, s.Owner.ID = "mgmt-cp-4", "replaced" })
	lost := running(t, p, s)
	if err := o.call(t.Context(), http.MethodDelete, "vms/"+lost.ID, nil, nil); err != nil {
		t.Fatal(err)
	}
	o.awaitVMs(t, s.Name, 0)
	createUnanswered(t, o, p, s)
	second := o.awaitVMs(t, s.Name, 1)[0].Metadata.UUID
	if got, err := p.Machines.Create(t.Context(), s); err != nil || got.ID != second {
		t.Errorf("%+v, %v, want %s", got, err, second)
	}
	deleted(t, p.Machines, s.MachineRef)
	o.awaitVMs(t, s.Name, 0)
	if slices.Contains(o.categories(t), scope(s.Owner)) {
		t.Error("the category of the cluster is left")
	}
}

// keepRestoredLater demands that a VM is a copy although it is restored when the machine is gone
// and its cluster is not.
func keepRestoredLater(t *testing.T, o operator, p provider.Platform) {
	cluster := func(s *provider.MachineSpec) { s.Owner.ClusterID = "a long-lived cluster" }
	s := wantedSpec(cluster, func(s *provider.MachineSpec) { s.Name, s.Owner.ID = "mgmt-cp-5", "restored later" })
	other := wantedSpec(cluster, func(s *provider.MachineSpec) { s.Name, s.Owner.ID = "mgmt-cp-6", "other" })
	running(t, p, other)
	running(t, p, s)
	backup := o.awaitVMs(t, s.Name, 1)[0]
	deleted(t, p.Machines, s.MachineRef)
	restored := o.restore(t, backup)
	o.awaitVMs(t, s.Name, 1)
	deletedByCredentials(t, o, p, other)
	if left := o.awaitVMs(t, s.Name, 1)[0].Metadata.UUID; left != restored {
		t.Errorf("%s is left, want %s", left, restored)
	}
	o.awaitVMs(t, other.Name, 0)
	if err := o.call(t.Context(), http.MethodDelete, "vms/"+restored, nil, nil); err != nil {
		t.Fatal(err)
	}
	o.awaitVMs(t, s.Name, 0)
	deletedByCredentials(t, o, p, other)
	if slices.Contains(o.categories(t), scope(s.Owner)) {
		t.Error("the category of the cluster is left")
	}
}
