// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"context"
	"testing"

	"k8s.io/client-go/tools/events"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// leftover is a platform that has nothing but the disk of a machine.
type leftover struct {
	provider.Machines
	creates int
}

func (l *leftover) Observe(_ context.Context, ref provider.MachineRef) (provider.Machine, error) {
	return provider.Machine{Ref: ref, State: provider.StatePartial, Message: "the disk is there"}, nil
}

func (l *leftover) Create(_ context.Context, s provider.MachineSpec) (provider.Machine, error) {
	l.creates++
	return provider.Machine{Ref: s.MachineRef, State: provider.StatePending}, nil
}

// An API server that lags serves a request as it was before its machine was
// shown: of what is lost meanwhile nothing is created for it.
func TestAnOutdatedRequestCompletesNothing(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	r := w.request("a")
	outdated := r.ResourceVersion
	w.phase(r, v1alpha1.MachineRunning)
	w.stop()
	platform := &leftover{}
	s := session.New(session.Options{Cache: w, Live: w, Provider: provider.Provider{
		Type: v1alpha1.ProviderHarvester,
		Connect: func(context.Context, provider.Config) (provider.Platform, error) {
			return provider.Platform{Machines: platform}, nil
		},
	}})
	rec := &reconciler{Kind: machines(), Client: w, Type: v1alpha1.ProviderHarvester, Sessions: s, Events: &events.FakeRecorder{}, Clock: w.clock.now}
	r.Status, r.ResourceVersion = v1alpha1.MachineRequestStatus{}, outdated
	if _, err := rec.Reconcile(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if platform.creates != 0 {
		t.Errorf("%d creates were sent", platform.creates)
	}
}
