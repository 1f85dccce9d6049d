// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/crashtest"
	"github.com/butlerdotdev/butler/internal/controller/session"
)

// behaviours are the platforms that every disturbance is tried on, the hardest first.
var behaviours = []struct {
	name string
	crashtest.Behaviour
}{
	{"parts, and late", crashtest.Behaviour{Lag: 2 * time.Second, Settle: 4 * time.Second, Halves: true}},
	{"calls take long", crashtest.Behaviour{Late: 50 * time.Second}},
	{"made in parts", crashtest.Behaviour{Halves: true}},
	{"shown late", crashtest.Behaviour{Lag: 2 * time.Second, Settle: 4 * time.Second}},
	{"shown at once", crashtest.Behaviour{}},
}

// hardest is the behaviour that every test tries.
var hardest = behaviours[0].Behaviour

func subject() crashtest.Subject {
	return crashtest.Subject{
		New: func() client.Object {
			return &v1alpha1.MachineRequest{Spec: v1alpha1.MachineRequestSpec{
				ProviderRef: v1alpha1.ProviderReference{Name: crashtest.ConfigName}, MachineName: "a",
				Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 20,
			}}
		},
		Reconciler: func(c client.Client, s *session.Sessions, now func() time.Time) crashtest.Reconciler {
			r := &reconciler{Kind: machines(), Client: c, Type: v1alpha1.ProviderHarvester, Sessions: s, Events: &events.FakeRecorder{}, Clock: now}
			return func(ctx context.Context, o client.Object) (reconcile.Result, error) {
				return r.Reconcile(ctx, o.(*v1alpha1.MachineRequest))
			}
		},
		Done: func(o client.Object) bool {
			phase := o.(*v1alpha1.MachineRequest).Status.Phase
			return phase == v1alpha1.MachineRunning || phase == v1alpha1.MachineFailed
		},
	}
}

func TestDeathAtAnyPointLeavesOneMachineAndThenNone(t *testing.T) {
	for _, b := range crashtest.Sampled(behaviours, 2) {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			l := crashtest.New(t, api, subject(), b.Behaviour)
			l.Crashes()
			l.Report(t, 50, 1000)
		})
	}
}

func TestTwoDeathsLeaveOneMachineAndThenNone(t *testing.T) {
	l := crashtest.New(t, api, subject(), hardest)
	l.CrashPairs(40, crashtest.Seed(t))
	l.Report(t, 41, 1000)
}

func TestStaleReadsLeaveOneMachineAndThenNone(t *testing.T) {
	for _, b := range crashtest.Sampled(behaviours, 1) {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			l := crashtest.New(t, api, subject(), b.Behaviour)
			l.StaleReads(3)
			l.Report(t, 25, 500)
		})
	}
}

func TestWhatGoesUnseenLeavesOneMachineAndThenNone(t *testing.T) {
	for _, b := range crashtest.Sampled(behaviours, 1) {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			l := crashtest.New(t, api, subject(), b.Behaviour)
			l.Unseen()
			l.Report(t, 15, 200)
		})
	}
}

func TestCopiesLeaveTheMachineToItsRequest(t *testing.T) {
	l := crashtest.New(t, api, subject(), hardest)
	l.Copies()
	l.Report(t, 5, 100)
}

// The lab must be able to find what it looks for.

func TestTheLabFindsASecondMachineWhereTheWindowIsTooShort(t *testing.T) {
	l := crashtest.New(t, api, subject(), crashtest.Behaviour{Lag: 2 * time.Second})
	l.Until = "2 things exist"
	l.Crashes()
	demand(t, l)
}

func TestTheLabFindsALeftMachineWhereStaleWritesSucceed(t *testing.T) {
	l := crashtest.New(t, api, subject(), crashtest.Behaviour{})
	l.Unlocked = true
	l.Until = "1 things are left after the request is gone"
	l.StaleReads(4)
	demand(t, l)
}

func TestTheLabFindsADeletedMachineWhereCopiesAreNotRecognised(t *testing.T) {
	l := crashtest.New(t, api, subject(), crashtest.Behaviour{})
	l.Blind = true
	l.Until = "a thing was deleted while its request was not"
	l.Copies()
	demand(t, l)
}

func demand(t *testing.T, l *crashtest.Lab) {
	t.Helper()
	if !l.Found() {
		t.Errorf("%d lives, and none with %q: %s", l.Lives, l.Until, l.Violations)
	}
}
