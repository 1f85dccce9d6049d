// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// plain is an API whose verbs are the first part of the path.
func plain() fault.API {
	return fault.API{
		Classify: func(r *http.Request) fault.Call {
			return fault.Call{Verb: fault.Verb(strings.Trim(r.URL.Path, "/")), Resource: fault.Machine}
		},
		Refuse: func(w http.ResponseWriter, _ *http.Request, f fault.Refusal) {
			http.Error(w, fmt.Sprint(f.Kind, " ", f.RetryAfter), http.StatusTeapot)
		},
		Pretend: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "pretended") },
	}
}

// served counts what reaches the platform, which answers with "done".
func served(c *fault.Injector, reached *atomic.Int32) http.Handler {
	return c.Handler(plain(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Err() == nil {
			reached.Add(1)
		}
		fmt.Fprint(w, "done")
	}))
}

func TestFaultsOfCallsEnd(t *testing.T) {
	tests := map[string]struct {
		fault   string
		verb    fault.Verb
		status  int
		body    string
		reached int32 // by the call that it happens to
	}{
		"throttle":   {"- {kind: throttle, times: 1, retryAfter: 1500ms}", fault.Get, http.StatusTeapot, "throttle 2s", 0},
		"deny":       {"- {kind: deny, times: 1}", fault.Get, http.StatusTeapot, "deny 0s", 0},
		"expiry":     {"- {kind: tokenExpiry, times: 1}", fault.Get, http.StatusTeapot, "tokenExpiry 0s", 0},
		"quota":      {"- {kind: quota, times: 1}", fault.Create, http.StatusTeapot, "quota 0s", 0},
		"failedTask": {"- {kind: failedTask, verb: delete, times: 1}", fault.Delete, http.StatusOK, "pretended", 0},
		"slowList":   {"- {kind: slowList, delay: 1ms, times: 1}", fault.List, http.StatusOK, "done", 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var reached atomic.Int32
			h := served(injector(t, tt.fault), &reached)
			first := ask(h, tt.verb)
			if first.Code != tt.status || !strings.Contains(first.Body.String(), tt.body) || reached.Load() != tt.reached {
				t.Errorf("got %d %s, %d calls", first.Code, first.Body, reached.Load())
			}
			if wait := first.Header().Get("Retry-After"); (tt.status == http.StatusTooManyRequests) != (wait == "2") {
				t.Errorf("wait %q", wait)
			}
			if second := ask(h, tt.verb); second.Code != http.StatusOK || second.Body.String() != "done" {
				t.Errorf("then %d %s", second.Code, second.Body)
			}
		})
	}
}

func ask(h http.Handler, verb fault.Verb) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/"+string(verb), nil))
	return w
}

func TestLostResponseHasItsEffectAndNoAnswer(t *testing.T) {
	var reached atomic.Int32
	server := httptest.NewServer(served(injector(t, "- {kind: lostResponse, times: 1}"), &reached))
	defer server.Close()
	post := func() error {
		response, err := http.Post(server.URL+"/create", "", nil)
		if err == nil {
			return response.Body.Close()
		}
		return err
	}
	if err := post(); err == nil || reached.Load() != 1 {
		t.Errorf("%v after %d calls", err, reached.Load())
	}
	if err := post(); err != nil || reached.Load() != 2 {
		t.Errorf("%v after %d calls", err, reached.Load())
	}
}

func TestLostResponseOfACallerWhoGaveUpHasItsEffectToo(t *testing.T) {
	var reached atomic.Int32
	h := served(injector(t, "- {kind: lostResponse}"), &reached)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	defer func() {
		cause, _ := recover().(error)
		if !errors.Is(cause, http.ErrAbortHandler) || reached.Load() != 1 {
			t.Errorf("%v after %d calls", cause, reached.Load())
		}
	}()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/create", nil))
}

func TestSlowCallsDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := fault.Delay(2*time.Second, func(r *http.Request) bool { return r.URL.Path == "/create" },
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "done") }))
		begin := time.Now()
		if ask(h, fault.Get); time.Since(begin) != 0 {
			t.Errorf("another call took %v", time.Since(begin))
		}
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if w := ask(h, fault.Create); w.Body.String() != "done" {
					t.Errorf("got %s", w.Body)
				}
			})
		}
		all.Wait()
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("100 calls took %v", took)
		}
	})
}
