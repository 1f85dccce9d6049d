// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/history"
)

var begin = time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)

func at(second int) time.Time { return begin.Add(time.Duration(second) * time.Second) }

// run is a small bootstrap: a waits for nothing, b for a, and c ends early.
func run() []Entry {
	return []Entry{
		{at(0), KindPhase, "", "ProvisioningMachines"}, {at(0), KindMachine, "cp-0", "Pending"}, {at(1), KindMachine, "cp-0", "Creating"},
		{at(10), KindMachine, "cp-0", "Ready"}, {at(10), KindPhase, "", "InstallingAddons"},
		{at(10), KindAddon, "a", "Installing"}, {at(10), KindAddon, "b", "Pending"}, {at(10), KindAddon, "c", "Installing"},
		{at(12), KindAddon, "c", "Ready"}, {at(15), KindAddon, "a", "Ready"}, {at(15), KindAddon, "b", "Installing"},
		{at(20), KindAddon, "b", "Ready"}, {at(20), KindPhase, "", "Ready"}, {at(99), KindAddon, "a", "Waiting"},
	}
}

func TestCriticalPathIsWhatTheRunWaitedFor(t *testing.T) {
	line := New("dev", run(), at(500))
	if !line.Ready || line.End != at(20) {
		t.Fatalf("it ends at %s", line.End)
	}
	critical := map[string]bool{}
	for _, r := range line.Rows {
		for _, s := range r.Spans {
			critical[r.Name+" "+s.State] = s.Critical
		}
	}
	for name, want := range map[string]bool{"cp-0 Pending": true, "cp-0 Creating": true, "a Installing": true, "b Installing": true, "b Pending": false, "c Installing": false} {
		if critical[name] != want {
			t.Errorf("%s: critical %t, want %t", name, critical[name], want)
		}
	}
}

func TestPhasesAreAddedUp(t *testing.T) {
	const machines, addons = v1alpha1.BootstrapProvisioningMachines, v1alpha1.BootstrapInstallingAddons
	again := slices.Concat(run()[:12], []Entry{{at(16), KindPhase, "", string(machines)}, {at(18), KindPhase, "", string(addons)}})
	for reason, c := range map[string]struct {
		entries []Entry
		want    []history.Phase
	}{
		"nothing is recorded":       {nil, nil},
		"it is Ready":               {run(), []history.Phase{{Name: machines, Seconds: 10}, {Name: addons, Seconds: 10}}},
		"a phase was entered again": {again, []history.Phase{{Name: machines, Seconds: 12}, {Name: addons, Seconds: 8}}},
	} {
		if diff := cmp.Diff(c.want, New("dev", c.entries, at(20)).Phases()); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
	}
}

func TestTextFitsIntoEightyColumns(t *testing.T) {
	var out bytes.Buffer
	if err := New("dev", run(), at(500)).Text(&out); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if len([]rune(strings.TrimRight(line, "\n"))) > columns {
			t.Errorf("too wide: %q", line)
		}
	}
	if !strings.Contains(out.String(), "dev: Ready, 20.0s after its begin") || !strings.Contains(out.String(), "####") {
		t.Errorf("it shows:\n%s", out.String())
	}
}

func TestPictureIsWellFormed(t *testing.T) {
	var out bytes.Buffer
	if err := New(`a "<b>"`, run(), at(500)).SVG(&out); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(&out)
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestRecordSurvivesARestart: a second recorder continues, and repeats nothing.
func TestRecordSurvivesARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "timeline.jsonl")
	cb := &v1alpha1.ClusterBootstrap{}
	cb.Status.Phase = v1alpha1.BootstrapInstallingAddons
	cb.Status.Machines = []v1alpha1.BootstrapMachineStatus{{Name: "cp-0", Phase: v1alpha1.MachineRunning, TalosConfigured: true}}
	cb.Status.Addons = []v1alpha1.BootstrapAddonStatus{{Name: "a", Phase: v1alpha1.AddonInstalling, Message: "canary"}}
	cb.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "WaitingForAddons", Message: "canary"}}
	for i := range 3 {
		r, err := NewRecorder(path)
		if err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			cb.Status.Addons[0].Phase = v1alpha1.AddonReady
		}
		if err := r.See(cb, at(i)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read(path)
	if err != nil || len(got) != 5 || got[4].State != "Ready" || got[4].Time != at(2) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestNoRecordIsNoTimeline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none")
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // also if there is none
		if err := Remove(path); err != nil {
			t.Error(err)
		}
	}
	got, err := Read(path)
	if line := New("dev", got, at(1)); err != nil || len(line.Rows) != 0 {
		t.Errorf("%+v, %v", line, err)
	}
}
