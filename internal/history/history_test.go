// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const (
	first  = v1alpha1.BootstrapProvisioningMachines
	second = v1alpha1.BootstrapInstallingAddons
)

var ha = Kind{Provider: v1alpha1.ProviderAWS, Topology: v1alpha1.TopologyHA}

func run(k Kind, seconds ...float64) Run {
	r := Run{Kind: k, Ended: time.Unix(1, 0).UTC()}
	for i, s := range seconds {
		r.Phases = append(r.Phases, Phase{[]v1alpha1.ClusterBootstrapPhase{first, second}[i], s})
	}
	return r
}

func TestWhatIsRecordedIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	if got, err := Load(dir); err != nil || got != nil {
		t.Fatalf("without a record: %v, %v", got, err)
	}
	want := []Run{run(ha, 1), run(ha, 2, 3)}
	for _, r := range want {
		if err := Append(dir, r); err != nil {
			t.Fatal(err)
		}
	}
	half, err := os.OpenFile(filepath.Join(dir, file), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := half.WriteString(`{"ended":`); err != nil || half.Close() != nil {
		t.Fatal(err)
	}
	got, err := Load(dir)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestEstimatesAreOfRunsOfTheSameKind(t *testing.T) {
	rehearsed := ha
	rehearsed.Profile = "instant"
	for reason, c := range map[string]struct {
		runs  []Run
		want  []Estimate
		total float64
	}{
		"nothing is recorded":       {nil, nil, 0},
		"only others are recorded":  {[]Run{run(rehearsed, 5, 5)}, nil, 0},
		"one run has no spread":     {[]Run{run(ha, 5, 7)}, []Estimate{{first, 5, 5, 5, 1}, {second, 7, 7, 7, 1}}, 12},
		"the middle of three":       {[]Run{run(ha, 9), run(rehearsed, 1), run(ha, 2), run(ha, 3)}, []Estimate{{first, 3, 2, 9, 3}}, 3},
		"between the middle of two": {[]Run{run(ha, 2, 1), run(ha, 4, 1)}, []Estimate{{first, 3, 2, 4, 2}, {second, 1, 1, 1, 2}}, 4},
		"a phase that one lacks":    {[]Run{run(ha, 2), run(ha, 4, 1)}, []Estimate{{first, 3, 2, 4, 2}, {second, 1, 1, 1, 1}}, 3.5},
	} {
		if diff := cmp.Diff(c.want, Estimates(c.runs, ha)); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
		if got, ok := Total(c.runs, ha); got.Median != c.total || ok != (c.want != nil) {
			t.Errorf("%s: in total %+v", reason, got)
		}
	}
}

func TestWhatRemainsIsTheRestOfEarlierRuns(t *testing.T) {
	rehearsed := KindOf(ha.Provider, ha.Topology, true, "")
	three := []Run{run(ha, 4, 10), run(rehearsed, 90, 90), run(ha, 6, 12), run(ha, 9, 8)}
	for reason, c := range map[string]struct {
		runs []Run
		now  Phase
		want *Remaining
	}{
		"nothing is recorded":      {nil, Phase{first, 1}, nil},
		"only others are recorded": {three[1:2], Phase{first, 1}, nil},
		"no run had the phase":     {three, Phase{v1alpha1.BootstrapPivoting, 1}, nil},
		"in the first phase":       {three, Phase{first, 3}, &Remaining{Total: Estimate{v1alpha1.BootstrapReady, 14, 11, 15, 3}, Phases: []Estimate{{first, 3, 1, 6, 3}, {second, 10, 8, 12, 3}}}},
		"longer than most":         {three, Phase{first, 8}, &Remaining{Total: Estimate{v1alpha1.BootstrapReady, 10, 9, 12, 3}, Phases: []Estimate{{first, 0, 0, 1, 3}, {second, 10, 8, 12, 3}}}},
		"longer than all":          {three, Phase{second, 30}, &Remaining{Total: Estimate{v1alpha1.BootstrapReady, 0, 0, 0, 3}, Phases: []Estimate{{second, 0, 0, 0, 3}}, Overdue: true}},
	} {
		if diff := cmp.Diff(c.want, NewRemaining(c.runs, ha, c.now)); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
	}
	if three[0].Phases[0].Seconds != 4 {
		t.Error("the record was changed")
	}
}

func TestOldRunsDoNotCount(t *testing.T) {
	runs := []Run{run(ha, 1000)}
	for range most {
		runs = append(runs, run(ha, 1))
	}
	if got := Estimates(runs, ha); got[0].Most != 1 || got[0].Runs != most {
		t.Errorf("%+v", got)
	}
}

func TestAPhaseThatIsEnteredAgainContinues(t *testing.T) {
	begin := time.Unix(100, 0)
	var s Stopwatch
	for _, step := range []struct {
		phase v1alpha1.ClusterBootstrapPhase
		after time.Duration
	}{{"", 0}, {first, 0}, {first, time.Second}, {second, 3 * time.Second}, {first, 4 * time.Second}, {second, 6 * time.Second}, {v1alpha1.BootstrapReady, 7 * time.Second}} {
		s.See(step.phase, begin.Add(step.after))
	}
	if diff := cmp.Diff([]Phase{{first, 5}, {second, 2}}, s.Phases()); diff != "" {
		t.Error(diff)
	}
}
