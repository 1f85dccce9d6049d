// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Header is how every Go file begins; generated files may have a line of their
// own in front of it.
const Header = `// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

`

// Source checks the Go files below root: the header of all of them; and, tests
// and generated code apart, that there is no init function and no package-level
// variable that can change. It returns a sentence for each breach.
func Source(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "bin" || name == "testdata") {
			return filepath.SkipDir
		}
		breaches, err := folder(path)
		found = append(found, breaches...)
		return err
	})
	return found, err
}

func folder(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var found []string
	var files []*ast.File
	set := token.NewFileSet()
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if !headed(string(content)) {
			found = append(found, fmt.Sprintf("%s: does not begin with the two SPDX lines and an empty one", path))
		}
		file, err := parser.ParseFile(set, path, content, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(path, "_test.go") && !ast.IsGenerated(file) {
			files = append(files, file)
		}
	}
	return append(found, state(set, files)...), nil
}

func headed(content string) bool {
	if strings.HasPrefix(content, Header) {
		return true
	}
	// controller-gen puts its build constraint in front, with an empty line.
	_, rest, ok := strings.Cut(content, "\n\n")
	return ok && strings.HasPrefix(content, "//go:build ") && strings.HasPrefix(rest, Header)
}
