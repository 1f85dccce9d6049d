// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command render writes the charts of this project as plain objects, for those
// who install without Helm: one file per chart in manifests/controllers, and a
// layout for kustomize in config.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	version := flag.String("version", "v0.0.0", "`version` of the charts and of their images")
	flag.Parse()
	if flag.NArg() > 0 {
		fail(fmt.Errorf("unexpected argument %q", flag.Arg(0)))
	}
	files, err := render(".", *version)
	if err != nil {
		fail(err)
	}
	if err := write(".", files); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "render:", err)
	os.Exit(1)
}

// whole are the folders that hold nothing but what is rendered.
func whole() []string { return []string{"manifests/controllers", "config/manager", "config/rbac"} }

// write replaces what was rendered before.
func write(root string, files map[string]string) error {
	for _, dir := range whole() {
		if err := os.RemoveAll(filepath.Join(root, dir)); err != nil {
			return err
		}
	}
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
