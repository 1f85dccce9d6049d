// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHAOnOtherPlatforms(t *testing.T) {
	for _, c := range append(clouds()[1:], onPrem()...) {
		t.Run(c.provider, c.rehearse)
	}
}

// TestOrphansOfEveryPlatformAreFoundByTheirTags loses the plane of a cluster: the platform alone says
// what belongs to it.
func TestOrphansOfEveryPlatformAreFoundByTheirTags(t *testing.T) {
	for _, c := range append(clouds(), onPrem()...) {
		t.Run(c.provider, func(t *testing.T) {
			a, example := newAdm(t), c.example("single-node")
			a.ok("bootstrap", c.provider, "-c", example, "--rehearse")
			if err := os.RemoveAll(filepath.Join(a.home, "rehearsals", "dev-cluster", "plane")); err != nil {
				t.Fatal(err)
			}
			sweep := []string{"destroy", "-c", example, "--orphans", "--rehearse", "--yes"}
			a.ok(sweep...).expectLedger(t, c.ledger("found", c.single))
			a.ok(sweep...).expectLedger(t, "found 0, deleted 0, left 0")
			a.ok("forget", "dev-cluster", "--yes", "--even-if-left")
		})
	}
}
