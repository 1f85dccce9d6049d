// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package failure classifies the errors of a command by what the user can do about
// them. The command turns the kind into its exit code.
package failure

import (
	"errors"
	"fmt"
)

// Kind is the class of an error. The zero value is an error without a class.
type Kind string

// The kinds.
const (
	// Usage is a wrong argument, flag or manifest. Nothing was changed.
	Usage Kind = "Usage"
	// Refused is a preflight that was not passed. Nothing was created.
	Refused Kind = "Refused"
	// TimedOut is a command that --timeout has ended. Everything is left in place.
	TimedOut Kind = "TimedOut"
	// Interrupted is a command that the user has ended. Everything is left in place.
	Interrupted Kind = "Interrupted"
)

// Error is an error with a kind.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// New returns err with a kind.
func New(k Kind, err error) error { return &Error{k, err} }

// Usagef returns an error of the kind Usage.
func Usagef(format string, args ...any) error { return New(Usage, fmt.Errorf(format, args...)) }

// Refusedf returns an error of the kind Refused.
func Refusedf(format string, args ...any) error { return New(Refused, fmt.Errorf(format, args...)) }

// KindOf returns the kind of the outermost Error in the chain of err.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}
