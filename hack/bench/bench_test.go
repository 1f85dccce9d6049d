// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestRatiosDoNotDependOnTheMachine(t *testing.T) {
	for reason, c := range map[string]struct {
		kind        kind
		now, before taken
		want        float64
	}{
		"the same on the same machine":        {work, taken{Value: 2, Speed: 1}, taken{Value: 2, Speed: 1}, 1},
		"twice the time on the same machine":  {work, taken{Value: 4, Speed: 1}, taken{Value: 2, Speed: 1}, 2},
		"twice the time at half the speed":    {work, taken{Value: 4, Speed: 1}, taken{Value: 2, Speed: 2}, 1},
		"the same time at twice the speed":    {work, taken{Value: 2, Speed: 2}, taken{Value: 2, Speed: 1}, 2},
		"half the rate on the same machine":   {rate, taken{Value: 25, Speed: 1}, taken{Value: 50, Speed: 1}, 2},
		"half the rate at half the speed":     {rate, taken{Value: 25, Speed: 1}, taken{Value: 50, Speed: 2}, 1},
		"a size is one on any machine":        {cost, taken{Value: 170, Speed: 1}, taken{Value: 170, Speed: 3}, 1},
		"more calls are more on any machine":  {cost, taken{Value: 6, Speed: 1}, taken{Value: 4, Speed: 3}, 1.5},
		"nothing is as much as nothing":       {cost, taken{Value: 0, Speed: 1}, taken{Value: 0, Speed: 1}, 1},
		"something is much more than nothing": {cost, taken{Value: 1, Speed: 1}, taken{Value: 0, Speed: 1}, muchMore},
		"less is better":                      {cost, taken{Value: 1, Speed: 1}, taken{Value: 2, Speed: 1}, 0.5},
	} {
		if got := (measure{kind: c.kind}).ratio(c.now, c.before); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", reason, got, c.want)
		}
	}
}

func TestOnlyWhatIsBeyondItsMarginIsWorse(t *testing.T) {
	m := measure{name: "x", margin: 0.25}
	for ratio, want := range map[float64]bool{0.5: false, 1: false, 1.24: false, 1.26: true} {
		if got := m.worse(ratio); got != want {
			t.Errorf("%v is worse: %v", ratio, got)
		}
		now := record{Values: map[string]taken{"x": {Ratio: ratio}}}
		if n := worse([]measure{m}, now); (n == 1) != want || (verdict(n, 0) != nil) != want {
			t.Errorf("with %v, %d are worse", ratio, n)
		}
	}
	if n := worse([]measure{m}, record{Values: map[string]taken{"x": {}}}); n != 0 {
		t.Error("what has no committed value is worse than it")
	}
	if verdict(0, 1) == nil {
		t.Error("an experiment failed, and the run did not")
	}
}

func TestTargets(t *testing.T) {
	for reason, c := range map[string]struct {
		m     measure
		value float64
		want  bool
	}{
		"no target":                 {measure{}, 100, true},
		"less than a time":          {measure{target: 2}, 1.9, true},
		"more than a time":          {measure{target: 2}, 2.1, false},
		"more than a rate":          {measure{kind: rate, target: 25}, 26, true},
		"less than a rate":          {measure{kind: rate, target: 25}, 24, false},
		"as large as a size may be": {measure{kind: cost, target: 170}, 170, true},
	} {
		if got := c.m.met(c.value); got != c.want {
			t.Errorf("%s: %v", reason, got)
		}
	}
}

func TestEveryMeasureHasAnExperimentAndANameOfItsOwn(t *testing.T) {
	known, names := map[string]bool{}, map[string]bool{}
	for _, e := range experiments() {
		if known[e.name] {
			t.Errorf("two experiments are called %q", e.name)
		}
		known[e.name] = true
	}
	all := measures()
	for _, m := range all {
		if names[m.name] {
			t.Errorf("two measures are called %q", m.name)
		}
		names[m.name] = true
		if m.margin <= 0 {
			t.Errorf("%s has no margin", m.name)
		}
	}
	for _, m := range all {
		if m.experiment == "" && (!names[m.over[0]] || !names[m.over[1]]) || m.experiment != "" && !known[m.experiment] {
			t.Errorf("nothing takes %q: %+v", m.name, m)
		}
	}
}

