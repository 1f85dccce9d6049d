// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// words returns what an expression can be: a literal, a constant, or a field of a known
// value with a word behind it.
func (r *reasons) words(f source, e ast.Expr) (found []string) {
	switch e := e.(type) {
	case *ast.Ident:
		return r.values[f.folder()+"."+e.Name]
	case *ast.SelectorExpr:
		return append(r.values[nameOf(e.X)+"."+e.Sel.Name], r.values["field "+e.Sel.Name]...)
	case *ast.BinaryExpr:
		for _, front := range r.words(f, e.X) {
			for _, back := range r.words(f, e.Y) {
				found = append(found, front+back)
			}
		}
		return found
	}
	return literals(e)
}

// camel is the form of a reason.
var camel = regexp.MustCompile(`^[A-Z][A-Za-z0-9]+$`)

// ofPods are reasons of Kubernetes: of containers that wait.
var ofPods = []string{"ErrImagePull", "CrashLoopBackOff"}

// isReason reports whether a name is that of a reason: reason, FailureReason, reasonReady.
func isReason(name string) bool {
	return strings.HasPrefix(name, "reason") || strings.HasPrefix(name, "Reason") || strings.HasSuffix(name, "Reason")
}

func named(e ast.Expr) bool { return isReason(nameOf(e)) }

// nameOf returns the last name of an expression, or nothing.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return nameOf(e.X)
	}
	return ""
}

// literals returns the value of a string literal, and of those among the arguments of a call.
func literals(e ast.Expr) (found []string) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if value, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			found = []string{value}
		}
	case *ast.CallExpr:
		for _, arg := range e.Args {
			found = append(found, literals(arg)...)
		}
	}
	return found
}
