// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/operation"
)

// forLonghorn is what the image factory is given for the images of the examples;
// it names a schematic by the hash of that.
const forLonghorn = `customization:
    systemExtensions:
        officialExtensions:
            - siderolabs/iscsi-tools
            - siderolabs/qemu-guest-agent
            - siderolabs/util-linux-tools
`

func TestExamplesAreWorthCopying(t *testing.T) {
	files, err := filepath.Glob("../../configs/examples/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%v, %v", files, err)
	}
	schematic := fmt.Sprintf("%x", sha256.Sum256([]byte(forLonghorn)))
	for _, path := range files {
		m, err := manifest.Load(path, operation.Plannable)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := bootstrap.NewPlan(m.Cluster.Spec)
		if err != nil || len(plan.Warnings) > 0 {
			t.Errorf("%s: %v, warned of %v", path, err, plan.Warnings)
		}
		if got := m.Cluster.Spec.Talos.Schematic; got != schematic {
			t.Errorf("%s: schematic %s, want %s", path, got, schematic)
		}
	}
}
