// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/arch"
	"github.com/butlerdotdev/butler/internal/manifest"
)

const root = "../.."

// next returns a platform without a driver.
func next(t *testing.T) platform {
	t.Helper()
	for _, p := range platforms() {
		if _, err := os.Stat(filepath.Join(root, "provider", string(p.Type))); os.IsNotExist(err) {
			return p
		}
	}
	t.Fatal("all platforms have a driver: delete this command")
	return platform{}
}

// TestTheSkeletonCompilesAndHasAllParts writes the skeleton into a copy of the module.
func TestTheSkeletonCompilesAndHasAllParts(t *testing.T) {
	p, copied := next(t), copyModule(t)
	must(t, write(copied, string(p.Type)))
	vet := exec.Command("go", "vet", "./internal/arch", "./cmd/butleradm", "./internal/cli/matrix/...")
	for _, pkg := range []string{"provider/", "internal/sim/", "cmd/butler-provider-"} {
		vet.Args = append(vet.Args, "./"+pkg+string(p.Type))
	}
	vet.Dir = copied
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, example := range []string{"single-node", "ha"} {
		_, err := manifest.Load(filepath.Join(copied, "configs/examples", string(p.Type)+"-"+example+".yaml"))
		must(t, err)
	}
	gaps, err := arch.ProviderGaps(copied)
	must(t, err)
	for _, gap := range gaps {
		t.Error(gap)
	}
	if err := write(copied, string(p.Type)); err == nil || !strings.Contains(err.Error(), "exists; nothing was changed") {
		t.Errorf("the second time: %v", err)
	}
}

// copyModule returns a directory with the files of this module that are under version
// control or new.
func copyModule(t *testing.T) string {
	t.Helper()
	list := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	must(t, err)
	dir := t.TempDir()
	for name := range strings.Lines(string(names)) {
		name = strings.TrimSuffix(name, "\n")
		content, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed
		}
		must(t, err)
		must(t, save(filepath.Join(dir, name), content))
	}
	return dir
}

func TestATypeWithADriverOrNoneIsRefused(t *testing.T) {
	for name, want := range map[string]string{
		"harvester": "is not a provider type of the API without a driver",
		"":          "is not a provider type",
	} {
		if err := write(root, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
