// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Object is a request: a custom resource that refers to a ProviderConfig.
type Object interface {
	client.Object
	ProviderConfig() types.NamespacedName
}

// Kind is what one kind of request adds to the pass that all kinds share. O is the
// request, P its phase, S what the platform shows for it.
type Kind[O Object, P ~string, S any] struct {
	// Name is that of the kind in lower case.
	Name string
	// Prefix begins the reasons of its events; a phase or another word follows.
	Prefix string
	// Up is the phase of a request that is served.
	Up P
	// Workers is how many requests are reconciled at once. One platform gets
	// PerPlatform of them, and WhileSilent while it does not answer.
	Workers, PerPlatform, WhileSilent int
	// New and NewList return an empty request and an empty list.
	New     func() O
	NewList func() client.ObjectList
	// Finalizer is the one that a provider holds a request with.
	Finalizer func(v1alpha1.ProviderType) string
	// Subject returns what a request is about.
	Subject func(O) Subject
	// Status returns the fields of the status that all kinds have.
	Status func(O) Status[P]

	// Observe reads what the platform holds for the request.
	Observe func(context.Context, *Pass[O, P, S]) (S, error)
	// Act calls the platform for Create or Delete and returns what is there then.
	Act func(context.Context, *Pass[O, P, S], Action) (S, error)
	// Decide returns what to do about the facts, and what to report.
	Decide func(O, Facts[P, S]) Decision[P]
	// Describe copies what the platform shows into the status.
	Describe func(O, S)
	// Sighted returns the ID and the state of what the platform shows.
	Sighted func(S) (id string, state provider.State)
	// Absent is what a platform shows that holds nothing for the request.
	Absent S

	// Extra is what only some kinds have.
	Extra Extra[O, P, S]
}

// Extra is what only some kinds of requests have. Each field may be left out.
type Extra[O Object, P ~string, S any] struct {
	// DeleteObserves says that deleting reports what is left, so that a request that
	// is being deleted calls Act with Delete in place of Observe.
	DeleteObserves bool
	// Adopts says that a request can take over what another program created for it.
	Adopts bool
	// Plan asks the platform what the next attempt to create something asks for; an empty
	// record means that there is nothing to record.
	Plan func(ctx context.Context, p *Pass[O, P, S], last provider.Attempt) (record string, err error)
	// Limit is how many requests a team may have, of the limits of a ProviderConfig.
	Limit func(v1alpha1.ProviderLimits) *int32
	// Certain reports whether what is absent cannot appear any more.
	Certain func(S) bool
	// Accept refuses a platform that cannot serve the kind.
	Accept func(*Pass[O, P, S], *provider.Platform) error
	// Pushed reports whether the next change is pushed, so that the platform is hardly
	// polled.
	Pushed func(*Pass[O, P, S], Decision[P]) bool
	// PushWithin is how long a pushed change waits for those that follow it; nil is a
	// kind that no changes are pushed for.
	PushWithin func(O) time.Duration
	// Announce records further events of a status that has changed from before.
	Announce func(p *Pass[O, P, S], before O, d Decision[P])
}

// Subject is what a request is about.
type Subject struct {
	// Name is that of the machine or load balancer.
	Name string
	// What is the wanted thing in messages, for example `machine "mgmt-cp-0"`.
	What string
	// ID is the platform's, empty as long as the platform has not shown it.
	ID string
	// Address is where it is reached, empty as long as it has not been up.
	Address string
	// Created says that no call that creates can be on its way any more.
	Created bool
}

// Status points to the fields of a status that all kinds of requests have.
type Status[P ~string] struct {
	Phase              *P
	Conditions         *[]metav1.Condition
	FailureReason      *string
	FailureMessage     *string
	ObservedGeneration *int64
	LastUpdated        **metav1.Time
}
