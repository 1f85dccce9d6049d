// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/workspace"
	"github.com/butlerdotdev/butler/provider"
)

func TestPlatformWithNothingOfWhatRunsIsAnotherOne(t *testing.T) {
	running, deleting, lost := requestInfo{"cp-0", true, false}, requestInfo{"cp-1", true, true}, requestInfo{"cp-2", false, false}
	nothing, one, orphan := inventory.Inventory{}, inventory.Inventory{{Name: "cp-0", Owner: provider.Owner{ID: "0"}}}, inventory.Inventory{{Name: "x", Owner: provider.Owner{ID: "9"}}}
	for reason, c := range map[string]struct {
		requests map[string]requestInfo
		found    inventory.Inventory
		job      Teardown
		refused  bool
		settled  bool
	}{
		"it runs, and is there":               {map[string]requestInfo{"0": running}, one, Teardown{}, false, false},
		"one of two is there":                 {map[string]requestInfo{"0": running, "7": running}, one, Teardown{}, false, false},
		"it runs, and is nowhere":             {map[string]requestInfo{"0": running}, nothing, Teardown{}, true, false},
		"something else is there":             {map[string]requestInfo{"0": running}, orphan, Teardown{}, true, false},
		"it is nowhere, and that is known":    {map[string]requestInfo{"0": running}, nothing, Teardown{EvenIfGone: true}, false, false},
		"it is lost, or never was":            {map[string]requestInfo{"2": lost}, nothing, Teardown{}, false, false},
		"nothing was asked for":               {nil, nothing, Teardown{}, false, false},
		"it was deleted without the plane":    {map[string]requestInfo{"0": running}, nothing, Teardown{}, false, true},
		"its deletion had begun":              {map[string]requestInfo{"1": deleting}, nothing, Teardown{}, false, false},
		"its deletion had begun elsewhere":    {map[string]requestInfo{"1": deleting}, nothing, Teardown{NewCredentials: true}, true, false},
		"its deletion had begun here, partly": {map[string]requestInfo{"1": deleting, "0": running}, one, Teardown{NewCredentials: true}, false, false},
	} {
		t.Run(reason, func(t *testing.T) {
			x := &destruction{
				Operation: &operation.Operation{Workspace: workspace.Workspace{Name: "dev"}}, job: &c.job,
				target: &target{requests: c.requests, settled: c.settled, config: &v1alpha1.ProviderConfig{}},
			}
			if err := x.refuseElsewhere(c.found); (err != nil) != c.refused || err != nil && failure.KindOf(err) != failure.Usage {
				t.Errorf("refused: %v", err)
			}
		})
	}
}

func TestManyNamesAreCutShort(t *testing.T) {
	for names, want := range map[string]string{"a": "a", "a b c d e": "a, b, c, d, e", "a b c d e f g": "a, b, c, d, e and 2 more"} {
		if got := firstFew(strings.Fields(names)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
