// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Reasons returns the reasons of conditions, events and errors that the Go files of root give,
// each with the files that do. Simulators, tests and what supports them do not count.
// A reason is a word in CamelCase at a place with the name reason: a constant, a field, a
// parameter, a result or a variable. The names decide, not the types, so that nothing has to
// be compiled.
func Reasons(root string) (map[string][]string, error) {
	r := reasons{found: map[string][]string{}, values: map[string][]string{}, indexes: map[string][]int{}}
	for _, folder := range []string{"api", "provider", "internal"} {
		if err := r.load(root, folder); err != nil {
			return nil, err
		}
	}
	for _, f := range r.files {
		r.declared(f)
	}
	for _, f := range r.files {
		r.given(f)
	}
	return r.found, nil
}

// reasons is one search for reasons.
type reasons struct {
	files   []source
	found   map[string][]string
	values  map[string][]string // of constants, by package and name
	indexes map[string][]int    // of arguments and fields, by "func NAME" or "struct NAME"
}

// source is a Go file.
type source struct {
	name   string
	syntax *ast.File
}

// folder is the name of the file's package, as others import it.
func (s source) folder() string { return path.Base(path.Dir(s.name)) }

// load parses the files below a folder.
func (r *reasons) load(root, folder string) error {
	return filepath.WalkDir(filepath.Join(root, folder), func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return skipSupport(e, err)
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if !ast.IsGenerated(syntax) {
			r.files = append(r.files, source{filepath.ToSlash(name), syntax})
		}
		return err
	})
}

// supports are folders of what no condition of a cluster comes from.
var supports = []string{"testdata", "sim", "matrix", "inmemory", "providertest", "providerbinary", "controllertest", "crashtest", "arch", "reason", "diagnosis"}

func skipSupport(e fs.DirEntry, err error) error {
	if err == nil && e.IsDir() && slices.Contains(supports, e.Name()) {
		return fs.SkipDir
	}
	return err
}

// declared records constants, and which arguments and fields are reasons.
func (r *reasons) declared(f source) {
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) {
					key := f.folder() + "." + name.Name
					r.values[key] = append(r.values[key], literals(n.Values[i])...)
				}
			}
		case *ast.KeyValueExpr:
			if nameOf(n.Key) == "Prefix" { // of the reasons of a kind of request
				r.values["field Prefix"] = append(r.values["field Prefix"], literals(n.Value)...)
			}
		case *ast.FuncDecl:
			r.index("func "+n.Name.Name, n.Type.Params)
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				r.index("struct "+n.Name.Name, s.Fields)
			}
		}
		return true
	})
}

// index records the places of a list that are reasons.
func (r *reasons) index(name string, fields *ast.FieldList) {
	at := 0
	for _, f := range fields.List {
		for _, n := range f.Names {
			if isReason(n.Name) && !slices.Contains(r.indexes[name], at) {
				r.indexes[name] = append(r.indexes[name], at)
			}
			at++
		}
		if len(f.Names) == 0 {
			at++
		}
	}
}

// given collects the reasons of a file.
func (r *reasons) given(f source) {
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			r.collect(f, named(n.Key), n.Value)
		case *ast.ValueSpec:
			for i, value := range n.Values {
				r.collect(f, isReason(n.Names[min(i, len(n.Names)-1)].Name), value)
			}
		case *ast.AssignStmt:
			for i, value := range n.Rhs {
				r.collect(f, named(n.Lhs[i]), value)
			}
		case *ast.CallExpr:
			r.arguments(f, "func "+nameOf(n.Fun), n.Args)
		case *ast.CompositeLit:
			r.elements(f, n)
		case *ast.FuncDecl:
			r.results(f, n)
		}
		return true
	})
}

func (r *reasons) arguments(f source, name string, args []ast.Expr) {
	indexes := r.indexes[name]
	if name == "func Eventf" { // of an event recorder: object, related object, type, reason
		indexes = []int{3}
	}
	for i, arg := range args {
		r.collect(f, slices.Contains(indexes, i), arg)
	}
}

// elements collects from a struct without keys, and from a list of such structs.
func (r *reasons) elements(f source, lit *ast.CompositeLit) {
	if list, ok := lit.Type.(*ast.ArrayType); ok {
		for _, e := range lit.Elts {
			if inner, ok := e.(*ast.CompositeLit); ok && inner.Type == nil {
				r.arguments(f, "struct "+nameOf(list.Elt), inner.Elts)
			}
		}
		return
	}
	r.arguments(f, "struct "+nameOf(lit.Type), lit.Elts)
}

// results collects from the returns of a function that, or whose result, is named reason.
func (r *reasons) results(f source, fn *ast.FuncDecl) {
	if fn.Type.Results == nil || fn.Body == nil {
		return
	}
	r.index("returns of "+fn.Name.Name, fn.Type.Results)
	if isReason(fn.Name.Name) && fn.Type.Results.NumFields() == 1 {
		r.indexes["returns of "+fn.Name.Name] = []int{0}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if back, ok := n.(*ast.ReturnStmt); ok {
			r.arguments(f, "returns of "+fn.Name.Name, back.Results)
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
}

// collect takes the words of an expression, if it is one of a reason.
func (r *reasons) collect(f source, wanted bool, e ast.Expr) {
	if !wanted {
		return
	}
	for _, w := range r.words(f, e) {
		if camel.MatchString(w) && !slices.Contains(ofPods, w) && !slices.Contains(r.found[w], f.name) {
			r.found[w] = append(r.found[w], f.name)
		}
	}
}
