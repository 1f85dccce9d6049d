// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package trace writes a bootstrap as an OpenTelemetry trace: a span for the command, its phases,
// each machine and each addon. It is off unless the environment names a collector.
package trace

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/butlerdotdev/butler/internal/version"
)

// flushTimeout bounds how long the end of a command waits for the collector.
const flushTimeout = 5 * time.Second

// Subject is what a trace is about.
type Subject struct {
	Cluster, Provider string
	Rehearsal         bool
}

// Trace is that of one command. A nil Trace records nothing.
type Trace struct {
	exporter *quiet
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	ctx      context.Context // of the root span
	root     trace.Span

	mu       sync.Mutex
	phase    trace.Span
	machines map[string]trace.Span
	addons   map[string]trace.Span
}

// Start begins a trace if the variables of OpenTelemetry name a collector; otherwise it returns
// nil.
func Start(ctx context.Context, s Subject) (*Trace, error) {
	if !wanted() {
		return nil, nil
	}
	if p := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), "grpc"); p != "grpc" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q, and traces are sent with grpc only; set it to grpc, with the port of gRPC in the endpoint", p)
	}
	exporter, err := otlptracegrpc.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to the collector of traces: %w", err)
	}
	return begin(exporter, s), nil
}

// wanted reports whether the environment names a collector.
func wanted() bool {
	return os.Getenv("OTEL_SDK_DISABLED") != "true" &&
		cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")) != ""
}

func begin(to sdktrace.SpanExporter, s Subject) *Trace {
	exporter := &quiet{SpanExporter: to}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(resource.NewSchemaless(
		attribute.String("service.name", "butleradm"), attribute.String("service.version", version.Version),
	)))
	t := &Trace{exporter: exporter, provider: provider, tracer: provider.Tracer("butleradm"), machines: map[string]trace.Span{}, addons: map[string]trace.Span{}}
	t.ctx, t.root = t.tracer.Start(context.Background(), "bootstrap "+s.Cluster, trace.WithAttributes(
		attribute.String("butler.cluster", s.Cluster), attribute.String("butler.provider", s.Provider), attribute.Bool("butler.rehearsal", s.Rehearsal),
	))
	return t
}

// End ends all spans and sends what is left. The error is that of the command.
func (t *Trace) End(err error) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, open := range []map[string]trace.Span{t.machines, t.addons} {
		for _, span := range open {
			span.End()
		}
	}
	if t.phase != nil {
		t.phase.End()
	}
	if err != nil {
		t.root.SetStatus(codes.Error, err.Error())
	}
	t.root.End()
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	if err := cmp.Or(t.provider.Shutdown(ctx), t.exporter.last()); err != nil {
		return fmt.Errorf("the trace was not sent: %w", err)
	}
	return nil
}
