// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestServiceIsUpOnceItHasShownThatItIsWell(t *testing.T) {
	for reason, tc := range map[string]struct {
		state  string
		health *machine.ServiceHealth
		want   bool
	}{
		"runs and is healthy":          {"Running", &machine.ServiceHealth{Healthy: true}, true},
		"has just started":             {"Running", &machine.ServiceHealth{Unknown: true}, false},
		"has just started, old health": {"Running", &machine.ServiceHealth{Unknown: true, Healthy: true}, false},
		"a learner of etcd":            {"Running", &machine.ServiceHealth{LastMessage: "rpc not supported for learner"}, false},
		"starts":                       {"Preparing", &machine.ServiceHealth{Unknown: true}, false},
		"ended":                        {"Finished", &machine.ServiceHealth{Healthy: true}, false},
	} {
		if got := service(&machine.ServiceInfo{Id: "etcd", State: tc.state, Health: tc.health}).Up(); got != tc.want {
			t.Errorf("%s: %v", reason, got)
		}
	}
}

func TestSilenceHasOneText(t *testing.T) {
	want := `list services on 10.0.0.1: no answer in time`
	for _, err := range []error{
		status.Error(codes.DeadlineExceeded, "context deadline exceeded"),
		status.Error(codes.DeadlineExceeded, "stream terminated by RST_STREAM with error code: CANCEL"),
		context.DeadlineExceeded,
		fmt.Errorf("dial: %w", context.DeadlineExceeded),
	} {
		got := failed("list services", "10.0.0.1", err)
		if got.Error() != want || !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
		if Off(got) {
			t.Errorf("%v is taken for a node without power", got)
		}
	}
}

func TestNodeThatQuotesItsConfigurationIsNotQuoted(t *testing.T) {
	err := failed("apply configuration", "10.0.0.1", status.Error(codes.Unknown, "failed to parse config: unknown keys found during decoding:\ncluster:\n    secretboxEncryptionSecret: a-secret\n"))
	if got, want := err.Error(), "apply configuration on 10.0.0.1: failed to parse config: unknown keys: cluster.secretboxEncryptionSecret"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPodIsReadyByItsCondition(t *testing.T) {
	condition := func(kind, status string) map[string]any { return map[string]any{"type": kind, "status": status} }
	for reason, tc := range map[string]struct {
		conditions any
		want       bool
	}{
		"no conditions":   {nil, false},
		"not ready":       {[]any{condition("Initialized", "True"), condition("Ready", "False")}, false},
		"ready":           {[]any{condition("Initialized", "False"), condition("Ready", "True")}, true},
		"another type":    {[]any{condition("ContainersReady", "True")}, false},
		"no list at all":  {"True", false},
		"a list of texts": {[]any{"Ready"}, false},
	} {
		if got := isReady(map[string]any{"conditions": tc.conditions}); got != tc.want {
			t.Errorf("%s: %v", reason, got)
		}
	}
}
