// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spanv1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ui"
)

// receiver is a collector that keeps what it gets.
type receiver struct {
	collector.UnimplementedTraceServiceServer
	spans []*spanv1.Span
}

func (r *receiver) Export(_ context.Context, in *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	for _, resource := range in.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// serve starts a collector and names it in the environment.
func serve(t *testing.T) *receiver {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r, server := &receiver{}, grpc.NewServer()
	collector.RegisterTraceServiceServer(server, r)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+listener.Addr().String())
	return r
}

func start(t *testing.T) *Trace {
	t.Helper()
	tr, err := Start(t.Context(), Subject{Cluster: "mgmt", Provider: "aws", Rehearsal: true})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func events(tr *Trace) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	see := func(after int, e ui.Event) {
		e.Time = at.Add(time.Duration(after) * time.Second)
		tr.See(e)
	}
	machine := func(ready bool) *v1alpha1.BootstrapMachineStatus {
		return &v1alpha1.BootstrapMachineStatus{Name: "mgmt-cp-0", Ready: ready}
	}
	addon := func(phase v1alpha1.AddonPhase) *v1alpha1.BootstrapAddonStatus {
		return &v1alpha1.BootstrapAddonStatus{Name: "cilium", Phase: phase, Message: "no answer"}
	}
	see(0, ui.Event{Type: ui.EventStep, Message: "plane"})
	see(1, ui.Event{Type: ui.EventPhase, Message: "ProvisioningMachines"})
	see(2, ui.Event{Type: ui.EventMachine, Machine: machine(false), Message: "Creating"})
	see(3, ui.Event{Type: ui.EventWaiting, Message: "no address"})
	see(9, ui.Event{Type: ui.EventPhase, Message: "InstallingAddons"})
	see(10, ui.Event{Type: ui.EventAddon, Addon: addon(v1alpha1.AddonInstalling)})
	see(11, ui.Event{Type: ui.EventAddon, Addon: addon(v1alpha1.AddonFailing)})
	see(15, ui.Event{Type: ui.EventAddon, Addon: addon(v1alpha1.AddonReady)})
	see(16, ui.Event{Type: ui.EventMachine, Machine: machine(true), Message: "Ready"})
}

func TestBootstrapIsOneTrace(t *testing.T) {
	r := serve(t)
	tr := start(t)
	events(tr)
	if err := tr.End(nil); err != nil {
		t.Fatal(err)
	}
	var got []string
	ids := map[string]bool{}
	for _, s := range r.spans {
		ids[string(s.GetTraceId())] = true
		took := time.Duration(s.GetEndTimeUnixNano() - s.GetStartTimeUnixNano())
		if len(s.GetParentSpanId()) == 0 || s.GetName() == "InstallingAddons" {
			took = 0 // it ends with the command
		}
		got = append(got, strings.Join([]string{s.GetName(), took.String(), s.GetStatus().GetCode().String()}, " "))
	}
	slices.Sort(got)
	want := []string{
		"InstallingAddons 0s STATUS_CODE_UNSET", "ProvisioningMachines 8s STATUS_CODE_UNSET", "addon cilium 5s STATUS_CODE_OK",
		"bootstrap mgmt 0s STATUS_CODE_UNSET", "machine mgmt-cp-0 14s STATUS_CODE_OK",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(ids) != 1 {
		t.Errorf("%d traces", len(ids))
	}
}

func TestFailureIsTheStatusOfTheTrace(t *testing.T) {
	r := serve(t)
	tr := start(t)
	if err := tr.End(errors.New("no capacity")); err != nil {
		t.Fatal(err)
	}
	if len(r.spans) != 1 || r.spans[0].GetStatus().GetMessage() != "no capacity" {
		t.Errorf("%v", r.spans)
	}
}

func TestWithoutACollectorNothingIsTraced(t *testing.T) {
	for reason, env := range map[string]map[string]string{
		"no endpoint": {},
		"disabled":    {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
	} {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
		for name, value := range env {
			t.Setenv(name, value)
		}
		tr := start(t)
		events(tr)
		if err := tr.End(nil); tr != nil || err != nil {
			t.Errorf("%s: %v, %v", reason, tr, err)
		}
	}
}

func TestAnotherProtocolIsRefused(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	if _, err := Start(t.Context(), Subject{}); err == nil || !strings.Contains(err.Error(), "grpc only") {
		t.Error(err)
	}
}

// A collector that does not answer delays the end of a command, but not for long.
func TestACollectorThatDoesNotAnswerIsReported(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "200")
	tr := start(t)
	began := time.Now()
	if err := tr.End(nil); err == nil || time.Since(began) > 2*flushTimeout {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}
