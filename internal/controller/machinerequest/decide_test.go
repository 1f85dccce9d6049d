// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"errors"
	"net/netip"
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

func in(s provider.State) provider.Machine { return provider.Machine{State: s, ID: "id"} }

func TestDecide(t *testing.T) {
	running := provider.Machine{State: provider.StateRunning, ID: "id", Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.1")}}
	absent := provider.Machine{State: provider.StateAbsent}
	disk := provider.Machine{State: provider.StatePartial, Message: "the disk is there"}
	type want struct {
		act    request.Action
		keep   bool
		phase  v1alpha1.MachinePhase
		ready  metav1.ConditionStatus
		reason string
		pace   request.Pace
	}
	cases := map[string]struct {
		facts facts
		want  want
	}{
		"absent, attempt just recorded: create": {
			facts{Attempted: true, Fresh: true, Seen: absent}, want{act: request.Create}},
		"absent, never attempted: create": {
			facts{Seen: absent}, want{act: request.Create}},
		"absent, attempted and settled: create again": {
			facts{Attempted: true, Settled: true, Seen: absent}, want{act: request.Create}},
		"absent, attempted, not settled: it may not be visible yet": {
			facts{Attempted: true, Seen: absent},
			want{phase: "Pending", ready: "False", reason: "VMNotVisible", pace: request.Young}},
		"absent after create: created, not visible yet": {
			facts{Attempted: true, Fresh: true, Asked: request.Create, Seen: absent},
			want{phase: "Creating", ready: "False", reason: "VMCreating", pace: request.Young}},
		"known and absent: lost, never created again": {
			facts{Attempted: true, Known: true, Settled: true, Phase: "Running", Seen: absent},
			want{phase: "Failed", ready: "False", reason: "VMLost", pace: request.Steady}},
		"known and absent, not settled: nothing is said yet": {
			facts{Attempted: true, Known: true, Phase: "Running", Seen: absent},
			want{keep: true, pace: request.Young}},
		"known and absent before it ever ran: lost too": {
			facts{Attempted: true, Known: true, Settled: true, Phase: "Creating", Seen: absent},
			want{phase: "Failed", ready: "False", reason: "VMLost", pace: request.Steady}},
		"partial: create resumes": {
			facts{Attempted: true, Seen: disk}, want{act: request.Create}},
		"partial after create: continues": {
			facts{Attempted: true, Asked: request.Create, Seen: disk},
			want{phase: "Creating", ready: "False", reason: "VMCreating", pace: request.Young}},
		"known, but only its disk is left: lost": {
			facts{Attempted: true, Known: true, Settled: true, Phase: "Running", Seen: disk},
			want{phase: "Failed", ready: "False", reason: "VMLost", pace: request.Steady}},
		"a machine that ran misses a part: not created again": {
			facts{Attempted: true, Known: true, Served: true, Settled: true, Phase: "Running", Seen: in(provider.StatePartial)},
			want{phase: "Failed", ready: "False", reason: "VMIncomplete", pace: request.Steady}},
		"pending: creating": {
			facts{Attempted: true, Seen: in(provider.StatePending)},
			want{phase: "Creating", ready: "False", reason: "VMCreating", pace: request.Young}},
		"pending after it ran: still running, not ready": {
			facts{Attempted: true, Known: true, Served: true, Phase: "Running", Seen: in(provider.StatePending)},
			want{phase: "Running", ready: "False", reason: "VMNotRunning", pace: request.Young}},
		"running": {
			facts{Attempted: true, Phase: "Creating", Seen: running},
			want{phase: "Running", ready: "True", reason: "VMRunning", pace: request.Steady}},
		"running without an address: creating": {
			facts{Attempted: true, Phase: "Creating", Seen: in(provider.StateRunning)},
			want{phase: "Creating", ready: "False", reason: "VMCreating", pace: request.Young}},
		"running again after failed: recovers": {
			facts{Attempted: true, Known: true, Phase: "Failed", Seen: running},
			want{phase: "Running", ready: "True", reason: "VMRunning", pace: request.Steady}},
		"running again after unknown: recovers": {
			facts{Attempted: true, Known: true, Phase: "Unknown", Seen: running},
			want{phase: "Running", ready: "True", reason: "VMRunning", pace: request.Steady}},
		"off for good after it ran: lost": {
			facts{Attempted: true, Known: true, Served: true, Phase: "Running", Seen: in(provider.StateStopped)},
			want{phase: "Failed", ready: "False", reason: "VMLost", pace: request.Steady}},
		"off for good before it ever ran: broken": {
			facts{Attempted: true, Known: true, Phase: "Creating", Seen: in(provider.StateStopped)},
			want{phase: "Failed", ready: "False", reason: "VMBroken", pace: request.Steady}},
		"deleting one that is off: wait": {
			facts{Deleting: true, Attempted: true, Known: true, Served: true, Seen: in(provider.StateStopped)},
			want{phase: "Deleting", ready: "False", reason: "VMDeleting", pace: request.Young}},
		"broken": {
			facts{Attempted: true, Phase: "Creating", Seen: in(provider.StateBroken)},
			want{phase: "Failed", ready: "False", reason: "VMBroken", pace: request.Steady}},
		"deleted by another client: reported, phase unchanged": {
			facts{Attempted: true, Known: true, Phase: "Running", Seen: in(provider.StateDeleting)},
			want{phase: "Running", ready: "False", reason: "VMDeleting", pace: request.Young}},

		"unavailable before running: phase unchanged": {
			facts{Attempted: true, Phase: "Creating", Err: fault(provider.Unavailable)},
			want{phase: "Creating", ready: "False", reason: "SomeUnavailable", pace: request.Backoff}},
		"unavailable at first: pending": {
			facts{Err: fault(provider.Unavailable)},
			want{phase: "Pending", ready: "False", reason: "SomeUnavailable", pace: request.Backoff}},
		"exhausted: phase unchanged": {
			facts{Err: fault(provider.Exhausted)},
			want{phase: "Pending", ready: "False", reason: "SomeExhausted", pace: request.Backoff}},
		"an error that is no provider's passes by itself": {
			facts{Phase: "Creating", Err: errors.New("boom")},
			want{phase: "Creating", ready: "False", reason: "PlatformUnavailable", pace: request.Backoff}},
		"unauthorized before running: failed": {
			facts{Phase: "Creating", Err: fault(provider.Unauthorized)},
			want{phase: "Failed", ready: "False", reason: "SomeUnauthorized", pace: request.Slow}},
		"invalid: failed": {
			facts{Err: fault(provider.Invalid)},
			want{phase: "Failed", ready: "False", reason: "SomeInvalid", pace: request.Slow}},
		"conflict: failed": {
			facts{Err: fault(provider.Conflict)},
			want{phase: "Failed", ready: "False", reason: "SomeConflict", pace: request.Slow}},
		"failed and unavailable: stays failed": {
			facts{Phase: "Failed", Err: fault(provider.Unavailable)},
			want{phase: "Failed", ready: "False", reason: "SomeUnavailable", pace: request.Backoff}},
		"running, out of sight for less than a minute: nothing is said": {
			facts{Phase: "Running", Known: true, Served: true, Failing: request.Patience - 1, Err: fault(provider.Unauthorized)},
			want{keep: true, phase: "Running", ready: "False", reason: "SomeUnauthorized", pace: request.Backoff}},
		"running, out of sight for a minute: unknown, not failed": {
			facts{Phase: "Running", Known: true, Served: true, Failing: request.Patience, Err: fault(provider.Unauthorized)},
			want{phase: "Unknown", ready: "Unknown", reason: "SomeUnauthorized", pace: request.Backoff}},
		"unknown stays unknown": {
			facts{Phase: "Unknown", Known: true, Served: true, Failing: time.Second, Err: fault(provider.Invalid)},
			want{phase: "Unknown", ready: "Unknown", reason: "SomeInvalid", pace: request.Backoff}},

		"deleting one that still runs: wait": {
			facts{Deleting: true, Attempted: true, Known: true, Seen: running},
			want{phase: "Deleting", ready: "False", reason: "VMDeleting", pace: request.Young}},
		"deleting a partial one: wait": {
			facts{Deleting: true, Attempted: true, Seen: disk},
			want{phase: "Deleting", ready: "False", reason: "VMDeleting", pace: request.Young}},
		"the platform deletes: wait": {
			facts{Deleting: true, Attempted: true, Seen: in(provider.StateDeleting)},
			want{phase: "Deleting", ready: "False", reason: "VMDeleting", pace: request.Young}},
		"deleting, absent, not settled: it may still show up": {
			facts{Deleting: true, Attempted: true, Seen: absent},
			want{phase: "Deleting", ready: "False", reason: "VMDeleting", pace: request.Young}},
		"deleting, absent and settled: release": {
			facts{Deleting: true, Attempted: true, Settled: true, Seen: absent},
			want{act: request.Release, phase: "Deleted", ready: "False", reason: "VMDeleted", pace: request.Young}},
		"deleted before anything was attempted: release, no create": {
			facts{Deleting: true, Seen: absent},
			want{act: request.Release, phase: "Deleted", ready: "False", reason: "VMDeleted", pace: request.Young}},
		"deleting while unavailable: nothing is released": {
			facts{Deleting: true, Attempted: true, Err: fault(provider.Unavailable)},
			want{phase: "Deleting", ready: "False", reason: "SomeUnavailable", pace: request.Backoff}},
		"deleting without permission: nothing is released": {
			facts{Deleting: true, Attempted: true, Err: fault(provider.Unauthorized)},
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

func TestMessagesOfErrorsReachTheCondition(t *testing.T) {
	d := decide(facts{Err: fault(provider.Invalid)})
	if d.Message != "try: said so" {
		t.Errorf("message is %q", d.Message)
	}
}
