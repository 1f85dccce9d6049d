// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

// refused demands an Error of the kind.
func (t *trial) refused(what string, err error, want provider.Kind) {
	if err == nil {
		t.errorf("%s succeeds, want %s", what, want)
		return
	}
	e, ok := errors.AsType[*provider.Error](err)
	if !ok {
		t.errorf("%s fails with %T (%v), want a provider.Error", what, err, err)
		return
	}
	if e.Kind != want {
		t.errorf("%s is %s (%v), want %s", what, e.Kind, err, want)
	}
	if e.Reason == "" || e.Op == "" {
		t.errorf("%s has no Reason or no Op: %v", what, err)
	}
}

// hinted demands that the error says what to do.
func (t *trial) hinted(what string, err error) {
	if e, ok := errors.AsType[*provider.Error](err); ok && e.Hint == "" {
		t.errorf("%s does not say what to do: %v", what, err)
	}
}

// promptly calls f, which must not wait for the platform.
func (t *trial) promptly(what string, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(t.suite.Prompt):
		t.fatalf("%s has not returned after %s", what, t.suite.Prompt)
		return nil
	}
}

// calls are the four operations on one machine.
func (t *trial) calls(s provider.MachineSpec) map[string]func(context.Context) error {
	m := t.machines
	return map[string]func(context.Context) error{
		"observe": func(ctx context.Context) error { _, err := m.Observe(ctx, s.MachineRef); return err },
		"create":  func(ctx context.Context) error { _, err := m.Create(ctx, s); return err },
		"delete":  func(ctx context.Context) error { _, err := m.Delete(ctx, s.MachineRef); return err },
		"list":    func(ctx context.Context) error { _, err := m.List(ctx, s.Owner); return err },
	}
}

func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
