// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"net/http"
	"slices"
	"testing"

	"github.com/butlerdotdev/butler/provider"
)

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
