// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const downloads = "https://github.com/butlerdotdev/butler/releases/download/"

// writeFormula writes what Homebrew installs the archives with.
func (r release) writeFormula(platforms []v1.Platform) error {
	var out strings.Builder
	fmt.Fprintf(&out, `class Butleradm < Formula
  desc "Create a Talos Linux management cluster on your infrastructure"
  homepage "https://github.com/butlerdotdev/butler"
  version "%s"
  license "Apache-2.0"

`, strings.TrimPrefix(r.Version, "v"))
	for _, system := range []string{"darwin", "linux"} {
		if err := r.formulaFor(&out, system, platforms); err != nil {
			return err
		}
	}
	out.WriteString(`  def install
    bin.install "butleradm"
    pkgshare.install "examples"
    generate_completions_from_executable(bin/"butleradm", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/butleradm version")
`)
	out.WriteString("  end\n")
	out.WriteString("end\n")
	return r.write(program+".rb", []byte(out.String()))
}

func (r release) formulaFor(out *strings.Builder, system string, platforms []v1.Platform) error {
	names := map[string]string{"darwin": "macos", "linux": "linux", "amd64": "intel", "arm64": "arm"}
	var inner strings.Builder
	for _, p := range platforms {
		if p.OS != system {
			continue
		}
		sum, err := sumOf(filepath.Join(r.dir, r.name(p)+".tar.gz"))
		if err != nil {
			return err
		}
		fmt.Fprintf(&inner, "    on_%s do\n      url \"%s%s/%s.tar.gz\"\n      sha256 \"%s\"\n    end\n", names[p.Architecture], downloads, r.Version, r.name(p), sum)
	}
	if inner.Len() > 0 {
		fmt.Fprintf(out, "  on_%s do\n%s  end\n\n", names[system], inner.String())
	}
	return nil
}

func sumOf(path string) (string, error) {
	data, err := os.ReadFile(path)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}
