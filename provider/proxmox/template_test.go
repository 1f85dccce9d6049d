// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"fmt"
	"net/http"
	"testing"

	sim "github.com/butlerdotdev/butler/internal/sim/proxmox"
	"github.com/butlerdotdev/butler/provider"
)

// TestATemplateThatWasAMachine is refused. A machine that was cloned from it is not taken for
// a copy, and can be deleted.
func TestATemplateThatWasAMachine(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t)
	s, _ := planned(t, p, machine("mgmt-w-0"), provider.Attempt{})
	tags, err := tagsOf("create", machine("mgmt-cp-0"), attempt{VMID: 9000, Node: "pve1"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		path := fmt.Sprintf("/nodes/pve%d/qemu/%d/config", i+1, 9000+i)
		if err := f.admin.Call(t.Context(), http.MethodPut, path, nil, "tags", joined(tags), "protection", "1"); err != nil {
			t.Fatal(err)
		}
	}
	created(t, p, s)
	removed(t, p, s)
	fresh := f.connected(t)
	if _, err := fresh.Plan(t.Context(), machine("mgmt-w-1"), provider.Attempt{}); provider.ReasonOf(err) != provider.ReasonImageInvalid {
		t.Errorf("a template with tags of a machine: %v", err)
	}
	if bad := checked(t, fresh, machine("mgmt-w-1")); bad["template talos-v1.9.2"].Verdict != provider.Refused {
		t.Errorf("%+v", bad)
	}
}
