// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package pivot moves the management of a cluster from one plane to another: from
// the operator's machine onto the cluster itself, and back again before the
// cluster is destroyed. A move is recorded on both planes and has five stages, each of
// which can be repeated. Until the switch a move can be rolled back; after it, it can
// only be completed.
package pivot

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Stage is the progress of a move, as in the journal of both planes.
type Stage string

// The stages, in order.
const (
	Prepare Stage = "prepare" // both planes answer, and nothing blocks the move
	Copy    Stage = "copy"    // the controllers of the old plane have exited; objects are copied, fenced
	Verify  Stage = "verify"  // both planes are compared
	Switch  Stage = "switch"  // the old plane is fenced, then the new one is put in charge
	Retire  Stage = "retire"  // the objects of the old plane are removed
	Done    Stage = "done"
	// RolledBack is the last stage of a move that failed before the switch.
	RolledBack Stage = "rolled-back"
)

// Plane is an API server that a move reads from and writes to.
type Plane struct {
	// Name is for people.
	Name string
	// Kind is v1alpha1.PlaneLocal or v1alpha1.PlaneSelf.
	Kind string
	// Client reads from the API server, not from a cache.
	Client client.Client
}

// Side is a plane of a move, with its controllers.
type Side interface {
	// Plane returns the plane itself, always the same.
	Plane() Plane
	// Quiesce ends the controllers, and returns once none of them works. It may be
	// called when they have ended already.
	Quiesce(context.Context) error
	// Resume starts the controllers again after a roll back. It may be called while
	// they work, and also when an earlier run has ended them. Where the context of Run
	// has ended it is called for a cluster's own controllers only: those of the
	// operator's machine are about to end.
	Resume(context.Context) error
	// RunningController returns the name of a controller that another process has
	// started again; empty if there is none. It is called right before the fence.
	RunningController(context.Context) (string, error)
	// CheckLogin returns nil once the controllers have logged in to the platform.
	CheckLogin(context.Context) error
}

// Scope selects the objects that move.
type Scope int

// The scopes.
const (
	// Everything of this project's kinds that the plane holds, and the Secrets that
	// belong to it or are referred to.
	Everything Scope = iota
	// Namespace is Everything, but in the namespace of the ClusterBootstrap: what else the
	// plane holds is not this cluster's.
	Namespace
	// Cluster is the ClusterBootstrap, what it has created, and what it refers to.
	Cluster
)

// Item is one object on the platform, for comparison.
type Item struct {
	Kind, Name, ID string
	Addresses      []string
}

// Move is one move of a plane. Run may be called again after any failure, also by
// another process.
type Move struct {
	// Bootstrap names the ClusterBootstrap, on both sides alike.
	Bootstrap types.NamespacedName
	From, To  Side
	Scope     Scope
	// Inventory lists what the platform holds of the cluster.
	Inventory func(context.Context) ([]Item, error)
	// At, if set, is called after each stage is written to the journals; for Switch
	// later, between its two halves: From is fenced, and To is not in charge yet. Its
	// error ends the move as a crash would: nothing is rolled back.
	At func(Stage) error
	// Progress, if set, is called with what is being done.
	Progress func(Stage, string)
	// LoginWithin is how long To may take until CheckLogin returns nil; 0 means two
	// minutes.
	LoginWithin time.Duration
	// AnswerWithin is how long calls to a plane are retried before the switch; 0 means
	// one minute. After the switch there is no such bound.
	AnswerWithin time.Duration

	// definitions are those of this project, but in tests.
	definitions []*apiextensionsv1.CustomResourceDefinition
}

// Stopped is a move that ended before it was done.
type Stopped struct {
	Stage Stage
	// RolledBack is true if From is in charge as before. To holds nothing of the move, or,
	// if it did not answer, fenced objects that the next run removes.
	RolledBack bool
	// Refused is true if the next run would stop at the same error.
	Refused bool
	Err     error
}

func (s *Stopped) Error() string {
	if s.RolledBack {
		return fmt.Sprintf("move of the plane stopped at %s and was rolled back: %v", s.Stage, s.Err)
	}
	return fmt.Sprintf("move of the plane stopped at %s: %v", s.Stage, s.Err)
}

func (s *Stopped) Unwrap() error { return s.Err }
