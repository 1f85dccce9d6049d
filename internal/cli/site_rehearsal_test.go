// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"os"
	"path/filepath"
	"testing"
)

// rehearse creates the HA example and removes it.
func (c site) rehearse(t *testing.T) {
	t.Parallel()
	a := newAdm(t)
	a.ok("bootstrap", c.provider, "-c", c.example("ha"), "--rehearse")
	expectSelfManaged(t, a, c.cluster)
	if out := a.ok("status", c.cluster).out; !c.endpoint.MatchString(out) {
		t.Errorf("the endpoint is another one:\n%s", out)
	}
	c.expectProviderIDs(t, a, c.cluster)
	zones := map[string]bool{}
	for _, n := range a.nodes(c.cluster) {
		zones[n.Labels["topology.kubernetes.io/zone"]] = true
	}
	if len(zones) != c.zones {
		t.Errorf("the nodes are in the zones %v", zones)
	}
	a.ok("destroy", c.cluster, "--yes").expectLedger(t, c.ledger("created", c.ha))
}

func TestHAOnOtherPlatforms(t *testing.T) {
	for _, c := range append(clouds(), onPrem()...) {
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
