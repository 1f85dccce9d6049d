// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// state finds init functions and package-level variables that can change in the
// files of one package. A variable counts as constant if it is unexported and
// nothing in its package assigns to it or takes its address; or if it is an
// error value, an embedded file, or set by the linker.
func state(set *token.FileSet, files []*ast.File) []string {
	changed := assigned(files)
	var found []string
	for _, file := range files {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.Name == "init" && d.Recv == nil {
					found = append(found, fmt.Sprintf("%s: init function; call it from where it is needed", set.Position(d.Pos())))
				}
			case *ast.GenDecl:
				found = append(found, variables(set, file, d, changed)...)
			}
		}
	}
	return found
}

func variables(set *token.FileSet, file *ast.File, d *ast.GenDecl, changed map[string]bool) []string {
	// The linker sets the variables of the version package, by name.
	if d.Tok != token.VAR || file.Name.Name == "version" {
		return nil
	}
	var found []string
	for _, spec := range d.Specs {
		value := spec.(*ast.ValueSpec)
		for i, name := range value.Names {
			if why := mutable(name, value, i, changed); why != "" && !embedded(d, value) {
				found = append(found, fmt.Sprintf("%s: package-level variable %s %s", set.Position(name.Pos()), name.Name, why))
			}
		}
	}
	return found
}

// mutable says why a variable can change, or nothing.
func mutable(name *ast.Ident, spec *ast.ValueSpec, i int, changed map[string]bool) string {
	switch {
	case name.Name == "_":
		return ""
	case changed[name.Name]:
		return "is changed"
	case lives(spec):
		return "has state of its own"
	case name.IsExported() && !constant(spec, i):
		return "is exported, so that others can change it; make it a function"
	}
	return ""
}

// assigned collects the names of variables that the files assign to or take
// the address of. It knows no scopes: a local variable that shadows a package's
// is taken for it, and then wants another name.
func assigned(files []*ast.File) map[string]bool {
	changed := map[string]bool{}
	mark := func(e ast.Expr) {
		if name := root(e); name != "" {
			changed[name] = true
		}
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					each(n.Lhs, mark)
				}
			case *ast.IncDecStmt:
				mark(n.X)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					mark(n.X)
				}
			}
			return true
		})
	}
	return changed
}

func each(expressions []ast.Expr, f func(ast.Expr)) {
	for _, e := range expressions {
		f(e)
	}
}

// root is the name that an expression such as a.b[c] begins with.
func root(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return root(e.X)
	case *ast.IndexExpr:
		return root(e.X)
	case *ast.StarExpr:
		return root(e.X)
	case *ast.ParenExpr:
		return root(e.X)
	}
	return ""
}

// lives reports whether a value is a lock, a once-value or a counter, which change without assignment.
func lives(spec *ast.ValueSpec) bool {
	selector, ok := spec.Type.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"sync", "atomic"}, root(selector.X))
}

// constant reports whether an exported value is a variable only because the
// language has no constants of their type: errors, and an API group's names.
func constant(spec *ast.ValueSpec, i int) bool {
	if i >= len(spec.Values) {
		return false
	}
	switch v := spec.Values[i].(type) {
	case *ast.CallExpr:
		return slices.Contains([]string{"errors.New", "fmt.Errorf"}, dotted(v.Fun))
	case *ast.CompositeLit:
		return strings.HasPrefix(dotted(v.Type), "schema.Group")
	}
	return false
}

func dotted(e ast.Expr) string {
	if selector, ok := e.(*ast.SelectorExpr); ok {
		return root(selector.X) + "." + selector.Sel.Name
	}
	return ""
}

func embedded(d *ast.GenDecl, spec *ast.ValueSpec) bool {
	for _, group := range []*ast.CommentGroup{d.Doc, spec.Doc} {
		if group == nil {
			continue
		}
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, "//go:embed ") {
				return true
			}
		}
	}
	return false
}
