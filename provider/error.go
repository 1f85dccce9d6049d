// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import "errors"

// Kind is what a failure means for the reconciler.
type Kind string

// The kinds of failure. Unavailable and Exhausted pass by themselves and are
// retried for ever; the others need a change by an operator.
const (
	// Unavailable: the platform cannot be asked, or answered that it cannot now.
	Unavailable Kind = "Unavailable"
	// Exhausted: no capacity or quota is left.
	Exhausted Kind = "Exhausted"
	// Unauthorized: the credentials are refused or do not suffice.
	Unauthorized Kind = "Unauthorized"
	// Invalid: the platform cannot do what the spec asks.
	Invalid Kind = "Invalid"
	// Conflict: the name is taken by something that is not ours.
	Conflict Kind = "Conflict"
	// InUse: the platform does not delete an object while something that is not
	// ours uses it.
	InUse Kind = "InUse"
)

// Error is how drivers fail. Its text has no request ids, no times and nothing
// of the credentials or user data, because it is shown in conditions.
type Error struct {
	Kind Kind
	// Reason is one CamelCase word for machines, for example ImageNotFound.
	Reason string
	// Op is what was tried, for example `create machine "mgmt-cp-0"`.
	Op string
	// Hint is what to do about it.
	Hint string
	// Err is what the platform said.
	Err error
}

// Error returns what was tried, what the platform said, what to do.
func (e *Error) Error() string {
	s := e.Op
	if e.Err != nil {
		s = join(s, ": ", e.Err.Error())
	}
	return join(s, "; ", e.Hint)
}

// Unwrap returns what the platform said.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the Kind of err; an error that is no *Error is Unavailable, which is
// retried.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok && e.Kind != "" {
		return e.Kind
	}
	return Unavailable
}

// ReasonOf returns the Reason of err, or else its Kind as a reason.
func ReasonOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Reason != "" {
		return e.Reason
	}
	return "Platform" + string(KindOf(err))
}

func join(a, sep, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + sep + b
}
