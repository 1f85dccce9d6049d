// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/manifest"
)

// shBlock is a block of shell commands on a page.
var shBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```")

// exampleFile is the manifest of a command line.
var exampleFile = regexp.MustCompile(`configs/examples/\S+\.yaml`)

// TestBlocksOfPagesRun runs the blocks that need no platform, as a reader would who copies them:
// that of the README as it is, and every rehearsal of a guide, with the cluster removed afterwards.
func TestBlocksOfPagesRun(t *testing.T) {
	pages, err := filepath.Glob("../../docs/getting-started/*.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, page := range append([]string{"../../README.md"}, pages...) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range shBlock.FindAllSubmatch(data, -1) {
			if script := runnable(t, string(block[1])); script != "" {
				ran++
				t.Run(filepath.Base(page), func(t *testing.T) { runBlock(t, script) })
			}
		}
	}
	if ran < 7 {
		t.Errorf("only %d blocks ran", ran)
	}
}

// runnable is the script of a block that begins with a rehearsal, or nothing. A guide's block
// is followed by what ends it.
func runnable(t *testing.T, block string) string {
	t.Helper()
	block = strings.TrimPrefix(block, "make build\n")
	first, _, _ := strings.Cut(block, "\n")
	if !strings.Contains(first, "bootstrap") || !strings.Contains(first, "--rehearse") || !strings.Contains(first, "configs/examples/") {
		return ""
	}
	if !strings.Contains(block, "destroy") {
		m, err := manifest.Load("../../" + exampleFile.FindString(first))
		if err != nil {
			t.Fatal(err)
		}
		cluster := m.Cluster.Spec.Cluster.Name
		block += "butleradm destroy " + cluster + " --yes\nbutleradm sim stop " + cluster + "\n"
	}
	return strings.ReplaceAll(block, "bin/butleradm", "butleradm")
}

func runBlock(t *testing.T, script string) {
	a := newAdm(t)
	bin := t.TempDir()
	if err := os.Symlink(a.path, filepath.Join(bin, "butleradm")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(mustAbs(t, "../../configs"), filepath.Join(bin, "configs")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-eux", "-c", script)
	cmd.Dir = bin
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "BUTLER_HOME="+a.home)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
