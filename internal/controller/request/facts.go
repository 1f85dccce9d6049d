// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/provider"
)

// Action is what to do about a request.
type Action int

// The actions.
const (
	// None: nothing is to be done.
	None Action = iota
	// Create asks the platform for what is missing.
	Create
	// Delete asks the platform to remove what it holds.
	Delete
	// Release removes the finalizer: nothing is left on the platform.
	Release
)

// Phases that all kinds of requests have, and those that only machines have.
const (
	phasePending  = "Pending"
	phaseFailed   = "Failed"
	phaseDeleting = "Deleting"

	phaseUnknown = "Unknown"
	phaseDeleted = "Deleted"
)

// Facts is all that a decision is made from.
type Facts[P ~string, S any] struct {
	Deleting  bool
	Taken     string // why the request may not act under its owner id
	Held      string // why nothing is deleted for a request that is being deleted
	Phase     P
	Known     bool // the platform has shown it
	Served    bool // it has been up once
	Attempted bool // a call that creates may have been sent
	Fresh     bool // the first attempt was recorded in this very pass
	Settled   bool // Absent has been seen for as long as the platform may be late
	Applied   bool // the present spec was sent, as far as is remembered
	Asked     Action
	Seen      S
	Err       error
	Failing   time.Duration // how long the platform could not be asked
}

// Unchanged is the phase that the request has.
func (f Facts[P, S]) Unchanged() P {
	if f.Phase == "" {
		return phasePending
	}
	return f.Phase
}

// Gone reports whether nothing is left of what the platform showed in that state.
func (f Facts[P, S]) Gone(s provider.State) bool {
	return f.Err == nil && s == provider.StateAbsent && (f.Settled || !f.Attempted)
}

// Decision is what to do, and what the status is to say.
type Decision[P ~string] struct {
	Act     Action
	Keep    bool // the status stays as it is
	Phase   P
	Ready   metav1.ConditionStatus
	Reason  string
	Message string
	Pace    Pace
	// Identify adds the platform's ID to the message.
	Identify bool
}

// Waiting decides to wait, in the phase that the request has.
func (f Facts[P, S]) Waiting(reason, message string) Decision[P] {
	return Decision[P]{Phase: f.Unchanged(), Ready: metav1.ConditionFalse, Reason: reason, Message: message, Pace: Young}
}

// Failed decides that the request cannot succeed without a change.
func (f Facts[P, S]) Failed(reason, message string, pace Pace) Decision[P] {
	return Decision[P]{Phase: phaseFailed, Ready: metav1.ConditionFalse, Reason: reason, Message: message, Pace: pace}
}

// DecideTaken decides about a request whose owner id is another's: what the platform
// holds under it is neither read nor changed.
func DecideTaken[P ~string, S any](f Facts[P, S]) Decision[P] {
	if f.Deleting {
		return Decision[P]{Act: Release, Keep: true}
	}
	return f.Failed(ReasonOwnerTaken, f.Taken, Slow)
}

// DecideDeletion completes the decision about a request that is being deleted: d says
// what to do while something is left, s is the state of that.
func DecideDeletion[P ~string, S any](f Facts[P, S], s provider.State, d Decision[P]) Decision[P] {
	d.Ready, d.Pace = metav1.ConditionFalse, Young
	switch {
	case f.Held != "" && !f.Gone(s):
		return Decision[P]{Phase: f.Unchanged(), Ready: metav1.ConditionFalse, Reason: ReasonSelfHosted, Message: f.Held, Pace: Slow}
	case f.Err != nil:
		d.Act, d.Reason, d.Message, d.Pace = None, provider.ReasonOf(f.Err), f.Err.Error(), Backoff
		if !Transient(f.Err) {
			d.Pace = Slow
		}
	case f.Gone(s):
		d.Act = Release
	}
	return d
}
