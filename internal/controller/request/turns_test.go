// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/provider"
)

func named(name string) types.NamespacedName { return types.NamespacedName{Name: name} }

// called are the requests whose turn it is by now.
func called(t *Turns) (names []string) {
	for {
		select {
		case e := <-t.called:
			names = append(names, e.Object.Name)
		default:
			return names
		}
	}
}

func begin(t *testing.T, turns *Turns, platform, request string, present, want bool) {
	t.Helper()
	if got := turns.Begin(named(platform), named(request), present); got != want {
		t.Errorf("%s of %s: %t, want %t", request, platform, got, want)
	}
}

func TestOnePlatformLeavesWorkersToTheOthers(t *testing.T) {
	turns := NewTurns(2, 1)
	begin(t, turns, "dead", "a", false, true)
	begin(t, turns, "dead", "b", false, true)
	begin(t, turns, "dead", "c", false, false)
	begin(t, turns, "healthy", "d", false, true)
	turns.End(named("dead"), 0, nil)
	if got := fmt.Sprint(called(turns)); got != "[c]" {
		t.Errorf("called %s", got)
	}
	begin(t, turns, "dead", "e", false, false) // the place is c's
	begin(t, turns, "dead", "c", false, true)
}

func TestWhatExistsComesFirstButNotAlways(t *testing.T) {
	turns := NewTurns(1, 1)
	begin(t, turns, "p", "first", false, true)
	for _, name := range []string{"new-1", "new-2"} {
		begin(t, turns, "p", name, false, false)
	}
	for _, name := range []string{"old-1", "old-2", "old-3", "new-2"} { // new-2 is being deleted by now
		begin(t, turns, "p", name, true, false)
	}
	var order []string
	for range 6 {
		turns.End(named("p"), 0, nil)
		for _, name := range called(turns) {
			order = append(order, name)
			begin(t, turns, "p", name, true, true)
		}
	}
	if got := fmt.Sprint(order); got != "[old-1 old-2 old-3 new-1 new-2]" {
		t.Errorf("in the order %s", got)
	}
}

func TestASilentPlatformGetsFewWorkersUntilItAnswers(t *testing.T) {
	turns, gone := NewTurns(3, 1), &provider.Error{Kind: provider.Unavailable}
	for _, name := range []string{"a", "b", "c"} {
		begin(t, turns, "p", name, true, true)
	}
	begin(t, turns, "p", "d", true, false)
	for range 2 {
		turns.End(named("p"), silentAfter, gone)
	}
	if got := called(turns); len(got) > 0 {
		t.Errorf("called %s of a platform that does not answer", got)
	}
	turns.End(named("p"), silentAfter, gone)
	if got := fmt.Sprint(called(turns)); got != "[d]" {
		t.Errorf("called %s, want one at a time", got)
	}
	begin(t, turns, "p", "d", true, true)
	begin(t, turns, "p", "e", true, false)
	turns.End(named("p"), 0, nil)
	if got := fmt.Sprint(called(turns)); got != "[e]" {
		t.Errorf("called %s", got)
	}
	begin(t, turns, "p", "f", true, true)
}

func TestARequestThatDoesNotComeLosesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(1, 1)
		begin(t, turns, "p", "a", true, true)
		begin(t, turns, "p", "gone", true, false)
		turns.End(named("p"), 0, nil)
		begin(t, turns, "p", "b", true, false)
		time.Sleep(calledKept + time.Millisecond)
		begin(t, turns, "p", "b", true, true)
	})
}
