// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/butlerdotdev/butler/cmd/butleradm/app"
	"github.com/butlerdotdev/butler/internal/reference"
)

func TestTheReferenceIsThatOfTheCommands(t *testing.T) {
	const docs = "../../../docs"
	root := app.New(nil, io.Discard, io.Discard).Command()
	expect := func(path, want string) {
		if got, err := os.ReadFile(filepath.Join(docs, path)); err != nil || string(got) != want {
			t.Errorf("%s is outdated (%v); run make generate", path, err)
		}
	}
	expect("reference/commands.md", reference.Markdown(root))
	all := reference.Commands(root)
	for _, c := range all {
		expect(filepath.Join("man", reference.ManName(c)), reference.Man(c))
	}
	if files, err := os.ReadDir(filepath.Join(docs, "man")); err != nil || len(files) != len(all) {
		t.Errorf("docs/man has %d pages for %d commands (%v); run make generate", len(files), len(all), err)
	}
}
