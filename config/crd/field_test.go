// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/butlerdotdev/butler/config/crd"
)

// root of the module, seen from this package.
const root = "../.."

// coming are the capabilities that fields may wait for. A row that waits is a
// debt, written down; a capability that is done leaves this list.
var coming = []string{"steady state"}

func TestEveryFieldHasARowThatSaysWhereItIsTested(t *testing.T) {
	rows := fieldRows(t)
	for _, d := range definitions(t) {
		for _, path := range specFields(d) {
			key := d.Spec.Names.Kind + "\t" + path
			where, ok := rows[key]
			if !ok {
				t.Errorf("testdata/fields.tsv has no row for\n%s", key)
			}
			if why := checkRow(where); ok && why != "" {
				t.Errorf("%s: %s", key, why)
			}
			delete(rows, key)
		}
	}
	for key := range rows {
		t.Errorf("testdata/fields.tsv has a row for what is no field: %s", key)
	}
}

func TestARowNamesATestThatExistsOrWhatTheFieldWaitsFor(t *testing.T) {
	for where, wrong := range map[string]bool{
		"config/crd/field_test.go TestARowNamesATestThatExistsOrWhatTheFieldWaitsFor": false,
		"config/crd/field_test.go TestNothing":                                        true,
		"config/crd/field_test.go checkRow":                                           true,
		"config/crd/missing_test.go TestNothing":                                      true,
		"config/crd/crd.go All":                                                       true,
		"not yet: steady state":                                                       false,
		"not yet: holidays":                                                           true,
		"":                                                                            true,
	} {
		if why := checkRow(where); (why != "") != wrong {
			t.Errorf("%q: got %q", where, why)
		}
	}
}

func definitions(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	all, err := crd.All()
	if err != nil || len(all) == 0 {
		t.Fatalf("no definitions: %v", err)
	}
	return all
}

// fieldRows reads testdata/fields.tsv: kind, path, and where it is tested.
func fieldRows(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "fields.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		cells := strings.Split(lines.Text(), "\t")
		if len(cells) != 3 {
			t.Fatalf("testdata/fields.tsv: %q has not three columns", lines.Text())
		}
		rows[cells[0]+"\t"+cells[1]] = cells[2]
	}
	return rows
}

// checkRow says what is wrong with the third column of a row.
func checkRow(where string) string {
	if capability, ok := strings.CutPrefix(where, "not yet: "); ok {
		if !slices.Contains(coming, capability) {
			return "waits for " + capability + ", which is not planned"
		}
		return ""
	}
	file, name, _ := strings.Cut(where, " ")
	if !strings.HasSuffix(file, "_test.go") || !strings.HasPrefix(name, "Test") {
		return "names no test: " + where
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
	if err != nil {
		return err.Error()
	}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == name {
			return ""
		}
	}
	return file + " has no " + name
}
