// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"os"
	"path/filepath"
	"testing"
)

func TestADirectoryThatOthersMayReadIsNarrowed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plane")
	for _, d := range []string{dir, filepath.Join(dir, "pki")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(d, 0o755); err != nil { // whatever the umask is
			t.Fatal(err)
		}
	}
	if err := prepareDir(dir); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Join(dir, "pki"), filepath.Join(dir, "etcd")} {
		if info, err := os.Stat(d); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", d, info.Mode(), err)
		}
	}
}
