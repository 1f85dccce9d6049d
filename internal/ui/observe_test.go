// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// An observer gets what lines show, and what a view shows in place.
func TestObserversGetEveryEvent(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "screen"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	for name, shown := range map[string]*live{"lines": nil, "view": newLive(file, View{})} {
		r := NewReporter(io.Discard, io.Discard, "plain")
		r.live = shown
		var got []string
		r.Observe(func(e Event) {
			if e.Time.IsZero() {
				t.Errorf("%s: %+v has no time", name, e)
			}
			got = append(got, string(e.Type)+" "+e.Message)
		})
		r.Step("began")
		r.advance(State{Phase: v1alpha1.BootstrapConfiguringTalos, Obstacle: "no answer"})
		r.Unwatch(Ready)
		if diff := cmp.Diff([]string{"step began", "phase ConfiguringTalos", "waiting no answer"}, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
