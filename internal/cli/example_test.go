// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
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

// asWritten is the example of the reference, word for word: its schematic has the guest agent
// alone, and the warning about Longhorn is right.
const (
	asWritten    = "gcp-ha.yaml"
	withAgent    = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
	aboutStorage = "Longhorn attaches no volume on nodes without iSCSI"
)

func TestExamplesAreWorthCopying(t *testing.T) {
	files, err := filepath.Glob("../../configs/examples/[^t]*.yaml") // those of tenant clusters are others
	if err != nil || len(files) < 3 {
		t.Fatalf("%v, %v", files, err)
	}
	withLonghorn := fmt.Sprintf("%x", sha256.Sum256([]byte(forLonghorn)))
	for _, path := range files {
		m, err := manifest.Load(path, operation.Plannable)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := bootstrap.NewPlan(operation.Effective(m))
		want, isReference := withLonghorn, filepath.Base(path) == asWritten
		switch {
		case isReference:
			want = withAgent
		case m.Cluster.Spec.Addons.Storage.Type == "none":
			want = withoutExtensions
		}
		for _, w := range plan.Warnings {
			if !isReference || !strings.Contains(w.Message, aboutStorage) {
				t.Errorf("%s: warned of %v", path, w)
			}
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if got := m.Cluster.Spec.Talos.Schematic; got != want {
			t.Errorf("%s: schematic %s, want %s", path, got, want)
		}
	}
}
