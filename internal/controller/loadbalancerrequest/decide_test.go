// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalancerrequest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
)

func fault(k provider.Kind) error {
	return &provider.Error{Kind: k, Reason: "Some" + string(k), Op: "try", Err: errors.New("said so")}
}

func in(s provider.State) provider.LoadBalancer { return provider.LoadBalancer{State: s, ID: "id"} }

func TestDecide(t *testing.T) {
	running := provider.LoadBalancer{State: provider.StateRunning, ID: "id", Endpoint: "lb.example", Registered: 2}
	absent := provider.LoadBalancer{State: provider.StateAbsent}
	part := provider.LoadBalancer{State: provider.StatePartial, Message: "the listener is missing"}
	type want struct {
		act    request.Action
		keep   bool
		phase  v1alpha1.LoadBalancerPhase
		ready  metav1.ConditionStatus
		reason string
		pace   request.Pace
	}
	cases := map[string]struct {
		facts facts
		want  want
	}{
		"absent, attempt just recorded: ensure": {
			facts{common: common{Attempted: true, Fresh: true, Seen: absent}}, want{act: request.Create}},
		"absent, never attempted: ensure": {
			facts{common: common{Seen: absent}}, want{act: request.Create}},
		"absent, attempted and settled: ensure again": {
			facts{common: common{Attempted: true, Settled: true, Seen: absent}}, want{act: request.Create}},
		"absent, attempted, not settled: it may not be visible yet": {
			facts{common: common{Attempted: true, Seen: absent}},
			want{phase: "Pending", ready: "False", reason: "LoadBalancerNotVisible", pace: request.Young}},
		"absent after ensure: created, not visible yet": {
			facts{common: common{Attempted: true, Asked: request.Create, Seen: absent}},
			want{phase: "Creating", ready: "False", reason: "LoadBalancerCreating", pace: request.Young}},
		"known and absent: lost, never created again": {
			facts{common: common{Attempted: true, Known: true, Settled: true, Phase: "Ready", Seen: absent}},
			want{phase: "Failed", ready: "False", reason: "LoadBalancerLost", pace: request.Steady}},
		"known and absent, not settled: nothing is said yet": {
			facts{common: common{Attempted: true, Known: true, Phase: "Ready", Seen: absent}},
			want{keep: true, pace: request.Young}},
		"partial: ensure resumes": {
			facts{common: common{Attempted: true, Applied: true, Seen: part}}, want{act: request.Create}},
		"partial after ensure: continues": {
			facts{common: common{Attempted: true, Asked: request.Create, Seen: part}},
			want{phase: "Creating", ready: "False", reason: "LoadBalancerCreating", pace: request.Young}},
		"a part was lost after it served: made again, phase stays": {
			facts{common: common{Attempted: true, Known: true, Served: true, Phase: "Ready", Asked: request.Create, Seen: in(provider.StatePartial)}},
			want{phase: "Ready", ready: "False", reason: "LoadBalancerNotReady", pace: request.Young}},
		"known, but only parts are left: lost": {
			facts{common: common{Attempted: true, Known: true, Settled: true, Phase: "Ready", Seen: part}},
			want{phase: "Failed", ready: "False", reason: "LoadBalancerLost", pace: request.Steady}},
		"pending, spec not applied: ensure": {
			facts{common: common{Attempted: true, Seen: in(provider.StatePending)}}, want{act: request.Create}},
		"pending: creating": {
			facts{common: common{Attempted: true, Applied: true, Seen: in(provider.StatePending)}},
			want{phase: "Creating", ready: "False", reason: "LoadBalancerCreating", pace: request.Young}},
		"pending after it served: phase stays": {
			facts{common: common{Attempted: true, Known: true, Served: true, Applied: true, Phase: "Ready", Seen: in(provider.StatePending)}},
			want{phase: "Ready", ready: "False", reason: "LoadBalancerNotReady", pace: request.Young}},
		"running without endpoint: creating": {
			facts{common: common{Attempted: true, Applied: true, Phase: "Creating", Seen: in(provider.StateRunning)}},
			want{phase: "Creating", ready: "False", reason: "LoadBalancerCreating", pace: request.Young}},
		"running: ready": {
			facts{common: common{Attempted: true, Applied: true, Phase: "Creating", Seen: running}, targets: 2},
			want{phase: "Ready", ready: "True", reason: "LoadBalancerReady", pace: request.Steady}},
		"running, other targets wanted: ensure": {
			facts{common: common{Attempted: true, Phase: "Ready", Seen: running}, targets: 2}, want{act: request.Create}},
		"running, the platform has lost a target: ensure": {
			facts{common: common{Attempted: true, Applied: true, Phase: "Ready", Seen: running}, targets: 3}, want{act: request.Create}},
		"running, a target is not registered yet: said": {
			facts{common: common{Attempted: true, Applied: true, Phase: "Ready", Asked: request.Create, Seen: running}, targets: 3},
			want{phase: "Ready", ready: "False", reason: "TargetsMissing", pace: request.Young}},
		"running again after failed: recovers": {
			facts{common: common{Attempted: true, Known: true, Applied: true, Phase: "Failed", Seen: running}, targets: 2},
			want{phase: "Ready", ready: "True", reason: "LoadBalancerReady", pace: request.Steady}},
		"broken": {
			facts{common: common{Attempted: true, Phase: "Creating", Seen: in(provider.StateBroken)}},
			want{phase: "Failed", ready: "False", reason: "LoadBalancerBroken", pace: request.Steady}},
		"deleted by another client: reported, phase unchanged": {
			facts{common: common{Attempted: true, Known: true, Phase: "Ready", Seen: in(provider.StateDeleting)}},
			want{phase: "Ready", ready: "False", reason: "LoadBalancerDeleting", pace: request.Young}},

		"unavailable before ready: phase unchanged": {
			facts{common: common{Attempted: true, Phase: "Creating", Err: fault(provider.Unavailable)}},
			want{phase: "Creating", ready: "False", reason: "SomeUnavailable", pace: request.Backoff}},
		"exhausted at first: pending": {
			facts{common: common{Err: fault(provider.Exhausted)}},
			want{phase: "Pending", ready: "False", reason: "SomeExhausted", pace: request.Backoff}},
		"invalid before ready: failed": {
			facts{common: common{Phase: "Creating", Err: fault(provider.Invalid)}},
			want{phase: "Failed", ready: "False", reason: "SomeInvalid", pace: request.Slow}},
		"conflict: failed": {
			facts{common: common{Asked: request.Create, Err: fault(provider.Conflict)}},
			want{phase: "Failed", ready: "False", reason: "SomeConflict", pace: request.Slow}},
		"failed and unavailable: stays failed": {
			facts{common: common{Phase: "Failed", Err: fault(provider.Unavailable)}},
			want{phase: "Failed", ready: "False", reason: "SomeUnavailable", pace: request.Backoff}},
		"ready, out of sight for less than a minute: nothing is said": {
			facts{common: common{Phase: "Ready", Failing: request.Patience - 1, Err: fault(provider.Unauthorized)}},
			want{keep: true, phase: "Ready", ready: "False", reason: "SomeUnauthorized", pace: request.Backoff}},
		"ready, out of sight for a minute: unknown, phase stays": {
			facts{common: common{Phase: "Ready", Failing: request.Patience, Err: fault(provider.Unauthorized)}},
			want{phase: "Ready", ready: "Unknown", reason: "SomeUnauthorized", pace: request.Backoff}},
		"ready, new targets are refused: said at once, phase stays": {
			facts{common: common{Phase: "Ready", Asked: request.Create, Failing: time.Second, Err: fault(provider.Invalid)}},
			want{phase: "Ready", ready: "False", reason: "SomeInvalid", pace: request.Slow}},
		"ready, new targets have to wait: said at once": {
			facts{common: common{Phase: "Ready", Asked: request.Create, Err: fault(provider.Unavailable)}},
			want{phase: "Ready", ready: "False", reason: "SomeUnavailable", pace: request.Backoff}},

		"deleting a ready one: delete": {
			facts{common: common{Deleting: true, Attempted: true, Known: true, Seen: running}},
			want{act: request.Delete, phase: "Deleting", ready: "False", reason: "LoadBalancerDeleting", pace: request.Young}},
		"deleting a partial one: delete": {
			facts{common: common{Deleting: true, Attempted: true, Seen: part}},
			want{act: request.Delete, phase: "Deleting", ready: "False", reason: "LoadBalancerDeleting", pace: request.Young}},
		"delete was asked: wait": {
			facts{common: common{Deleting: true, Attempted: true, Asked: request.Delete, Seen: running}},
			want{phase: "Deleting", ready: "False", reason: "LoadBalancerDeleting", pace: request.Young}},
		"the platform deletes: wait": {
			facts{common: common{Deleting: true, Attempted: true, Seen: in(provider.StateDeleting)}},
			want{phase: "Deleting", ready: "False", reason: "LoadBalancerDeleting", pace: request.Young}},
		"deleting, absent, not settled: it may still show up": {
			facts{common: common{Deleting: true, Attempted: true, Seen: absent}},
			want{phase: "Deleting", ready: "False", reason: "LoadBalancerDeleting", pace: request.Young}},
		"deleting, absent and settled: release": {
			facts{common: common{Deleting: true, Attempted: true, Settled: true, Seen: absent}},
			want{act: request.Release, keep: true, phase: "Deleting", ready: "False", reason: "LoadBalancerDeleting", pace: request.Young}},
		"deleting while unavailable: nothing is released": {
			facts{common: common{Deleting: true, Attempted: true, Err: fault(provider.Unavailable)}},
			want{phase: "Deleting", ready: "False", reason: "SomeUnavailable", pace: request.Backoff}},
		"deleting without permission: nothing is released": {
			facts{common: common{Deleting: true, Attempted: true, Err: fault(provider.Unauthorized)}},
			want{phase: "Deleting", ready: "False", reason: "SomeUnauthorized", pace: request.Slow}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := decide(c.facts)
			got := want{d.Act, d.Keep, d.Phase, d.Ready, d.Reason, d.Pace}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
