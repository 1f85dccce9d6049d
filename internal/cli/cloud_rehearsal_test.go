// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCloudOrphansAreFoundByTheirTags loses the plane of a cluster: the account alone says
// what belongs to it.
func TestCloudOrphansAreFoundByTheirTags(t *testing.T) {
	a := newAdm(t)
	a.ok("bootstrap", "aws", "-c", exampleCloud, "--rehearse")
	if err := os.RemoveAll(filepath.Join(a.home, "rehearsals", "dev-cluster", "plane")); err != nil {
		t.Fatal(err)
	}
	sweep := []string{"destroy", "-c", exampleCloud, "--orphans", "--rehearse", "--yes"}
	a.ok(sweep...).expectLedger(t, "found 7, deleted 7, left 0: 1 machine, 1 disk, 1 load balancer, 1 network interface, 1 security group, 2 target groups")
	a.ok(sweep...).expectLedger(t, "found 0, deleted 0, left 0")
	a.ok("forget", "dev-cluster", "--yes", "--even-if-left")
}
