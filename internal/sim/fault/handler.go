// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// defaultRetryAfter is what a throttled call is told to wait.
const defaultRetryAfter = time.Second

// API is how a platform's calls are understood and answered.
type API struct {
	// Classify says what a request is. It may read the body if it puts it back.
	Classify func(*http.Request) Call
	// Refuse answers in the platform's words.
	Refuse func(w http.ResponseWriter, r *http.Request, status int, message string)
	// Pretend answers as if the request had been carried out.
	Pretend func(w http.ResponseWriter, r *http.Request)
	// Past is what the platform remembers of itself. A platform that has none does
	// not know faults that need it.
	Past Past
	// Second answers at the platform's address in its place. A platform that has none
	// does not have the fault.
	Second http.Handler
}

// Past is what a platform remembers of itself, by moments.
type Past interface {
	// Note has the platform remember the moment, unless it does.
	Note(moment time.Time)
	// Answer answers a request as it would have been answered then.
	Answer(w http.ResponseWriter, r *http.Request, moment time.Time)
}

// Handler lets the faults of API calls happen in front of next.
func (c *Course) Handler(api API, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := api.Classify(r)
		for _, moment := range c.stale() {
			api.Past.Note(moment)
		}
		if call.Verb == Watch {
			w = &heldBack{ResponseWriter: w, course: c, ctx: r.Context(), call: call}
		}
		f, hit := c.Strike(call)
		switch {
		case !hit:
			next.ServeHTTP(w, r)
		case f.Kind == StaleList:
			api.Past.Answer(w, r, c.beginning(f))
		case f.Kind == SecondPlatform && api.Second != nil:
			api.Second.ServeHTTP(w, r)
		default:
			f.answer(api, next, w, r)
		}
	})
}

func (f Fault) answer(api API, next http.Handler, w http.ResponseWriter, r *http.Request) {
	switch f.Kind {
	case Throttle:
		w.Header().Set("Retry-After", f.retryAfter())
		api.Refuse(w, r, http.StatusTooManyRequests, "too many requests; try again later")
	case Deny:
		api.Refuse(w, r, http.StatusForbidden, "the fault plan denies it")
	case TokenExpiry:
		api.Refuse(w, r, http.StatusUnauthorized, "the credentials have expired")
	case FailedTask:
		api.Pretend(w, r)
	case LostResponse:
		lose(next, r)
	case SlowList:
		if pass(r.Context(), f.Delay.Duration) {
			next.ServeHTTP(w, r)
		}
	default:
		next.ServeHTTP(w, r)
	}
}

// retryAfter is in whole seconds, as the header is.
func (f Fault) retryAfter() string {
	wait := f.RetryAfter.Duration
	if wait == 0 {
		wait = defaultRetryAfter
	}
	return strconv.Itoa(int((wait + time.Second - 1) / time.Second))
}

// lose carries a request out, even if the caller gives up, and cuts its connection.
func lose(next http.Handler, r *http.Request) {
	next.ServeHTTP(nowhere{}, r.WithContext(context.WithoutCancel(r.Context())))
	panic(http.ErrAbortHandler)
}

// nowhere takes an answer that nobody gets.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) WriteHeader(int)             {}

// pass lets time pass; it is false if ctx ended before.
func pass(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Delay makes the calls that slow picks take longer before they have their effect.
// Calls do not wait for each other.
func Delay(d time.Duration, slow func(*http.Request) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slow(r) || pass(r.Context(), d) {
			next.ServeHTTP(w, r)
		}
	})
}
