// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHAFromNetworkPools creates the HA examples in a network without DHCP: every address of a
// node is the one that was allocated, and all are released in the end.
func TestHAFromNetworkPools(t *testing.T) {
	for provider, ledger := range map[string]string{
		"harvester": "created 35, deleted 35, left 0: 6 machines, 6 disks, 23 addresses",
		"proxmox":   "created 41, deleted 41, left 0: 6 machines, 12 disks, 23 addresses",
		"nutanix":   "created 29, deleted 29, left 0: 6 machines, 23 addresses",
	} {
		t.Run(provider, func(t *testing.T) {
			a := newAdm(t)
			manifest := file(t, "ha.yaml", edited(t, "../../configs/examples/"+provider+"-ha-ipam.yaml", "  talos:\n", "  remediation: ReplaceWorkers\n  talos:\n"))
			a.ok("bootstrap", provider, "-c", manifest, "--rehearse")
			expectSelfManaged(t, a, "butler-mgmt")
			expectAllocated(t, a)
			if provider == "harvester" {
				if before, after := replaceWorker(t, a, "butler-mgmt-w-1"); after != before {
					t.Errorf("it had %s, and has %s", before, after)
				}
				expectAllocated(t, a)
			}
			a.ok("destroy", "butler-mgmt", "--yes").expectLedger(t, ledger)
		})
	}
}

// expectAllocated wants nodes that have the addresses of the pool that the status lists.
func expectAllocated(t *testing.T, a adm) {
	t.Helper()
	first, last := netip.MustParseAddr("10.40.0.20"), netip.MustParseAddr("10.40.0.99")
	status := a.ok("status", "butler-mgmt").out
	seen := map[string]bool{}
	for _, n := range a.nodes("butler-mgmt") {
		for _, address := range n.Status.Addresses {
			is, err := netip.ParseAddr(address.Address)
			if err != nil {
				continue // its name
			}
			if is.Less(first) || last.Less(is) || seen[address.Address] {
				t.Errorf("node %s has %s", n.Name, is)
			}
			seen[address.Address] = true
			if !strings.Contains(status, n.Name) || !strings.Contains(status, "  "+address.Address+"  ") {
				t.Errorf("%s of node %s is not in\n%s", is, n.Name, status)
			}
		}
	}
	if len(seen) != 6 || !strings.Contains(strings.Join(strings.Fields(status), " "), "for machines, of pool management") || !strings.Contains(status, "for load balancers, of pool management") || !strings.Contains(status, "for the control plane, of pool management") {
		t.Errorf("%v:\n%s", seen, status)
	}
}

// TestAddressInUseHeals puts a host that the platform does not know on an address of the
// pool, and takes it away again: machines are requested then.
func TestAddressInUseHeals(t *testing.T) {
	faults := filepath.Join(t.TempDir(), "faults.yaml")
	if err := os.WriteFile(faults, []byte("faults:\n  - {kind: conflictingHost, address: 10.40.0.36, for: 15s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := newAdm(t)
	out := a.ok("bootstrap", "harvester", "-c", "../../configs/examples/harvester-ha-ipam.yaml", "--rehearse", "--faults", faults)
	if text := strings.Join(strings.Fields(out.out+out.err), " "); !strings.Contains(text, "is in use by another host; remove that host, or add 10.40.0.36/32 to spec.reserved of the pool") {
		t.Errorf("the conflict is not named:\n%s", text)
	}
	expectAllocated(t, a)
	a.ok("destroy", "butler-mgmt", "--yes")
}
