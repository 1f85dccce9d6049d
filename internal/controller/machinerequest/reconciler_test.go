// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

func TestARequestBecomesARunningMachine(t *testing.T) {
	w := newFixture(t, inmemory.Options{AddressDelay: time.Second})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineCreating)
	w.phase(r, v1alpha1.MachineRunning)
	want := v1alpha1.MachineRequestStatus{
		Phase: v1alpha1.MachineRunning, ProviderID: "machine-1",
		IPAddress: "10.0.0.1", IPAddresses: []string{"10.0.0.1"}, MACAddress: "52:54:00:00:00:01",
		Disks: []v1alpha1.MachineDisk{{Name: "root", Serial: "root"}}, ObservedGeneration: 1,
		Conditions: []metav1.Condition{{
			Type: "Ready", Status: "True", Reason: "VMRunning", Message: "Virtual machine is running", ObservedGeneration: 1,
		}},
	}
	ignore := cmpopts.IgnoreTypes(metav1.Time{}, &metav1.Time{})
	if diff := cmp.Diff(want, r.Status, ignore); diff != "" {
		t.Errorf("status (-want +got)\n%s", diff)
	}
	if !slices.Contains(r.Finalizers, "machinerequest.butler.butlerlabs.dev/harvester-finalizer") {
		t.Errorf("finalizers are %v", r.Finalizers)
	}
	spec, _ := w.platform.Spec("a")
	if id := r.Annotations[v1alpha1.AnnotationOwnerID]; id == "" || spec.Owner.ID != id {
		t.Errorf("owner is %q on the request and %q on the platform", id, spec.Owner.ID)
	}
	w.Event(r, "VMCreated")
	w.Event(r, "VMRunning")
}

func TestRequestsOfOtherProvidersAreNotTouched(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Must(w.Create(w.Context(), w.Secret()))
	w.Must(w.Create(w.Context(), w.Config(v1alpha1.ProviderProxmox)))
	foreign := w.request("foreign")
	orphan := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "orphan"}, Spec: foreign.Spec}
	orphan.Spec.ProviderRef.Name = "missing"
	w.Must(w.Create(w.Context(), orphan))
	claimed := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "claimed"}, Spec: orphan.Spec}
	claimed.Finalizers = []string{v1alpha1.FinalizerMachineRequest(v1alpha1.ProviderProxmox)}
	w.Must(w.Create(w.Context(), claimed))
	w.Must(w.Delete(w.Context(), claimed)) // by now only its own provider may let it go
	w.Must(w.read(claimed))
	w.Nudge()
	time.Sleep(500 * time.Millisecond)
	for _, r := range []*v1alpha1.MachineRequest{foreign, orphan, claimed} {
		before := r.ResourceVersion
		w.Must(w.read(r))
		if r.ResourceVersion != before {
			t.Errorf("%s was written: %+v", r.Name, r.Status)
		}
	}
	w.machines(0)
}

func TestALostResponseMakesNoSecondMachine(t *testing.T) {
	w := newFixture(t, inmemory.Options{Settle: 400 * time.Millisecond})
	w.platform.Lose(inmemory.Create)
	w.platform.Hide(2)
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	w.machines(1)
	if n := w.platform.Calls(inmemory.Create); n != 1 {
		t.Errorf("%d creates were sent", n)
	}
}

func TestAFailedCreateIsRepeatedAfterTheSettleWindow(t *testing.T) {
	w := newFixture(t, inmemory.Options{Settle: 2500 * time.Millisecond})
	w.platform.Fail(inmemory.Create, &provider.Error{Kind: provider.Exhausted, Reason: "NoCapacity", Op: "create", Err: errors.New("full")})
	w.Configure()
	r := w.request("a")
	w.reason(r, "NoCapacity")
	if r.Status.Phase != v1alpha1.MachinePending {
		t.Errorf("phase is %s", r.Status.Phase)
	}
	began := time.Now()
	w.phase(r, v1alpha1.MachineRunning)
	if waited := time.Since(began); waited < 2*time.Second {
		t.Errorf("created again after %v", waited)
	}
}

