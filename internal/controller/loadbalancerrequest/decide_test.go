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
		act    action
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
			facts{attempted: true, fresh: true, balancer: absent}, want{act: ensure}},
		"absent, never attempted: ensure": {
			facts{balancer: absent}, want{act: ensure}},
		"absent, attempted and settled: ensure again": {
			facts{attempted: true, settled: true, balancer: absent}, want{act: ensure}},
		"absent, attempted, not settled: it may not be visible yet": {
			facts{attempted: true, balancer: absent},
			want{phase: "Pending", ready: "False", reason: "LoadBalancerNotVisible", pace: request.Young}},
		"absent after ensure: created, not visible yet": {
			facts{attempted: true, asked: ensure, balancer: absent},
			want{phase: "Creating", ready: "False", reason: "LoadBalancerCreating", pace: request.Young}},
		"known and absent: lost, never made again": {
			facts{attempted: true, known: true, settled: true, phase: "Ready", balancer: absent},
			want{phase: "Failed", ready: "False", reason: "LoadBalancerLost", pace: request.Steady}},
		"known and absent, not settled: nothing is said yet": {
			facts{attempted: true, known: true, phase: "Ready", balancer: absent},
			want{keep: true, pace: request.Young}},
		"partial: ensure resumes": {
			facts{attempted: true, applied: true, balancer: part}, want{act: ensure}},
		"partial after ensure: goes on": {
			facts{attempted: true, asked: ensure, balancer: part},
			want{phase: "Creating", ready: "False", reason: "LoadBalancerCreating", pace: request.Young}},
		"a part was lost after it served: made again, phase stays": {
			facts{attempted: true, known: true, served: true, phase: "Ready", asked: ensure, balancer: in(provider.StatePartial)},
			want{phase: "Ready", ready: "False", reason: "LoadBalancerNotReady", pace: request.Young}},
		"known, but only parts are left: lost": {
			facts{attempted: true, known: true, settled: true, phase: "Ready", balancer: part},
			want{phase: "Failed", ready: "False", reason: "LoadBalancerLost", pace: request.Steady}},
		"pending, spec not applied: ensure": {
			facts{attempted: true, balancer: in(provider.StatePending)}, want{act: ensure}},
		"pending: creating": {
			facts{attempted: true, applied: true, balancer: in(provider.StatePending)},
			want{phase: "Creating", ready: "False", reason: "LoadBalancerCreating", pace: request.Young}},
		"pending after it served: phase stays": {
			facts{attempted: true, known: true, served: true, applied: true, phase: "Ready", balancer: in(provider.StatePending)},
			want{phase: "Ready", ready: "False", reason: "LoadBalancerNotReady", pace: request.Young}},
		"running without endpoint: creating": {
			facts{attempted: true, applied: true, phase: "Creating", balancer: in(provider.StateRunning)},
			want{phase: "Creating", ready: "False", reason: "LoadBalancerCreating", pace: request.Young}},
		"running: ready": {
			facts{attempted: true, applied: true, targets: 2, phase: "Creating", balancer: running},
			want{phase: "Ready", ready: "True", reason: "LoadBalancerReady", pace: request.Steady}},
		"running, other targets wanted: ensure": {
			facts{attempted: true, targets: 2, phase: "Ready", balancer: running}, want{act: ensure}},
		"running, the platform has lost a target: ensure": {
			facts{attempted: true, applied: true, targets: 3, phase: "Ready", balancer: running}, want{act: ensure}},
		"running, a target is not registered yet: said": {
			facts{attempted: true, applied: true, targets: 3, phase: "Ready", asked: ensure, balancer: running},
			want{phase: "Ready", ready: "False", reason: "TargetsMissing", pace: request.Young}},
		"running again after failed: recovers": {
			facts{attempted: true, known: true, applied: true, targets: 2, phase: "Failed", balancer: running},
			want{phase: "Ready", ready: "True", reason: "LoadBalancerReady", pace: request.Steady}},
		"broken": {
			facts{attempted: true, phase: "Creating", balancer: in(provider.StateBroken)},
			want{phase: "Failed", ready: "False", reason: "LoadBalancerBroken", pace: request.Steady}},
		"deleted by somebody else: said, phase unchanged": {
			facts{attempted: true, known: true, phase: "Ready", balancer: in(provider.StateDeleting)},
			want{phase: "Ready", ready: "False", reason: "LoadBalancerDeleting", pace: request.Young}},

		"unavailable before ready: phase unchanged": {
			facts{attempted: true, phase: "Creating", err: fault(provider.Unavailable)},
			want{phase: "Creating", ready: "False", reason: "SomeUnavailable", pace: request.Backoff}},
		"exhausted at first: pending": {
			facts{err: fault(provider.Exhausted)},
			want{phase: "Pending", ready: "False", reason: "SomeExhausted", pace: request.Backoff}},
		"invalid before ready: failed": {
			facts{phase: "Creating", err: fault(provider.Invalid)},
			want{phase: "Failed", ready: "False", reason: "SomeInvalid", pace: request.Slow}},
		"conflict: failed": {
			facts{asked: ensure, err: fault(provider.Conflict)},
			want{phase: "Failed", ready: "False", reason: "SomeConflict", pace: request.Slow}},
		"failed and unavailable: stays failed": {
			facts{phase: "Failed", err: fault(provider.Unavailable)},
			want{phase: "Failed", ready: "False", reason: "SomeUnavailable", pace: request.Backoff}},
		"ready, out of sight for less than a minute: nothing is said": {
			facts{phase: "Ready", failing: request.Patience - 1, err: fault(provider.Unauthorized)},
			want{keep: true, phase: "Ready", ready: "False", reason: "SomeUnauthorized", pace: request.Backoff}},
		"ready, out of sight for a minute: unknown, phase stays": {
			facts{phase: "Ready", failing: request.Patience, err: fault(provider.Unauthorized)},
			want{phase: "Ready", ready: "Unknown", reason: "SomeUnauthorized", pace: request.Backoff}},
		"ready, new targets are refused: said at once, phase stays": {
			facts{phase: "Ready", asked: ensure, failing: time.Second, err: fault(provider.Invalid)},
			want{phase: "Ready", ready: "False", reason: "SomeInvalid", pace: request.Slow}},
		"ready, new targets have to wait: said at once": {
			facts{phase: "Ready", asked: ensure, err: fault(provider.Unavailable)},
			want{phase: "Ready", ready: "False", reason: "SomeUnavailable", pace: request.Backoff}},

		"deleting a ready one: delete": {
			facts{deleting: true, attempted: true, known: true, balancer: running},
			want{act: remove, phase: "Deleting", ready: "False", reason: "LoadBalancerDeleting", pace: request.Young}},
		"deleting a partial one: delete": {
			facts{deleting: true, attempted: true, balancer: part},
			want{act: remove, phase: "Deleting", ready: "False", reason: "LoadBalancerDeleting", pace: request.Young}},
		"delete was asked: wait": {
			facts{deleting: true, attempted: true, asked: remove, balancer: running},
			want{phase: "Deleting", ready: "False", reason: "LoadBalancerDeleting", pace: request.Young}},
		"the platform deletes: wait": {
			facts{deleting: true, attempted: true, balancer: in(provider.StateDeleting)},
			want{phase: "Deleting", ready: "False", reason: "LoadBalancerDeleting", pace: request.Young}},
		"deleting, absent, not settled: it may still show up": {
			facts{deleting: true, attempted: true, balancer: absent},
			want{phase: "Deleting", ready: "False", reason: "LoadBalancerDeleting", pace: request.Young}},
		"deleting, absent and settled: release": {
			facts{deleting: true, attempted: true, settled: true, balancer: absent},
			want{act: release, phase: "Deleting", ready: "False", reason: "LoadBalancerDeleting", pace: request.Young}},
		"deleting while unavailable: nothing is released": {
			facts{deleting: true, attempted: true, err: fault(provider.Unavailable)},
			want{phase: "Deleting", ready: "False", reason: "SomeUnavailable", pace: request.Backoff}},
		"deleting without permission: nothing is released": {
			facts{deleting: true, attempted: true, err: fault(provider.Unauthorized)},
			want{phase: "Deleting", ready: "False", reason: "SomeUnauthorized", pace: request.Slow}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := decide(c.facts)
			got := want{d.act, d.keep, d.phase, d.ready, d.reason, d.pace}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
