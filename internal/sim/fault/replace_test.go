// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

func plan(t *testing.T, faults string) fault.Plan {
	t.Helper()
	p, err := fault.Parse([]byte("faults:\n" + faults))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAnotherPlanTakesThePlaceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := fault.Call{Verb: fault.Get, Resource: fault.Machine}
		c := injector(t, "- {kind: deny, times: 1}")
		before := c.Replaced()
		strikes := func() bool { _, hit := c.Inject(call); return hit }
		if !strikes() || strikes() {
			t.Fatal("the first plan is not as it is")
		}
		time.Sleep(time.Minute)
		c.Replace(plan(t, "- {kind: deny, after: 2s, times: 1}"))
		select {
		case <-before:
		default:
			t.Error("the new plan is not announced")
		}
		if strikes() {
			t.Error("the clock of the new plan began before it")
		}
		time.Sleep(2 * time.Second)
		if !strikes() || strikes() {
			t.Error("the new plan does not hold, or counts what the old one used")
		}
		c.Replace(fault.Plan{})
		time.Sleep(time.Hour)
		if strikes() {
			t.Error("a fault happens that was lifted")
		}
	})
}

func TestWaitsEndWhenAFaultBeginsAndWhenItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := injector(t, "- {kind: apiServerDies, machine: cp-0, after: 10s, for: 5s}")
		began := time.Now()
		dead := func() bool { _, on := c.APIServerDown("cp-0"); return on }
		if !c.Await(t.Context(), dead) || time.Since(began) != 10*time.Second {
			t.Errorf("it is dead after %s", time.Since(began))
		}
		if _, on := c.APIServerDown("cp-1"); on {
			t.Error("another one is dead too")
		}
		if !c.Await(t.Context(), func() bool { return !dead() }) || time.Since(began) != 15*time.Second {
			t.Errorf("it is back after %s", time.Since(began))
		}
		time.AfterFunc(time.Minute, func() { c.Replace(plan(t, "- {kind: apiServerDies, for: 1s}")) })
		if !c.Await(t.Context(), dead) || time.Since(began) != 75*time.Second {
			t.Errorf("the new plan counts after %s", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if (*fault.Injector)(nil).Await(ctx, func() bool { return false }) {
			t.Error("a wait for nothing ends well")
		}
		if c.Await(ctx, func() bool { return true }) {
			t.Error("a wait that is over ends well")
		}
	})
}

// memory is a platform of one object.
type memory struct{ then map[time.Time]string }

func (m *memory) Note(moment time.Time) {
	if m.then[moment] == "" {
		m.then[moment] = "noted"
	}
}

func (m *memory) Answer(w http.ResponseWriter, _ *http.Request, moment time.Time) {
	_, _ = io.WriteString(w, "the past, "+m.then[moment])
}

func TestStaleReadsShowThePastAndWatchesAreSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := injector(t, "- {kind: staleList, resource: machine, after: 1s, for: 10s}")
		api := fault.API{
			Classify: func(r *http.Request) fault.Call {
				return fault.Call{Verb: fault.Verb(r.Header.Get("verb")), Resource: fault.Resource(r.Header.Get("resource"))}
			},
			Past: &memory{map[time.Time]string{}},
		}
		handler := c.Handler(api, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the present") }))
		ask := func(verb fault.Verb, resource fault.Resource) string {
			r, w := httptest.NewRequest(http.MethodGet, "/", http.NoBody), httptest.NewRecorder()
			r.Header.Set("verb", string(verb))
			r.Header.Set("resource", string(resource))
			handler.ServeHTTP(w, r)
			return w.Body.String()
		}
		if got := ask(fault.List, fault.Machine); got != "the present" {
			t.Errorf("before: %s", got)
		}
		time.Sleep(time.Second)
		for what, got := range map[string]string{
			"a list": ask(fault.List, fault.Machine), "a get": ask(fault.Get, fault.Machine),
		} {
			if got != "the past, noted" {
				t.Errorf("%s: %s", what, got)
			}
		}
		for what, got := range map[string]string{"a write": ask(fault.Create, fault.Machine), "another resource": ask(fault.List, fault.Disk)} {
			if got != "the present" {
				t.Errorf("%s: %s", what, got)
			}
		}
		began := time.Now()
		if got := ask(fault.Watch, fault.Machine); got != "the present" || time.Since(began) != 10*time.Second {
			t.Errorf("a watch says %q after %s", got, time.Since(began))
		}
		if got := ask(fault.List, fault.Machine); got != "the present" {
			t.Errorf("after: %s", got)
		}
	})
}

func TestSilentWatchIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := injector(t, "- {kind: staleList, for: 10s}")
		api := fault.API{Classify: func(*http.Request) fault.Call { return fault.Call{Verb: fault.Watch} }, Past: &memory{map[time.Time]string{}}}
		handler := c.Handler(api, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "event") }))
		w := httptest.NewRecorder()
		go handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		synctest.Wait()
		if !w.Flushed || w.Body.Len() != 0 {
			t.Errorf("header sent: %v, body: %q", w.Flushed, w.Body)
		}
		c.Replace(fault.Plan{})
		synctest.Wait()
		if w.Body.String() != "event" {
			t.Errorf("after it all the watch reports %q", w.Body)
		}
	})
}
