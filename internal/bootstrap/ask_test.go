// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

func withControlPlanes(addresses ...string) *Session {
	s := &Session{ClusterBootstrap: &v1alpha1.ClusterBootstrap{}}
	for i, a := range addresses {
		s.Status.Machines = append(s.Status.Machines, v1alpha1.BootstrapMachineStatus{Name: fmt.Sprintf("cp-%d", i), Role: v1alpha1.RoleControlPlane, IPAddress: a})
	}
	s.Status.Machines = append(s.Status.Machines, v1alpha1.BootstrapMachineStatus{Name: "worker-0", Role: v1alpha1.RoleWorker, IPAddress: "worker"})
	return s
}

// scripted answers as its script says: a word, "refuse", or "silent" until the context ends.
func scripted(script map[string]string) func(context.Context, string) (string, error) {
	return func(ctx context.Context, address string) (string, error) {
		switch script[address] {
		case "silent":
			<-ctx.Done()
			return "", ctx.Err()
		case "refuse":
			return "", errors.New("refused by " + address)
		}
		return script[address], nil
	}
}

func TestAnyControlPlaneMayAnswer(t *testing.T) {
	for reason, tc := range map[string]struct {
		script  map[string]string
		want    string
		wantErr string
	}{
		"the first is dead":               {script: map[string]string{"a": "silent", "b": "yes", "c": "silent"}, want: "yes"},
		"one refuses":                     {script: map[string]string{"a": "refuse", "b": "refuse", "c": "yes"}, want: "yes"},
		"all refuse":                      {script: map[string]string{"a": "refuse", "b": "refuse", "c": "refuse"}, wantErr: "cp-0 (a): refused by a"},
		"one is dead, the others refuse":  {script: map[string]string{"a": "silent", "b": "refuse", "c": "refuse"}, wantErr: "cp-1 (b): refused by b"},
		"all are dead":                    {script: map[string]string{"a": "silent", "b": "silent", "c": "silent"}, wantErr: "deadline"},
		"workers are not asked for truth": {script: map[string]string{"a": "refuse", "b": "refuse", "c": "refuse", "worker": "yes"}, wantErr: "refused"},
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := fromAny(t.Context(), withControlPlanes("a", "b", "c"), scripted(tc.script))
				if got != tc.want || (err == nil) != (tc.wantErr == "") {
					t.Fatalf("got %q, %v", got, err)
				}
				if err != nil && !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("got %v, want %q", err, tc.wantErr)
				}
			})
		})
	}
	if _, err := fromAny(t.Context(), withControlPlanes(), scripted(nil)); err == nil {
		t.Error("an answer without a node")
	}
}

func TestSlowControlPlaneIsWaitedForThoughOthersRefuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(ctx context.Context, address string) (string, error) {
			if address == "b" {
				return "", errors.New("refused")
			}
			select {
			case <-time.After(probeTimeout - time.Millisecond):
				return "yes", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		if got, err := fromAny(t.Context(), withControlPlanes("a", "b"), slow); got != "yes" {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestSeveralObstaclesAreTheMostUrgentAndACount(t *testing.T) {
	passing, urgent := &Obstacle{Reason: "A", Message: "a waits"}, &Obstacle{Reason: "B", Message: "b is broken", Urgent: true}
	for _, tc := range []struct {
		all  []*Obstacle
		want string
	}{
		{[]*Obstacle{nil, nil}, ""},
		{[]*Obstacle{nil, passing}, "A: a waits"},
		{[]*Obstacle{passing, nil, passing}, "A: a waits (and 1 more)"},
		{[]*Obstacle{passing, passing, urgent}, "B: b is broken (and 2 more)"},
	} {
		got := ""
		if o := step.Joined(tc.all); o != nil {
			got = o.Reason + ": " + o.Message
		}
		if got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
	if passing.Message != "a waits" {
		t.Error("an obstacle was changed")
	}
}

func TestTextsOfSilenceAreOne(t *testing.T) {
	for _, said := range []string{
		"connection error: desc = \"transport: Error while dialing: dial tcp 10.40.0.10:50000: connect: no route to host\"",
		"dial tcp 10.40.0.10:6443: i/o timeout",
		"dial tcp 203.0.113.9:50000: connect: connection timed out",
		"Get \"https://10.40.0.10:6443/readyz\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
	} {
		if got := step.Stable(errors.New(said)); got != step.NoAnswer {
			t.Errorf("%q became %q", said, got)
		}
	}
	const refused = "read tcp 10.0.0.1:51234->10.40.0.10:6443: connection refused"
	if got := step.Stable(errors.New(refused)); got != "read tcp 10.40.0.10:6443: connection refused" {
		t.Errorf("got %q", got)
	}
}
