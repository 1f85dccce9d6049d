// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package check has what the preflights of all drivers share: the order of checks, the
// verdict on an error, and the arithmetic of capacity.
package check

import (
	"context"
	"errors"

	"github.com/butlerdotdev/butler/provider"
)

// Check looks at one thing that machines need. Its error is for a platform that could not
// be asked.
type Check func(context.Context, []provider.MachineSpec) ([]provider.Finding, error)

// Run returns the findings of all checks, in their order.
func Run(ctx context.Context, specs []provider.MachineSpec, checks ...Check) ([]provider.Finding, error) {
	var all []provider.Finding
	for _, look := range checks {
		found, err := look(ctx, specs)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// Each returns one finding per item.
func Each[T any](items []T, look func(T) (provider.Finding, error)) ([]provider.Finding, error) {
	var all []provider.Finding
	for _, item := range items {
		f, err := look(item)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// Verdict turns the outcome of a call that a machine needs into a finding. What may not be
// read, or is not ready yet, is unknown. The error is for a platform that could not be
// asked.
func Verdict(check string, err error) (provider.Finding, error) {
	f := provider.Finding{Check: check, Verdict: provider.Passed}
	e, ok := errors.AsType[*provider.Error](err)
	switch {
	case err == nil:
		return f, nil
	case !ok:
		return f, err
	case e.Reason == provider.ReasonPermissionDenied, e.Reason == provider.ReasonImageNotReady:
		f.Verdict = provider.Unknown
	case e.Kind == provider.Invalid, e.Kind == provider.Conflict:
		f.Verdict = provider.Refused
	default:
		return f, err
	}
	f.Hint = e.Hint
	if e.Err != nil {
		f.Message = e.Err.Error()
	}
	return f, nil
}
