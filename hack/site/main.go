// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Site builds a static site from the pages of the repository. A link to a page, a heading or a
// file that does not exist is an error.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	to := flag.String("to", filepath.Join("dist", "site"), "`directory` of the site; it is replaced")
	version := flag.String("version", "", "`version` that the pages show")
	flag.Parse()
	if err := run(".", *to, *version); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(root, to, version string) error {
	s, err := load(root)
	if err != nil {
		return err
	}
	s.version = version
	if err := s.check(); err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	n, err := s.write(to)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d pages; open %s\n", to, n, filepath.Join(to, "index.html"))
	return nil
}
