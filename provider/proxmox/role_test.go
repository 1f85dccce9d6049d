// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// documented are the commands of the guide that grant the role.
func documented(t *testing.T) string {
	t.Helper()
	guide, err := os.ReadFile("../../docs/getting-started/proxmox.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(guide), "```sh\npveum role add")
	text, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("the guide has no role")
	}
	return "pveum role add" + text
}

// TestTheDocumentedRoleHasWhatIsUsed and nothing else, and the simulated cluster enforces it.
func TestTheDocumentedRoleHasWhatIsUsed(t *testing.T) {
	enforced, err := os.ReadFile("../../internal/sim/proxmox/role.sh")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(enforced), documented(t)); diff != "" {
		t.Errorf("the simulated cluster enforces another role: %s", diff)
	}
	_, after, _ := strings.Cut(documented(t), `--privs "`)
	text, _, _ := strings.Cut(after, `"`)
	p := &platform{spec: v1alpha1.ProxmoxSpec{Nodes: []string{"pve1"}, Storage: "local-lvm", Bridge: "vmbr0"}}
	var used []string
	for _, g := range p.grants(firstAgent, nil, []string{"local"}) {
		used = append(used, g.privileges...)
	}
	slices.Sort(used)
	if diff := cmp.Diff(slices.Compact(used), slices.Sorted(slices.Values(strings.Fields(text)))); diff != "" {
		t.Error(diff)
	}
	for major, want := range map[int]string{8: privilegeMonitor, 7: privilegeMonitor, 10: privilegeAgent} {
		if vms := p.grants(major, nil, nil)[0].privileges; !slices.Contains(vms, want) {
			t.Errorf("version %d needs %v, without %s", major, vms, want)
		}
	}
}
