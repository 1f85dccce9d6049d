// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package arch holds the rules of who may import whom, and the few rules on
// source files that no linter knows. Its tests hold the module to them.
package arch

import (
	"fmt"
	"slices"
	"strings"
)

// Module is the path that all packages of this repository begin with.
const Module = "github.com/butlerdotdev/butler/"

// Package is what the rules look at: paths of this module's packages are
// written without Module in front.
type Package struct {
	Path        string
	Imports     []string
	TestImports []string
}

// Rule says what the packages of one pattern may import. A pattern is a path,
// or a path with /... for everything at and below it.
type Rule struct {
	Packages string
	// May lists patterns of this module's packages; a package may always import
	// those of its own rule.
	May []string
	// InTests lists further patterns for test files.
	InTests []string
	// Only, if set, lists the modules outside the standard library that may be
	// imported; otherwise every one that Guarded does not forbid.
	Only []string
}

// Guard keeps the packages below Prefix to a few importers.
type Guard struct {
	Prefix    string
	Importers []string
}

// Violations checks the packages against the rules and returns a sentence for
// each breach, and for each package that no rule covers.
func Violations(packages []Package, rules []Rule, guards []Guard) []string {
	var found []string
	for _, p := range packages {
		found = append(found, names(p)...)
		rule, ok := ruleFor(p.Path, rules)
		if !ok {
			found = append(found, fmt.Sprintf("%s has no rule: add one to internal/arch/rules.go", p.Path))
			continue
		}
		found = append(found, imports(p, p.Imports, rule, rule.May, guards)...)
		inTests := slices.Concat(rule.May, rule.InTests, testSupport)
		found = append(found, imports(p, p.TestImports, rule, inTests, guards)...)
	}
	return found
}

// ruleFor returns the rule with the longest pattern that covers the path.
func ruleFor(path string, rules []Rule) (Rule, bool) {
	var best Rule
	for _, rule := range rules {
		if covers(rule.Packages, path) && len(rule.Packages) > len(best.Packages) {
			best = rule
		}
	}
	return best, best.Packages != ""
}

func imports(p Package, imported []string, rule Rule, may []string, guards []Guard) []string {
	var found []string
	for _, path := range imported {
		if why := forbidden(p.Path, path, rule, may, guards); why != "" {
			found = append(found, fmt.Sprintf("%s imports %s: %s", p.Path, path, why))
		}
	}
	return found
}

// forbidden says why an import breaks a rule, or nothing.
func forbidden(importer, imported string, rule Rule, may []string, guards []Guard) string {
	if own, ok := strings.CutPrefix(imported, Module); ok {
		if covers(rule.Packages, own) || coversAny(may, own) {
			return ""
		}
		return "its rule does not allow this"
	}
	if rule.Only != nil && !standard(imported) && !coversAny(rule.Only, imported) {
		return "its rule allows only " + strings.Join(rule.Only, ", ")
	}
	for _, guard := range guards {
		if covers(guard.Prefix+"/...", imported) && !coversAny(guard.Importers, importer) {
			return "only " + strings.Join(guard.Importers, ", ") + " may"
		}
	}
	return ""
}

// names rejects the package names that say nothing.
func names(p Package) []string {
	var found []string
	for element := range strings.SplitSeq(p.Path, "/") {
		if slices.Contains(emptyNames, element) {
			found = append(found, fmt.Sprintf("%s: a package is named after what it holds, not %q", p.Path, element))
		}
	}
	return found
}

// standard reports whether a path is of the standard library: it has no dot in front.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func coversAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return covers(pattern, path) })
}

func covers(pattern, path string) bool {
	prefix, subtree := strings.CutSuffix(pattern, "/...")
	return path == prefix || subtree && strings.HasPrefix(path, prefix+"/")
}
