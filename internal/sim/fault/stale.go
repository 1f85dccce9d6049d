// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"net/http"
	"time"
)

// beginning is when a fault that is on began.
func (c *Injector) beginning(f Fault) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.began.Add(f.After.Duration)
}

// stale are the moments that reads are answered as of now.
func (c *Injector) stale() (moments []time.Time) {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.plan.Faults {
		if f.Kind == StaleList && c.isOn(f) {
			moments = append(moments, c.began.Add(f.After.Duration))
		}
	}
	return moments
}

// isStale says whether reads about what a call is about are answered as of the past.
func (c *Injector) isStale(call Call) bool {
	_, on := c.lasting(func(f Fault) bool {
		return f.Kind == StaleList && (f.Resource == "" || f.Resource == call.Resource)
	})
	return on
}

// heldBack is the answer to a watch: a caller that reads old states gets no events, but
// has the watch.
type heldBack struct {
	http.ResponseWriter
	injector *Injector
	ctx      context.Context
	call     Call
}

// Unwrap is for flushing.
func (h *heldBack) Unwrap() http.ResponseWriter { return h.ResponseWriter }

func (h *heldBack) Write(data []byte) (int, error) {
	// The writer may hold a lock that flushing the header needs.
	if err := http.NewResponseController(h.ResponseWriter).Flush(); err != nil {
		return 0, err
	}
	if !h.injector.Await(h.ctx, func() bool { return !h.injector.isStale(h.call) }) {
		return 0, h.ctx.Err()
	}
	return h.ResponseWriter.Write(data)
}
