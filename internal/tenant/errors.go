// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"fmt"
)

// ErrUnresolved is in an error about a field of Input.Resolved that the caller has to read
// from the platform first.
var ErrUnresolved = errors.New("not resolved")

// FieldError is a field that cannot be served.
type FieldError struct {
	// Object is TenantCluster, ProviderConfig, ButlerConfig or Secret.
	Object string
	// Field is its path, such as spec.workers.machineTemplate.cpu.
	Field string
	// Problem says why, and what to do.
	Problem string

	cause error
}

// Error names the object, the field and the problem.
func (e *FieldError) Error() string { return fmt.Sprintf("%s %s: %s", e.Object, e.Field, e.Problem) }

// Unwrap returns ErrUnresolved where it applies.
func (e *FieldError) Unwrap() error { return e.cause }

func ofTenant(field, problem string, args ...any) error {
	return &FieldError{Object: "TenantCluster", Field: field, Problem: fmt.Sprintf(problem, args...)}
}

func ofProvider(field, problem string, args ...any) error {
	return &FieldError{Object: "ProviderConfig", Field: field, Problem: fmt.Sprintf(problem, args...)}
}

func ofConfig(field, problem string, args ...any) error {
	return &FieldError{Object: "ButlerConfig", Field: field, Problem: fmt.Sprintf(problem, args...)}
}

func ofSecret(field, problem string, args ...any) error {
	return &FieldError{Object: "Secret", Field: field, Problem: fmt.Sprintf(problem, args...)}
}
