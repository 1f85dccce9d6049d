// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command newprovider writes the skeleton of a provider into this repository: driver,
// simulated platform, binary, chart, examples, guide, and its lines in the tables that
// list providers. The skeleton compiles; its conformance test fails, rule by rule, with
// what is left to do. docs/contributing/add-a-provider.md continues from there.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	name := flag.String("name", "", "type of the provider, as in spec.provider of a ProviderConfig")
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	if err := write(*root, *name); err != nil {
		fmt.Fprintln(os.Stderr, "newprovider:", err)
		os.Exit(1)
	}
}

// write creates the files of a provider and edits those that list it. It overwrites
// nothing: if a file of the provider exists, nothing is changed.
func write(root, name string) error {
	p, err := find(name)
	if err != nil {
		return err
	}
	files, err := p.files(root)
	if err != nil {
		return err
	}
	edited, err := p.edits(root)
	if err != nil {
		return err
	}
	for path := range files {
		if _, err := os.Stat(filepath.Join(root, path)); !os.IsNotExist(err) {
			return fmt.Errorf("%s exists; nothing was changed", path)
		}
	}
	maps.Copy(files, edited)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := save(filepath.Join(root, path), files[path]); err != nil {
			return err
		}
		fmt.Println(path)
	}
	fmt.Printf("\nnext: make manifests && go test ./provider/%s\n", name)
	return nil
}

func save(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