func TestAPartialMachineIsCompleted(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.platform.Halve()
	w.Configure()
	w.phase(w.request("a"), v1alpha1.MachineRunning)
	if n := w.platform.Calls(inmemory.Create); n != 2 {
		t.Errorf("%d creates were sent", n)
	}
}

func TestDeletionWaitsForTheMachineToBeGone(t *testing.T) {
	w := newFixture(t, inmemory.Options{DeleteDelay: 2 * time.Second})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	w.Must(w.Delete(w.Context(), r))
	w.phase(r, v1alpha1.MachineDeleting)
	w.machines(1)
	if !slices.Contains(r.Finalizers, v1alpha1.FinalizerMachineRequest(v1alpha1.ProviderHarvester)) {
		t.Error("released before the machine was gone")
	}
	w.Gone(r)
	w.machines(0)
	w.Event(r, "VMDeleting")
	w.Event(r, "VMDeleted")
}

func TestDeletionOutlastsStaleAbsence(t *testing.T) {
	w := newFixture(t, inmemory.Options{Settle: 500 * time.Millisecond})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	w.platform.Hide(1)
	w.Must(w.Delete(w.Context(), r))
	w.Gone(r)
	w.machines(0)
}

func TestARequestThatNeverReachedItsPlatformIsDeletedAtOnce(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	for range 50 {
		w.platform.Fail(inmemory.Connect, &provider.Error{Kind: provider.Unauthorized, Reason: "Refused", Op: "connect", Hint: "correct it"})
	}
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineFailed)
	w.Must(w.Delete(w.Context(), r))
	w.Gone(r)
	if n := w.platform.Calls(inmemory.Create); n != 0 {
		t.Errorf("%d creates were sent", n)
	}
}

func TestAConflictingMachineIsNeitherAdoptedNorDeleted(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.platform.CreateConflict(provider.MachineRef{Name: "a", Owner: provider.Owner{ID: "other"}})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineFailed)
	if r.Status.FailureReason != "NameTaken" || !strings.Contains(r.Status.FailureMessage, "choose another machineName") {
		t.Errorf("failure is %s: %s", r.Status.FailureReason, r.Status.FailureMessage)
	}
	w.Event(r, "NameTaken")
	w.Must(w.Delete(w.Context(), r))
	w.Gone(r)
	w.machines(1)
}

func TestAFailedRequestHealsOnAChangeOfTheSecret(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.platform.CreateConflict(provider.MachineRef{Name: "a", Owner: provider.Owner{ID: "other"}})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineFailed)
	w.platform.Remove("a")
	w.Nudge()
	w.phase(r, v1alpha1.MachineRunning)
	if r.Status.FailureReason != "" || r.Status.FailureMessage != "" {
		t.Errorf("failure is still %s: %s", r.Status.FailureReason, r.Status.FailureMessage)
	}
	w.Event(r, "VMRecovered")
}

func TestAMachineThatVanishedIsReportedAndNotMadeAgain(t *testing.T) {
	w := newFixture(t, inmemory.Options{Push: true, Settle: 300 * time.Millisecond})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	w.platform.Remove("a")
	w.phase(r, v1alpha1.MachineFailed)
	if r.Status.FailureReason != "VMLost" {
		t.Errorf("failure is %s", r.Status.FailureReason)
	}
	w.Nudge()
	time.Sleep(300 * time.Millisecond)
	w.machines(0)
	w.Must(w.Delete(w.Context(), r))
	w.Gone(r)
}

func TestAMachineThatIsSwitchedOffIsLostUntilItRunsAgain(t *testing.T) {
	w := newFixture(t, inmemory.Options{Push: true})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	w.platform.Stop("a", "the virtual machine was switched off")
	w.phase(r, v1alpha1.MachineFailed)
	if r.Status.FailureReason != "VMLost" || r.Status.IPAddress == "" || !names(r) {
		t.Errorf("failure is %s: %s, address %q", r.Status.FailureReason, r.Status.FailureMessage, r.Status.IPAddress)
	}
	w.platform.Stop("a", "")
	w.phase(r, v1alpha1.MachineRunning)
	w.Event(r, "VMRecovered")
}

