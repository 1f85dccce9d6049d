// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// writeNotes writes the commits since the last release, and how to check and use this one.
func (r release) writeNotes() error {
	var out strings.Builder
	fmt.Fprintf(&out, "# Butler %s\n\nCommit %s.\n\n", r.Version, r.Commit)
	out.WriteString("## Images\n\n| image | digest |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(r.digests)) {
		fmt.Fprintf(&out, "| `ghcr.io/butlerdotdev/%s:%s` | `%s` |\n", name, r.Version, r.digests[name])
	}
	fmt.Fprintf(&out, `
The images are in butler-images-%s.tar, too, for sites without a connection:
%s. Signatures are keyless:

    cosign verify-blob --bundle checksums.txt.sigstore.json \
      --certificate-identity-regexp '^https://github.com/butlerdotdev/butler/' \
      --certificate-oidc-issuer https://token.actions.githubusercontent.com checksums.txt
    sha256sum --check --ignore-missing checksums.txt

`, r.Version, "`butleradm images push --from FILE --to REGISTRY/PATH`")
	changes, err := changesSince(r.Version)
	if err != nil {
		return err
	}
	out.WriteString("## Changes\n\n" + changes)
	return r.write("notes.md", []byte(out.String()))
}

// changesSince lists the commits after the tag before a version; without one, the last fifty.
func changesSince(version string) (string, error) {
	arguments := []string{"log", "--no-merges", "--format=- %s (%h)", "-50"}
	previous, err := exec.Command("git", "describe", "--tags", "--abbrev=0", "--match", "v*", "--exclude", version).Output()
	if tag := strings.TrimSpace(string(previous)); err == nil && tag != "" {
		arguments = append(arguments[:len(arguments)-1], tag+"..HEAD")
	}
	out, err := exec.Command("git", arguments...).Output()
	if err != nil {
		return "", fmt.Errorf("list the changes: %w", err)
	}
	return string(out), nil
}

// writeChecksums lists the files of the release as sha256sum does.
func (r release) writeChecksums() error {
	var out strings.Builder
	root := os.DirFS(r.dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == "checksums.txt" {
			return err
		}
		sum, err := sumOf(filepath.Join(r.dir, name))
		fmt.Fprintf(&out, "%s  %s\n", sum, filepath.Base(name))
		return err
	})
	if err != nil {
		return err
	}
	return r.write("checksums.txt", []byte(out.String()))
}
