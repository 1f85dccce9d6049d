// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const page = "../../docs/contributing/provider-contract.md"

func TestPageAndCodeListTheSameRules(t *testing.T) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.+) \\| (.+) \\|$")
	var listed []string
	for _, match := range row.FindAllStringSubmatch(string(content), -1) {
		listed = append(listed, match[1])
	}
	if diff := cmp.Diff(Rules(), listed); diff != "" {
		t.Errorf("rules of the code (-) and of the page (+)\n%s", diff)
	}
}

func TestEveryFaultIsOnThePage(t *testing.T) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Faults() {
		if !strings.Contains(string(content), "| "+string(f)+" |") {
			t.Errorf("the page lacks the fault %q", f)
		}
	}
}

func TestWhatIsNotExercisedMustBeArguedAndRecorded(t *testing.T) {
	record := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(record, []byte("| in-memory | labels | it has none |\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		unexercised map[string]string
		record      string
		want        string // part of the only flaw; empty: none
	}{
		"recorded":    {map[string]string{"labels": "it has none"}, record, ""},
		"other words": {map[string]string{"labels": "no time"}, record, "lacks the row"},
		"no page":     {map[string]string{"labels": "it has none"}, "", "Record must name"},
		"no rule":     {map[string]string{"lables": "it has none"}, record, "no rule"},
		"no reason":   {map[string]string{"labels": " "}, record, "no reason"},
	}
	for reason, c := range cases {
		s, _ := inMemory()
		s.Unexercised, s.Record = c.unexercised, c.record
		flaws := s.flaws()
		if c.want == "" && len(flaws) > 0 || c.want != "" && (len(flaws) == 0 || !strings.Contains(flaws[0], c.want)) {
			t.Errorf("%s: %v", reason, flaws)
		}
	}
}

func TestARuleThatIsNotExercisedIsNamed(t *testing.T) {
	s, _ := inMemory()
	s.Unexercised = map[string]string{"labels": "it has none"}
	if !strings.Contains(s.table(), "| in-memory | labels | it has none |") {
		t.Errorf("the table is\n%s", s.table())
	}
	results := Check(t.Context(), s)
	i := slices.IndexFunc(results, func(r Result) bool { return r.Rule == "labels" })
	if i < 0 || results[i].Unexercised != "it has none" {
		t.Errorf("results are %+v", results)
	}
}

func TestAPlatformWithLoadBalancersCannotDenyThem(t *testing.T) {
	s, _ := inMemory()
	s.LoadBalancers, s.WithoutLoadBalancers = nil, "it is on-premises"
	for _, r := range Check(t.Context(), s) {
		if balancers := strings.HasPrefix(r.Rule, "load balancer"); balancers != (len(r.Failures) > 0) {
			t.Errorf("%s: %v", r.Rule, r.Failures)
		}
	}
}
