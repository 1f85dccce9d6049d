// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"context"
	"sync"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// quiet keeps the error of an exporter: the SDK would log it in the middle of the output.
type quiet struct {
	sdktrace.SpanExporter
	mu  sync.Mutex
	err error
}

// ExportSpans implements sdktrace.SpanExporter.
func (q *quiet) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := q.SpanExporter.ExportSpans(ctx, spans)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.err = err
	return nil
}

// last is the error of the last export.
func (q *quiet) last() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}
