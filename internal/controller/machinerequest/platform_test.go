// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// redirected is a fixture with a running machine, whose credentials are then
// replaced by those of another platform.
func redirected(t *testing.T, other inmemory.Options) (*fixture, *inmemory.Platform, *v1alpha1.MachineRequest) {
	t.Helper()
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	there := inmemory.New(other)
	w.platform.Redirect(there)
	w.Nudge()
	w.Await(func() error {
		if there.Calls(inmemory.Connect) == 0 {
			return fmt.Errorf("not connected to the other platform")
		}
		return nil
	})
	return w, there, r
}

// accept removes the record, as a user does who has restored the platform.
func (w *fixture) accept(r *v1alpha1.MachineRequest) {
	w.Helper()
	w.Must(w.Patch(w.Context(), r, client.RawPatch(types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, v1alpha1.AnnotationPlatform))))
	w.Nudge()
}

func TestADeletionIsHeldWhileAnotherPlatformAnswers(t *testing.T) {
	w, there, r := redirected(t, inmemory.Options{})
	w.Must(w.Delete(w.Context(), r))
	w.reason(r, request.ReasonPlatformChanged)
	w.machines(1)
	if n := there.Calls(inmemory.Delete); n > 0 {
		t.Errorf("%d deletions were sent to the other platform", n)
	}
	w.platform.Lift()
	w.Nudge()
	w.Gone(r)
	w.machines(0)
}

func TestAMachineIsNotLostWhileAnotherPlatformAnswers(t *testing.T) {
	w, there, r := redirected(t, inmemory.Options{})
	w.clock.advance(request.Patience)
	w.phase(r, v1alpha1.MachineUnknown)
	w.reason(r, request.ReasonPlatformChanged)
	w.recordPlatform(r)
	w.reason(w.request("b"), request.ReasonPlatformChanged)
	if n := len(there.Machines()); n > 0 {
		t.Errorf("%d machines were created on the other platform", n)
	}
}

// recordPlatform plays the controller of ProviderConfigs: it records the platform that a
// request is on.
func (w *fixture) recordPlatform(r *v1alpha1.MachineRequest) {
	w.Helper()
	config := w.Config(v1alpha1.ProviderHarvester)
	w.Must(w.Get(w.Context(), client.ObjectKeyFromObject(config), config))
	config.Status.Platform = r.Annotations[v1alpha1.AnnotationPlatform]
	w.Must(w.Status().Update(w.Context(), config))
}

// replaced is a fixture with a running machine, at whose platform's address another one
// answers then, over the connection that is open.
func replaced(t *testing.T) (*fixture, *inmemory.Platform, *v1alpha1.MachineRequest) {
	t.Helper()
	w := newFixture(t, inmemory.Options{Push: true})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	w.recordPlatform(r)
	there := inmemory.New(inmemory.Options{Push: true})
	w.platform.Replace(there)
	return w, there, r
}

func TestADeletionIsHeldWhenAnotherPlatformTakesTheAddress(t *testing.T) {
	w, there, r := replaced(t)
	restored, err := there.Provider(v1alpha1.ProviderHarvester).Connect(w.Context(), provider.Config{ProviderConfig: &v1alpha1.ProviderConfig{}})
	w.Must(err)
	w.Must(w.Get(w.Context(), client.ObjectKeyFromObject(r), r))
	_, err = restored.Machines.Create(w.Context(), provider.MachineSpec{MachineRef: provider.MachineRef{
		Name: r.Spec.MachineName, Owner: provider.Owner{ID: r.Annotations[v1alpha1.AnnotationOwnerID]},
	}})
	w.Must(err)
	w.Must(w.Delete(w.Context(), r))
	w.reason(r, request.ReasonPlatformChanged)
	w.machines(1)
	if n := len(there.Machines()); n != 1 {
		t.Errorf("of a restored copy on the other platform %d are left", n)
	}
	w.platform.Lift()
	w.Nudge()
	w.Gone(r)
	w.machines(0)
}

func TestNothingIsCreatedOnAPlatformThatTakesTheAddress(t *testing.T) {
	w, there, _ := replaced(t)
	b := w.request("b")
	w.reason(b, request.ReasonPlatformChanged)
	if n := len(there.Machines()); n > 0 {
		t.Errorf("%d machines were created on the other platform", n)
	}
	w.platform.Lift()
	w.Nudge()
	w.phase(b, v1alpha1.MachineRunning)
	w.machines(2)
}

func TestAPlatformThatCannotBeComparedReleasesNothing(t *testing.T) {
	w, _, r := redirected(t, inmemory.Options{Identity: "else=1"})
	w.Must(w.Delete(w.Context(), r))
	w.reason(r, request.ReasonPlatformUnknown)
	w.machines(1)
}

func TestWhoRemovesTheRecordAcceptsThePlatform(t *testing.T) {
	w, _, r := redirected(t, inmemory.Options{})
	w.accept(r)
	w.phase(r, v1alpha1.MachineFailed)
	if r.Status.FailureReason != v1alpha1.ReasonVMLost {
		t.Errorf("failure is %s", r.Status.FailureReason)
	}
	w.Must(w.Delete(w.Context(), r))
	w.Gone(r)
}

func TestARequestWithoutARecordGetsOneWhenItsMachineShows(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	first := r.Annotations[v1alpha1.AnnotationPlatform]
	w.accept(r)
	w.Await(func() error {
		if err := w.read(r); err != nil {
			return err
		}
		if got := r.Annotations[v1alpha1.AnnotationPlatform]; got == "" || got != first {
			return fmt.Errorf("the record is %q, at first it was %q", got, first)
		}
		return nil
	})
}
