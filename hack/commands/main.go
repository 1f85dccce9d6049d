// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command commands writes docs/reference/commands.md, and the man pages in docs/man, from
// the commands of butleradm.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/butlerdotdev/butler/cmd/butleradm/app"
	"github.com/butlerdotdev/butler/internal/reference"
)

func main() {
	if err := write("docs"); err != nil {
		fmt.Fprintln(os.Stderr, "commands:", err)
		os.Exit(1)
	}
}

// write replaces the pages below a directory. Pages of commands that are gone are removed.
func write(dir string) error {
	root := app.New(nil, io.Discard, io.Discard).Command()
	if err := os.WriteFile(filepath.Join(dir, "reference", "commands.md"), []byte(reference.Markdown(root)), 0o644); err != nil {
		return err
	}
	man := filepath.Join(dir, "man")
	if err := os.RemoveAll(man); err != nil {
		return err
	}
	if err := os.MkdirAll(man, 0o755); err != nil {
		return err
	}
	for _, c := range reference.Commands(root) {
		if err := os.WriteFile(filepath.Join(man, reference.ManName(c)), []byte(reference.Man(c)), 0o644); err != nil {
			return err
		}
	}
	return nil
}