// names reports whether the Ready condition names the platform's ID of the machine.
func names(r *v1alpha1.MachineRequest) bool {
	return r.Status.ProviderID != "" && strings.Contains(r.Status.Conditions[0].Message, r.Status.ProviderID)
}

func TestPushedChangesReachTheStatusWithinASecond(t *testing.T) {
	w := newFixture(t, inmemory.Options{Push: true})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	began := time.Now()
	w.platform.Break("a", "the host is on fire")
	w.phase(r, v1alpha1.MachineFailed)
	w.platform.Break("a", "")
	w.phase(r, v1alpha1.MachineRunning)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("two changes took %v", took)
	}
}

func TestARunningMachineOutOfSightBecomesUnknownAndRecovers(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	w.platform.Refuse(&provider.Error{Kind: provider.Unauthorized, Reason: "Refused", Op: "observe"}, inmemory.Observe)
	w.refusedTwice()
	version := r.ResourceVersion
	w.Must(w.read(r))
	if r.ResourceVersion != version {
		t.Errorf("written before the minute was over: %+v", r.Status)
	}
	w.clock.advance(request.Patience)
	w.phase(r, v1alpha1.MachineUnknown)
	if !names(r) {
		t.Errorf("machine %s: %s", r.Status.ProviderID, r.Status.Conditions[0].Message)
	}
	w.Event(r, "Refused")
	w.platform.Lift()
	w.phase(r, v1alpha1.MachineRunning)
	w.Event(r, "VMRecovered")
}

// refusedTwice waits for two observations: once the second one begins, the first is recorded.
func (w *fixture) refusedTwice() {
	w.Helper()
	for range 2 {
		before := w.platform.Calls(inmemory.Observe)
		w.Nudge()
		w.Await(func() error {
			if w.platform.Calls(inmemory.Observe) == before {
				return errors.New("not asked yet")
			}
			return nil
		})
	}
}

func TestARequestWaitsForItsSecretWithoutFailing(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Must(w.Create(w.Context(), w.Config(v1alpha1.ProviderHarvester)))
	r := w.request("a")
	w.reason(r, "CredentialsNotFound")
	if r.Status.Phase != v1alpha1.MachinePending || len(r.Finalizers) != 0 {
		t.Errorf("phase %s, finalizers %v", r.Status.Phase, r.Finalizers)
	}
	w.Must(w.Create(w.Context(), w.Secret()))
	w.phase(r, v1alpha1.MachineRunning)
}

func TestARequestWaitsForItsProviderConfigUntouched(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Must(w.Create(w.Context(), w.Secret()))
	r := w.request("a")
	time.Sleep(200 * time.Millisecond)
	w.Must(w.Create(w.Context(), w.Config(v1alpha1.ProviderHarvester)))
	w.phase(r, v1alpha1.MachineRunning)
}

func TestWithoutProviderConfigNothingIsReleased(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	config := w.Config(v1alpha1.ProviderHarvester)
	w.Must(w.Delete(w.Context(), config))
	w.Must(w.Delete(w.Context(), r))
	w.reason(r, "ProviderConfigNotFound")
	w.machines(1)
	w.Must(w.Create(w.Context(), w.Config(v1alpha1.ProviderHarvester)))
	w.Gone(r)
	w.machines(0)
}

func TestWithoutCredentialsNothingIsReleased(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	w.Must(w.Delete(w.Context(), w.Secret()))
	w.Must(w.Delete(w.Context(), r))
	w.reason(r, "CredentialsNotFound")
	if r.Status.Phase != v1alpha1.MachineDeleting || !strings.Contains(r.Status.Conditions[0].Message, "create it") {
		t.Errorf("phase %s, condition %+v", r.Status.Phase, r.Status.Conditions[0])
	}
	w.machines(1)
	w.Must(w.Create(w.Context(), w.Secret()))
	w.Gone(r)
	w.machines(0)
}

func TestTwoRequestsForOneNameMakeOneMachine(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	first := w.request("a")
	w.phase(first, v1alpha1.MachineRunning)
	second := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "b"}, Spec: first.Spec}
	w.Must(w.Create(w.Context(), second))
	w.phase(second, v1alpha1.MachineFailed)
	w.Must(w.Delete(w.Context(), second))
	w.Gone(second)
	w.machines(1)
}

