// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gobuild

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOpenSaysWhatIsMissing(t *testing.T) {
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "go.mod"), []byte("module example.com/other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ dir, path, want string }{
		"no repository":        {t.TempDir(), os.Getenv("PATH"), "--repository"},
		"another repository":   {other, os.Getenv("PATH"), "--repository"},
		"a machine without Go": {"../../..", t.TempDir(), "there is no go in PATH"},
	}
	for reason, c := range cases {
		t.Run(reason, func(t *testing.T) {
			t.Setenv("PATH", c.path)
			_, err := Open(c.dir)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "images push") {
				t.Errorf("Open = %v", err)
			}
		})
	}
}

func TestThisRepository(t *testing.T) {
	r, err := Open("../../..")
	if err != nil {
		t.Fatal(err)
	}
	controllers, err := r.Controllers()
	if err != nil || len(controllers) != 8 || slices.Contains(controllers, CLI) {
		t.Errorf("controllers %v, %v", controllers, err)
	}
	t.Setenv("VERSION", "v9.8.7")
	release, err := r.Release(t.Context())
	if err != nil || release.Version != "v9.8.7" || release.Commit == "" {
		t.Errorf("release %+v, %v", release, err)
	}
}
