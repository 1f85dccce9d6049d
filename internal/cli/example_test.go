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

// withoutExtensions is the schematic of an empty customization.
const withoutExtensions = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"

func TestExamplesAreWorthCopying(t *testing.T) {
	files, err := filepath.Glob("../../configs/examples/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%v, %v", files, err)
	}
	withLonghorn := fmt.Sprintf("%x", sha256.Sum256([]byte(forLonghorn)))
	for _, path := range files {
		m, err := manifest.Load(path, operation.Plannable)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := bootstrap.NewPlan(m.Cluster.Spec)
		if err != nil || len(plan.Warnings) > 0 {
			t.Errorf("%s: %v, warned of %v", path, err, plan.Warnings)
		}
		want := withLonghorn
		if m.Cluster.Spec.Addons.Storage.Type == "none" {
			want = withoutExtensions
		}
		if got := m.Cluster.Spec.Talos.Schematic; got != want {
			t.Errorf("%s: schematic %s, want %s", path, got, want)
		}
	}
}
