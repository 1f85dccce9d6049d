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
		act    action
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
			facts{attempted: true, fresh: true, machine: absent}, want{act: create}},
		"absent, never attempted: create": {
			facts{machine: absent}, want{act: create}},
		"absent, attempted and settled: create again": {
			facts{attempted: true, settled: true, machine: absent}, want{act: create}},
		"absent, attempted, not settled: it may not be visible yet": {
			facts{attempted: true, machine: absent},
			want{phase: "Pending", ready: "False", reason: "VMNotVisible", pace: request.Young}},
		"absent after create: created, not visible yet": {
			facts{attempted: true, fresh: true, asked: create, machine: absent},
			want{phase: "Creating", ready: "False", reason: "VMCreating", pace: request.Young}},
		"known and absent: lost, never created again": {
			facts{attempted: true, known: true, settled: true, phase: "Running", machine: absent},
			want{phase: "Failed", ready: "False", reason: "VMLost", pace: request.Steady}},
		"known and absent, not settled: nothing is said yet": {
			facts{attempted: true, known: true, phase: "Running", machine: absent},
			want{keep: true, pace: request.Young}},
		"known and absent before it ever ran: lost too": {
			facts{attempted: true, known: true, settled: true, phase: "Creating", machine: absent},
			want{phase: "Failed", ready: "False", reason: "VMLost", pace: request.Steady}},
		"partial: create resumes": {
			facts{attempted: true, machine: disk}, want{act: create}},
		"partial after create: goes on": {
			facts{attempted: true, asked: create, machine: disk},
			want{phase: "Creating", ready: "False", reason: "VMCreating", pace: request.Young}},
		"known, but only its disk is left: lost": {
			facts{attempted: true, known: true, settled: true, phase: "Running", machine: disk},
			want{phase: "Failed", ready: "False", reason: "VMLost", pace: request.Steady}},
		"a machine that ran misses a part: not made anew": {
			facts{attempted: true, known: true, ran: true, settled: true, phase: "Running", machine: in(provider.StatePartial)},
			want{phase: "Failed", ready: "False", reason: "VMIncomplete", pace: request.Steady}},
		"pending: creating": {
			facts{attempted: true, machine: in(provider.StatePending)},
			want{phase: "Creating", ready: "False", reason: "VMCreating", pace: request.Young}},
		"pending after it ran: still running, not ready": {
			facts{attempted: true, known: true, ran: true, phase: "Running", machine: in(provider.StatePending)},
			want{phase: "Running", ready: "False", reason: "VMNotRunning", pace: request.Young}},
		"running": {
			facts{attempted: true, phase: "Creating", machine: running},
			want{phase: "Running", ready: "True", reason: "VMRunning", pace: request.Steady}},
		"running without an address: creating": {
			facts{attempted: true, phase: "Creating", machine: in(provider.StateRunning)},
			want{phase: "Creating", ready: "False", reason: "VMCreating", pace: request.Young}},
		"running again after failed: recovers": {
			facts{attempted: true, known: true, phase: "Failed", machine: running},
			want{phase: "Running", ready: "True", reason: "VMRunning", pace: request.Steady}},
		"running again after unknown: recovers": {
			facts{attempted: true, known: true, phase: "Unknown", machine: running},
			want{phase: "Running", ready: "True", reason: "VMRunning", pace: request.Steady}},
		"off for good after it ran: lost": {
			facts{attempted: true, known: true, ran: true, phase: "Running", machine: in(provider.StateStopped)},
			want{phase: "Failed", ready: "False", reason: "VMLost", pace: request.Steady}},
		"off for good before it ever ran: broken": {
			facts{attempted: true, known: true, phase: "Creating", machine: in(provider.StateStopped)},
			want{phase: "Failed", ready: "False", reason: "VMBroken", pace: request.Steady}},
		"deleting one that is off: wait": {
			facts{deleting: true, attempted: true, known: true, ran: true, machine: in(provider.StateStopped)},
			want{phase: "Deleting", ready: "False", reason: "VMDeleting", pace: request.Young}},
		"broken": {
			facts{attempted: true, phase: "Creating", machine: in(provider.StateBroken)},
			want{phase: "Failed", ready: "False", reason: "VMBroken", pace: request.Steady}},
		"deleted by somebody else: said, phase unchanged": {
			facts{attempted: true, known: true, phase: "Running", machine: in(provider.StateDeleting)},
			want{phase: "Running", ready: "False", reason: "VMDeleting", pace: request.Young}},

		"unavailable before running: phase unchanged": {
			facts{attempted: true, phase: "Creating", err: fault(provider.Unavailable)},
			want{phase: "Creating", ready: "False", reason: "SomeUnavailable", pace: request.Backoff}},
		"unavailable at first: pending": {
			facts{err: fault(provider.Unavailable)},
			want{phase: "Pending", ready: "False", reason: "SomeUnavailable", pace: request.Backoff}},
		"exhausted: phase unchanged": {
			facts{err: fault(provider.Exhausted)},
			want{phase: "Pending", ready: "False", reason: "SomeExhausted", pace: request.Backoff}},
		"an error that is no provider's passes by itself": {
			facts{phase: "Creating", err: errors.New("boom")},
			want{phase: "Creating", ready: "False", reason: "PlatformUnavailable", pace: request.Backoff}},
		"unauthorized before running: failed": {
			facts{phase: "Creating", err: fault(provider.Unauthorized)},
			want{phase: "Failed", ready: "False", reason: "SomeUnauthorized", pace: request.Slow}},
		"invalid: failed": {
			facts{err: fault(provider.Invalid)},
			want{phase: "Failed", ready: "False", reason: "SomeInvalid", pace: request.Slow}},
		"conflict: failed": {
			facts{err: fault(provider.Conflict)},
			want{phase: "Failed", ready: "False", reason: "SomeConflict", pace: request.Slow}},
		"failed and unavailable: stays failed": {
			facts{phase: "Failed", err: fault(provider.Unavailable)},
			want{phase: "Failed", ready: "False", reason: "SomeUnavailable", pace: request.Backoff}},
		"running, out of sight for less than a minute: nothing is said": {
			facts{phase: "Running", known: true, ran: true, failing: request.Patience - 1, err: fault(provider.Unauthorized)},
			want{keep: true, phase: "Running", ready: "False", reason: "SomeUnauthorized", pace: request.Backoff}},
		"running, out of sight for a minute: unknown, not failed": {
			facts{phase: "Running", known: true, ran: true, failing: request.Patience, err: fault(provider.Unauthorized)},
			want{phase: "Unknown", ready: "Unknown", reason: "SomeUnauthorized", pace: request.Backoff}},
		"unknown stays unknown": {
			facts{phase: "Unknown", known: true, ran: true, failing: time.Second, err: fault(provider.Invalid)},
			want{phase: "Unknown", ready: "Unknown", reason: "SomeInvalid", pace: request.Backoff}},

		"deleting one that still runs: wait": {
			facts{deleting: true, attempted: true, known: true, machine: running},
			want{phase: "Deleting", ready: "False", reason: "VMDeleting", pace: request.Young}},
		"deleting a partial one: wait": {
			facts{deleting: true, attempted: true, machine: disk},
			want{phase: "Deleting", ready: "False", reason: "VMDeleting", pace: request.Young}},
		"the platform deletes: wait": {
			facts{deleting: true, attempted: true, machine: in(provider.StateDeleting)},
			want{phase: "Deleting", ready: "False", reason: "VMDeleting", pace: request.Young}},
		"deleting, absent, not settled: it may still show up": {
			facts{deleting: true, attempted: true, machine: absent},
			want{phase: "Deleting", ready: "False", reason: "VMDeleting", pace: request.Young}},
		"deleting, absent and settled: release": {
			facts{deleting: true, attempted: true, settled: true, machine: absent},
			want{act: release, phase: "Deleted", ready: "False", reason: "VMDeleted", pace: request.Young}},
		"deleted before anything was attempted: release, no create": {
			facts{deleting: true, machine: absent},
			want{act: release, phase: "Deleted", ready: "False", reason: "VMDeleted", pace: request.Young}},
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

func TestMessagesOfErrorsReachTheCondition(t *testing.T) {
	d := decide(facts{err: fault(provider.Invalid)})
	if d.message != "try: said so" {
		t.Errorf("message is %q", d.message)
	}
}

func TestARunningMachineIsAskedWhenItsMinuteIsOver(t *testing.T) {
	p := &pass{facts: facts{phase: "Running", err: fault(provider.Unavailable), failing: 57 * time.Second}}
	if got := p.outlook(decide(p.facts)).Within; got != 3*time.Second {
		t.Errorf("asked again within %v", got)
	}
}
