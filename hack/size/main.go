// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command size reports the largest files and functions of the module, without
// tests and generated code. It judges nothing: people do.
package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const shown = 8

type entry struct {
	name  string
	lines int
}

func main() {
	files, functions, err := measure(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
	report("files", files)
	report("functions", functions)
}

func measure(root string) (files, functions []entry, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		files = append(files, entry{path, set.File(file.Pos()).LineCount()})
		functions = append(functions, functionsOf(set, file, path)...)
		return nil
	})
	return files, functions, err
}

func functionsOf(set *token.FileSet, file *ast.File, path string) []entry {
	var found []entry
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			first, last := set.Position(f.Pos()).Line, set.Position(f.End()).Line
			found = append(found, entry{path + " " + f.Name.Name, last - first + 1})
		}
	}
	return found
}

func report(what string, entries []entry) {
	if len(entries) == 0 {
		return
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(b.lines-a.lines, strings.Compare(a.name, b.name))
	})
	fmt.Printf("largest of %d %s (median %d lines):\n", len(entries), what, entries[len(entries)/2].lines)
	for _, e := range entries[:min(shown, len(entries))] {
		fmt.Printf("  %4d  %s\n", e.lines, e.name)
	}
}
