// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestModuleKeepsImportRules(t *testing.T) {
	packages, err := Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 10 {
		t.Fatalf("only %d packages listed", len(packages))
	}
	for _, violation := range Violations(packages, allRules(), guards) {
		t.Error(violation)
	}
}

func TestModuleKeepsSourceRules(t *testing.T) {
	breaches, err := Source("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, breach := range breaches {
		t.Error(breach)
	}
}

func TestViolations(t *testing.T) {
	const kubevirt = "kubevirt.io/api/core/v1"
	cases := map[string]struct {
		pkg  Package
		want string // part of the only sentence; empty: none
	}{
		"a driver imports the contract":          {pkg: uses("provider/harvester", Module+"provider")},
		"a driver imports its SDK":               {pkg: uses("provider/harvester", kubevirt)},
		"a driver's test imports its simulator":  {pkg: tests("provider/harvester", Module+"internal/sim/harvester")},
		"every test may use the plane":           {pkg: tests("internal/ui", Module+"internal/plane/planetest")},
		"cmd imports drivers":                    {pkg: uses("cmd/butleradm", Module+"provider/harvester")},
		"a simulator imports a driver's SDK":     {pkg: uses("internal/sim/harvester", kubevirt)},
		"the components import Kubernetes":       {pkg: uses("internal/plane/component", "k8s.io/kubernetes/cmd/kube-apiserver/app")},
		"a package without a rule":               {uses("internal/novel"), "has no rule"},
		"a subfolder without a rule":             {uses("internal/bootstrap/novel"), "has no rule"},
		"a driver imports another driver":        {uses("provider/harvester", Module+"provider/inmemory"), "rule does not allow"},
		"a driver imports its simulator":         {uses("provider/harvester", Module+"internal/sim/harvester"), "rule does not allow"},
		"a controller imports a driver":          {uses("internal/controller/machinerequest", Module+"provider/harvester"), "rule does not allow"},
		"bootstrap imports the contract":         {uses("internal/bootstrap", Module+"provider"), "rule does not allow"},
		"a simulator imports a controller":       {uses("internal/sim/talos", Module+"internal/controller/clusterbootstrap"), "rule does not allow"},
		"a simulator imports a driver":           {uses("internal/sim/harvester", Module+"provider/harvester"), "rule does not allow"},
		"the command imports a driver":           {uses("internal/cli", Module+"provider/harvester"), "rule does not allow"},
		"the command links the components":       {uses("internal/cli", Module+"internal/plane/component"), "rule does not allow"},
		"a test links the components":            {tests("internal/cli", Module+"internal/plane/component"), "rule does not allow"},
		"the API imports more than its types":    {uses("api/v1alpha1", "sigs.k8s.io/controller-runtime/pkg/scheme"), "allows only"},
		"the plane imports Kubernetes":           {uses("internal/plane", "k8s.io/kubernetes/pkg/api"), "only internal/plane/component may"},
		"bootstrap imports an SDK":               {uses("internal/bootstrap", kubevirt), "only provider/harvester"},
		"a test imports an assertion library":    {tests("internal/pki", "github.com/stretchr/testify/require"), "only"},
		"a prefix is not a folder":               {pkg: uses("internal/bootstrap", "kubevirt.io.example.com/x")},
		"a package whose name says nothing":      {uses("internal/cli/util"), `not "util"`},
		"a package in a folder that says naught": {uses("hack/common/x"), `not "common"`},
	}
	for reason, c := range cases {
		t.Run(reason, func(t *testing.T) {
			expectOne(t, Violations([]Package{c.pkg}, allRules(), guards), c.want)
		})
	}
}

func uses(path string, imports ...string) Package { return Package{Path: path, Imports: imports} }

func tests(path string, imports ...string) Package { return Package{Path: path, TestImports: imports} }

// expectOne wants exactly one sentence with the given part, or none.
func expectOne(t *testing.T, got []string, want string) {
	t.Helper()
	if want == "" && len(got) == 0 {
		return
	}
	if want == "" || len(got) != 1 || !strings.Contains(got[0], want) {
		t.Errorf("got %q, want one sentence with %q", got, want)
	}
}

func TestState(t *testing.T) {
	cases := map[string]struct{ source, want string }{
		"an error value":                {"var ErrGone = errors.New(``)", ""},
		"an interface assertion":        {"var _ error = (*T)(nil)", ""},
		"a table that is not written":   {"var table = map[string]int{}\nfunc f() int { return table[``] }", ""},
		"an embedded file":              {"//go:embed x\nvar Files embed.FS", ""},
		"an API group":                  {"var GroupVersion = schema.GroupVersion{}", ""},
		"a local variable":              {"func f() { a := 1; a = 2; _ = a }", ""},
		"a method named init":           {"func (T) init() {}", ""},
		"an init function":              {"func init() {}", "init function"},
		"a table that is written":       {"var table = map[string]int{}\nfunc f() { table[``] = 1 }", "is changed"},
		"a field that is written":       {"var config T\nfunc f() { config.a.b = 1 }", "is changed"},
		"a counter":                     {"var n int\nfunc f() { n++ }", "is changed"},
		"a variable bound to a pointer": {"var debug bool\nfunc f() { bind(&debug) }", "is changed"},
		"a lock":                        {"var mu sync.Mutex", "state of its own"},
		"an atomic counter":             {"var n atomic.Int64", "state of its own"},
		"an exported variable":          {"var Default = T{}", "is exported"},
	}
	for reason, c := range cases {
		t.Run(reason, func(t *testing.T) {
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, "x.go", "package x\n"+c.source, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			expectOne(t, state(set, []*ast.File{file}), c.want)
		})
	}
}

func TestHeaded(t *testing.T) {
	cases := map[string]struct {
		content string
		want    bool
	}{
		"plain":            {Header + "package x\n", true},
		"generated":        {"//go:build !ignore_autogenerated\n\n" + Header + "package x\n", true},
		"without header":   {"package x\n", false},
		"no empty line":    {strings.TrimSuffix(Header, "\n") + "package x\n", false},
		"another license":  {strings.Replace(Header, "Apache-2.0", "MIT", 1) + "package x\n", false},
		"header too late":  {"// Hello.\n\n" + Header + "package x\n", false},
		"without the year": {strings.Replace(Header, "2026 ", "", 1) + "package x\n", false},
	}
	for reason, c := range cases {
		t.Run(reason, func(t *testing.T) {
			if got := headed(c.content); got != c.want {
				t.Errorf("headed = %v, want %v", got, c.want)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	got, err := decode(strings.NewReader(`{"ImportPath":"` + Module + `a","Imports":["b"],"TestImports":["c"],"XTestImports":["d"]} {"ImportPath":"e"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Package{{Path: "a", Imports: []string{"b"}, TestImports: []string{"c", "d"}}, {Path: "e"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
