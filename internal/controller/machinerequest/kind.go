// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package machinerequest reconciles MachineRequests of one provider. It is the
// same for every platform: the driver observes, creates and deletes; what that
// means for a request is decided here. The pass is that of package request.
package machinerequest

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
)

// What package request works with, for machines.
type (
	kind     = request.Kind[*v1alpha1.MachineRequest, v1alpha1.MachinePhase, provider.Machine]
	pass     = request.Pass[*v1alpha1.MachineRequest, v1alpha1.MachinePhase, provider.Machine]
	facts    = request.Facts[v1alpha1.MachinePhase, provider.Machine]
	decision = request.Decision[v1alpha1.MachinePhase]
)

// How long a pushed change may wait for the ones that follow it. A deletion has
// several, of which the last one counts.
const (
	gathering         = 50 * time.Millisecond
	gatheringDeletion = 300 * time.Millisecond
)

// Register adds the reconciler of a provider to a manager.
func Register(m manager.Manager, o request.Options) error {
	return request.Register(m, o, machines())
}

// machines is the kind. Its requests mostly wait for the platform, so that many are
// reconciled at once.
func machines() kind {
	k := kind{
		Name: "machinerequest", Prefix: "VM", Up: v1alpha1.MachineRunning,
		Workers: 512, PerPlatform: 128, WhileSilent: 4,
		New:       func() *v1alpha1.MachineRequest { return &v1alpha1.MachineRequest{} },
		NewList:   func() client.ObjectList { return &v1alpha1.MachineRequestList{} },
		Finalizer: v1alpha1.FinalizerMachineRequest,
		Subject:   subjectOf, Status: statusOf,
		Observe: observe, Act: act, Describe: describe,
		Decide:  func(_ *v1alpha1.MachineRequest, f facts) decision { return decide(f) },
		Sighted: func(m provider.Machine) (string, provider.State) { return m.ID, m.State },
		Absent:  provider.Machine{State: provider.StateAbsent},
	}
	k.Extra.DeleteObserves, k.Extra.Adopts = true, true
	k.Extra.Plan, k.Extra.Certain = plan, func(m provider.Machine) bool { return m.State == provider.StateAbsent && m.Certain }
	k.Extra.Limit = func(l v1alpha1.ProviderLimits) *int32 { return l.MaxNodesPerTeam }
	k.Extra.Pushed, k.Extra.PushWithin = pushed, gatheringFor
	return k
}

func subjectOf(m *v1alpha1.MachineRequest) request.Subject {
	return request.Subject{
		Name: m.Spec.MachineName, What: fmt.Sprintf("machine %q", m.Spec.MachineName),
		ID: m.Status.ProviderID, Address: m.Status.IPAddress,
		Created: m.Status.IPAddress != "",
	}
}

func statusOf(m *v1alpha1.MachineRequest) request.Status[v1alpha1.MachinePhase] {
	s := &m.Status
	return request.Status[v1alpha1.MachinePhase]{
		Phase: &s.Phase, Conditions: &s.Conditions, FailureReason: &s.FailureReason, FailureMessage: &s.FailureMessage,
		ObservedGeneration: &s.ObservedGeneration, LastUpdated: &s.LastUpdated,
	}
}

// pushed reports whether the platform pushes the next change.
func pushed(p *pass, d decision) bool {
	switch {
	case p.Platform == nil || p.Platform.Changes == nil:
		return false
	case p.Facts.Deleting && p.Facts.Seen.ID == "":
		return false // nothing is pushed for the parts that are left without a machine
	case d.Pace == request.Steady && d.Ready != metav1.ConditionTrue:
		return false // not every change that could fix it is pushed
	}
	return true
}

func gatheringFor(m *v1alpha1.MachineRequest) time.Duration {
	if m.DeletionTimestamp.IsZero() {
		return gathering
	}
	return gatheringDeletion
}