func TestALongMessageStillMakesAnEvent(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.platform.Fail(inmemory.Create, &provider.Error{Kind: provider.Invalid, Reason: "Long", Op: "create", Err: errors.New(strings.Repeat("é", 2000))})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineFailed)
	w.Event(r, "Long")
}

func TestNothingIsWrittenWhileNothingChanges(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	seen := w.platform.Calls(inmemory.Observe)
	for range 3 {
		w.Nudge()
		time.Sleep(100 * time.Millisecond)
	}
	if w.platform.Calls(inmemory.Observe) == seen {
		t.Fatal("the request did not come up again")
	}
	version := r.ResourceVersion
	w.Must(w.read(r))
	if r.ResourceVersion != version {
		t.Errorf("the request was written: %+v", r.Status)
	}
}

func TestLastUpdatedMovesOnlyWithAChange(t *testing.T) {
	w := newFixture(t, inmemory.Options{Push: true})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	before := r.Status.LastUpdated.Time
	w.clock.advance(time.Hour)
	seen := w.platform.Calls(inmemory.Observe)
	w.Nudge()
	w.Await(func() error {
		if w.platform.Calls(inmemory.Observe) == seen {
			return errors.New("not asked yet")
		}
		return nil
	})
	time.Sleep(100 * time.Millisecond)
	w.Must(w.read(r))
	if !r.Status.LastUpdated.Time.Equal(before) {
		t.Errorf("lastUpdated moved by %v without a change", r.Status.LastUpdated.Sub(before))
	}
	w.platform.Break("a", "the host is on fire")
	w.phase(r, v1alpha1.MachineFailed)
	if moved := r.Status.LastUpdated.Sub(before); moved < time.Hour {
		t.Errorf("lastUpdated moved by %v with a change", moved)
	}
}

func TestDeletionWaitsForACreateWhoseAnswerWasLost(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.platform.Fail(inmemory.Create, &provider.Error{Kind: provider.Unavailable, Reason: "TimedOut", Op: "create"})
	w.Configure()
	r := w.request("a")
	w.reason(r, "TimedOut")
	w.Must(w.Delete(w.Context(), r))
	w.phase(r, v1alpha1.MachineDeleting)
	time.Sleep(500 * time.Millisecond)
	w.Must(w.read(r)) // it is kept: the machine may still come up
	w.clock.advance(90 * time.Second)
	w.Gone(r)
}

func TestARestartedReconcilerContinues(t *testing.T) {
	w := newFixture(t, inmemory.Options{AddressDelay: time.Second})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineCreating)
	w.stop()
	w.start() // another one, without any memory of the first
	w.phase(r, v1alpha1.MachineRunning)
	w.machines(1)
}

func TestARemovedOwnerIsNotReplaced(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	base := r.DeepCopy()
	delete(r.Annotations, v1alpha1.AnnotationOwnerID)
	w.Must(w.Patch(w.Context(), r, client.MergeFrom(base)))
	w.Must(w.Delete(w.Context(), r))
	w.reason(r, "OwnerMissing")
	w.machines(1)
}

func TestARequestThatMovedHereKeepsItsOwnerAndItsMachine(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	id, machine := r.Annotations[v1alpha1.AnnotationOwnerID], r.Status.ProviderID
	w.stop()
	r.Finalizers = nil
	w.Must(w.Update(w.Context(), r))
	w.Must(w.Delete(w.Context(), r))
	moved := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.Namespace, Name: "a", Annotations: map[string]string{v1alpha1.AnnotationOwnerID: id},
	}, Spec: r.Spec}
	w.Must(w.Create(w.Context(), moved))
	w.start()
	w.phase(moved, v1alpha1.MachineRunning)
	w.machines(1)
	if got := moved.Annotations[v1alpha1.AnnotationOwnerID]; got != id || moved.Status.ProviderID != machine {
		t.Errorf("owner %q became %q, machine %s became %s", id, got, machine, moved.Status.ProviderID)
	}
}
