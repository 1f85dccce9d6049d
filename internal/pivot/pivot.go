// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package pivot moves the management of a cluster from one plane to another: from
// the operator's machine onto the cluster itself, and back again before the
// cluster is destroyed. A move is written down in both planes and has five
// stages, each of which can be repeated. Until the switch everything can be taken
// back; from then on there is only one way, forward.
package pivot

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Stage is how far a move is, as both planes have it in their journal.
type Stage string

// The stages, in order.
const (
	Prepare Stage = "prepare" // both planes answer, and nothing stands in the way
	Copy    Stage = "copy"    // the controllers of the old plane have exited; objects are copied, fenced
	Verify  Stage = "verify"  // both planes are compared
	Switch  Stage = "switch"  // the old plane is fenced, then the new one is put in charge
	Retire  Stage = "retire"  // what the old plane holds is taken out of the way
	Done    Stage = "done"
	// RolledBack is where a move ends that failed before the switch.
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

// Side is a plane that takes part in a move, with the controllers that work on it.
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
	// Awake names a controller that was started again by someone else than the move;
	// empty is none. It is asked last before the plane is fenced.
	Awake(context.Context) (string, error)
	// Admitted returns nil once the controllers have authenticated to the platform.
	Admitted(context.Context) error
}

// Scope says which objects move.
type Scope int

// The scopes.
const (
	// Everything of this project's kinds that the plane holds, and the Secrets that
	// belong to it or are referred to.
	Everything Scope = iota
	// Cluster is the ClusterBootstrap, what it made, and what it refers to.
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
	// Inventory is what the platform holds of the cluster.
	Inventory func(context.Context) ([]Item, error)
	// At, if set, is called after each stage is written to the journals; for Switch
	// later, between its two halves: From is fenced, and To is not in charge yet. Its
	// error ends the move as a crash would: nothing is rolled back.
	At func(Stage) error
	// Tell, if set, is told what is being done.
	Tell func(Stage, string)
	// AdmitWithin is how long To may take until Admitted returns nil; 0 means two
	// minutes.
	AdmitWithin time.Duration
	// AnswerWithin is how long, before the switch, a plane that does not answer is
	// asked again; 0 means one minute. After the switch there is no such bound.
	AnswerWithin time.Duration

	// definitions are those of this project, but in tests.
	definitions []*apiextensionsv1.CustomResourceDefinition
}

// Stopped is a move that ended before it was done.
type Stopped struct {
	Stage Stage
	// RolledBack says that From is in charge as before. To holds nothing of the move,
	// or, where it did not answer, something that is fenced and that the next run
	// removes.
	RolledBack bool
	// Refused says that the next run stops at the same, unless somebody mends it.
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
