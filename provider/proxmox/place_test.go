// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"fmt"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// TestControlPlanesThatArePlannedTogetherAreApart while the free memory of nodes changes.
func TestControlPlanesThatArePlannedTogetherAreApart(t *testing.T) {
	for role, want := range map[v1alpha1.MachineRole][]string{
		v1alpha1.RoleControlPlane: {"pve1", "pve2", "pve3"},
		v1alpha1.RoleWorker:       {"pve2", "pve2", "pve1"}, // the one with the most memory first
	} {
		for i, memory := range [][]int64{{10, 20, 5}, {30, 20, 5}, {1, 20, 5}} {
			all := []place{{node: "pve1", fits: true}, {node: "pve2", fits: true}, {node: "pve3", fits: true}}
			for n := range all {
				all[n].memory = memory[n] << 30
			}
			s := machine(fmt.Sprintf("mgmt-x-%d", i), func(s *provider.MachineSpec) { s.Role = role })
			sortPlaces(all, role)
			if got := choose(all, s, 0); got.node != want[i] {
				t.Errorf("%s %d is on %s, want %s", role, i, got.node, want[i])
			}
		}
	}
}
