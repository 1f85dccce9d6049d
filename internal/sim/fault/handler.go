// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"net/http"
	"time"
)

// defaultRetryAfter is how long the caller of a throttled call is asked to wait.
const defaultRetryAfter = time.Second

// API is how a platform's calls are understood and answered.
type API struct {
	// Classify says what a request is. It may read the body if it puts it back.
	Classify func(*http.Request) Call
	// Refuse answers as the platform does: status, code and message are its own.
	Refuse func(http.ResponseWriter, *http.Request, Refusal)
	// Pretend answers as if the request had been carried out.
	Pretend func(w http.ResponseWriter, r *http.Request)
	// Past is what the platform remembers of itself. A platform that has none does
	// not know faults that need it.
	Past Past
	// Second answers at the platform's address in its place. A platform that has none
	// does not have the fault.
	Second http.Handler
}

// Refusal is a call that is refused without an effect.
type Refusal struct {
	// Kind is Throttle, Deny, TokenExpiry or Quota.
	Kind Kind
	// RetryAfter is how long a throttled caller is asked to wait, in whole seconds.
	RetryAfter time.Duration
}

// Past is what a platform remembers of itself, by moments.
type Past interface {
	// Note has the platform remember the moment, unless it does.
	Note(moment time.Time)
	// Answer answers a request as it would have been answered then.
	Answer(w http.ResponseWriter, r *http.Request, moment time.Time)
}

// Handler applies the faults of API calls before next.
func (c *Injector) Handler(api API, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := api.Classify(r)
		for _, moment := range c.stale() {
			api.Past.Note(moment)
		}
		if call.Verb == Watch {
			w = &heldBack{ResponseWriter: w, injector: c, ctx: r.Context(), call: call}
		}
		replaced := c.Replaced()
		f, hit := c.Inject(call)
		switch {
		case !hit:
			next.ServeHTTP(w, r)
		case f.Kind == StaleList:
			api.Past.Answer(w, r, c.beginning(f))
		case f.Kind == SecondPlatform && api.Second != nil:
			api.Second.ServeHTTP(w, r)
		default:
			f.answer(api, next, w, r, replaced)
		}
	})
}

func (f Fault) answer(api API, next http.Handler, w http.ResponseWriter, r *http.Request, replaced <-chan struct{}) {
	switch f.Kind {
	case Throttle:
		api.Refuse(w, r, Refusal{Kind: f.Kind, RetryAfter: f.retryAfter()})
	case Deny, TokenExpiry, Quota:
		api.Refuse(w, r, Refusal{Kind: f.Kind})
	case FailedTask:
		api.Pretend(w, r)
	case LostResponse:
		lose(next, r)
	case SlowList:
		if pass(r.Context(), f.Delay.Duration, replaced) {
			next.ServeHTTP(w, r)
		}
	default:
		next.ServeHTTP(w, r)
	}
}

// retryAfter rounds up to whole seconds, as platforms express it.
func (f Fault) retryAfter() time.Duration {
	wait := f.RetryAfter.Duration
	if wait == 0 {
		wait = defaultRetryAfter
	}
	return (wait + time.Second - 1).Truncate(time.Second)
}

// lose carries a request out, even if the caller gives up, and cuts its connection.
func lose(next http.Handler, r *http.Request) {
	next.ServeHTTP(discarded{}, r.WithContext(context.WithoutCancel(r.Context())))
	panic(http.ErrAbortHandler)
}

// discarded drops an answer.
type discarded struct{}

func (discarded) Header() http.Header         { return http.Header{} }
func (discarded) Write(b []byte) (int, error) { return len(b), nil }
func (discarded) WriteHeader(int)             {}

// pass waits for a time, or until the plan is replaced; it is false if ctx ended before.
func pass(ctx context.Context, d time.Duration, replaced <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-replaced:
		return true
	case <-ctx.Done():
		return false
	}
}

// Delay delays the calls that slow selects before they have their effect.
// Calls do not wait for each other.
func Delay(d time.Duration, slow func(*http.Request) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slow(r) || pass(r.Context(), d, nil) {
			next.ServeHTTP(w, r)
		}
	})
}
