// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ui"
)

// See adds an event of the command to the trace.
func (t *Trace) See(e ui.Event) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e.Type {
	case ui.EventPhase:
		t.enter(e)
	case ui.EventMachine:
		t.follow(t.machines, "machine "+e.Machine.Name, e, e.Machine.Ready)
	case ui.EventAddon:
		t.follow(t.addons, "addon "+e.Addon.Name, e, e.Addon.Phase == v1alpha1.AddonReady)
		if e.Addon.Phase == v1alpha1.AddonFailing {
			t.current(t.addons["addon "+e.Addon.Name]).SetStatus(codes.Error, e.Addon.Message)
		}
	default:
		t.note(t.current(t.phase), e)
	}
}

// enter ends the span of the last phase and begins the next.
func (t *Trace) enter(e ui.Event) {
	if t.phase != nil {
		t.phase.End(trace.WithTimestamp(e.Time))
	}
	_, t.phase = t.tracer.Start(t.ctx, e.Message, trace.WithTimestamp(e.Time))
}

// follow adds to the span of a machine or an addon, which ends when it is ready. What was
// ready before the command has none.
func (t *Trace) follow(all map[string]trace.Span, name string, e ui.Event, ready bool) {
	span, known := all[name]
	if !known {
		if ready {
			return
		}
		_, span = t.tracer.Start(t.ctx, name, trace.WithTimestamp(e.Time))
		all[name] = span
	}
	t.note(span, e)
	if ready {
		span.SetStatus(codes.Ok, "")
		span.End(trace.WithTimestamp(e.Time))
		delete(all, name)
	}
}

// current is a span, or the root without one.
func (t *Trace) current(span trace.Span) trace.Span {
	if span == nil {
		return t.root
	}
	return span
}

func (t *Trace) note(span trace.Span, e ui.Event) {
	span.AddEvent(string(e.Type), trace.WithTimestamp(e.Time), trace.WithAttributes(attribute.String("message", e.Message)))
}