func TestRowsFitIntoEightyColumns(t *testing.T) {
	for _, m := range measures() {
		var out bytes.Buffer
		p := printer{&out}
		p.head()
		p.row(m, taken{Value: 123456, Target: m.target, Ratio: muchMore})
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

func TestRowsMarkWhatIsWorseAndWhatMissesItsTarget(t *testing.T) {
	m := measure{name: "plane ready", unit: "s", target: 2, margin: 0.15}
	for reason, c := range map[string]struct {
		t    taken
		want string
	}{
		"as before":               {taken{Value: 1.5, Ratio: 1.01}, "plane ready 1.50 s 2.00 1.01"},
		"worse":                   {taken{Value: 1.9, Ratio: 1.31}, "plane ready 1.90 s 2.00 1.31!"},
		"never measured":          {taken{Value: 1.9}, "plane ready 1.90 s 2.00 new"},
		"target missed as before": {taken{Value: 2.5, Ratio: 1}, "plane ready 2.50 s 2.00* 1.00"},
	} {
		var out bytes.Buffer
		printer{&out}.row(m, c.t)
		if got := strings.Join(strings.Fields(out.String()), " "); got != c.want {
			t.Errorf("%s: %q", reason, got)
		}
	}
}

func TestNumbersHaveThreeDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00", 0.01234: "0.0123", 0.5: "0.5", 1.234: "1.23", 12.34: "12.3", 203.9: "204", 142345: "142345"} {
		if got := number(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}

func TestBenchmarksAreParsed(t *testing.T) {
	got, err := parseBenchmarks([]byte(`goos: linux
BenchmarkPivot/500-2         	       1	2500000000 ns/op	       200.5 objects/s
BenchmarkAllocate/99-percent-of-a-16-2 	  141203	      7101 ns/op	    140818 allocations/s
BenchmarkLag/100 	       1	1000000000 ns/op	         0.18 s-lag-p50
    bench.go:12: platform, per machine:
PASS
`))
	want := values{
		"Pivot/500 s/op": 2.5, "Pivot/500 objects/s": 200.5,
		"Allocate/99-percent-of-a-16 s/op": 7101e-9, "Allocate/99-percent-of-a-16 allocations/s": 140818,
		"Lag/100 s/op": 1, "Lag/100 s-lag-p50": 0.18,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, out := range []string{"", "PASS\n", "BenchmarkX 1 many ns/op\n"} {
		if got, err := parseBenchmarks([]byte(out)); err == nil {
			t.Errorf("%q has %v", out, got)
		}
	}
}

func TestQuotientsOfCountsDoNotDependOnTheMachine(t *testing.T) {
	now := record{Values: map[string]taken{}}
	for _, n := range tenantSizes() { // the machine was slower while there were few
		now.Values[tenantLabel(n)+": calls"] = taken{Value: 40, Speed: float64(n)}
		now.Values[tenantLabel(n)+": CPU"] = taken{Value: 100 / float64(n), Speed: float64(n)}
	}
	now.divide(measures(), record{}, printer{&bytes.Buffer{}})
	for _, what := range []string{"calls", "CPU"} {
		if got := now.Values["tenants: "+what+" each, 200 over 20"].Value; math.Abs(got-1) > 1e-9 {
			t.Errorf("%s: %v, want 1", what, got)
		}
	}
}

func TestExactlyOneBenchmarkIsChosen(t *testing.T) {
	if got, want := exactly("PendingToRunning/100"), "^BenchmarkPendingToRunning$/^100$"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestPhasesTakeUntilTheNextOne(t *testing.T) {
	got := phaseTimes(strings.NewReader(`{"type":"step","elapsed":1,"message":"local plane"}
{"type":"phase","phase":"Pending","elapsed":3,"message":"Pending"}
{"type":"machine","phase":"ProvisioningMachines","elapsed":3.25,"message":"x"}
{"type":"phase","phase":"ProvisioningMachines","elapsed":3.5,"message":"ProvisioningMachines"}
{"type":"phase","phase":"Pivoting","elapsed":5,"message":"Pivoting"}
{"type":"ready","phase":"Ready","elapsed":9,"message":"Ready"}
`))
	if diff := cmp.Diff(values{"Pending": 0.5, "ProvisioningMachines": 1.5, "ConfiguringTalos": 0, "BootstrappingCluster": 0, "InstallingAddons": 0, "Pivoting": 4}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRecordsAreMergedAndReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x", "run.json")
	if r, err := readRecord(path); err != nil || len(r.Values) != 0 {
		t.Errorf("without a file: %+v, %v", r, err)
	}
	before := record{Commit: "a", Values: map[string]taken{"kept": {Value: 1, Speed: 2}, "replaced": {Value: 1, Speed: 2}}}
	later := record{Commit: "b", Time: time.Unix(0, 0).UTC(), Values: map[string]taken{"replaced": {Value: 3, Speed: 4, Ratio: 1.5}}}
	if err := before.merged(later).write(path); err != nil {
		t.Fatal(err)
	}
	got, err := readRecord(path)
	want := record{Commit: "b", Time: later.Time, Values: map[string]taken{"kept": {Value: 1, Speed: 2}, "replaced": {Value: 3, Speed: 4}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestMeasuresAreChosenByName(t *testing.T) {
	chosen, err := choose(measures(), regexp.MustCompile("^pivot"))
	if err != nil || len(chosen) != 2 {
		t.Errorf("%d are chosen: %v", len(chosen), err)
	}
	if _, err := choose(measures(), regexp.MustCompile("no such")); err == nil {
		t.Error("none is chosen without an error")
	}
	for _, args := range [][]string{{"-only", "("}, {"stray"}, {"-no-such-flag"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}

func TestCalibrationIsAboutTheSameTwice(t *testing.T) {
	if a, b := calibrate(), calibrate(); a <= 0 || a/b > 10 || b/a > 10 {
		t.Errorf("%v and %v", a, b)
	}
}
