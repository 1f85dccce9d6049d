// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package conflict creates the conflicting machines of a fault plan, which take the names
// that others need, and removes them when their time is over.
package conflict

import (
	"context"
	"log/slog"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// Machines are the conflicting machines of one platform. All fields are required, except
// that Faults may be nil.
type Machines struct {
	Faults *fault.Injector
	// Create creates a machine of this name that is off and has no owner, and returns how
	// it is removed; nil means that the name is taken already.
	Create func(ctx context.Context, name string) (remove func(context.Context) error, err error)
	// Done is closed when the platform ends.
	Done <-chan struct{}
	Log  *slog.Logger
}

// Start creates the machines that exist from the start. Those that come later, and those
// of plans that replace this one, follow until Done.
func (m Machines) Start(ctx context.Context) error {
	replaced := m.Faults.Replaced()
	if err := m.add(ctx); err != nil {
		return err
	}
	go m.follow(replaced)
	return nil
}

func (m Machines) follow(replaced <-chan struct{}) {
	for {
		select {
		case <-m.Done:
			return
		case <-replaced:
		}
		replaced = m.Faults.Replaced()
		if err := m.add(context.Background()); err != nil {
			m.Log.Error("create conflicting machines of a new fault plan", "err", err)
		}
	}
}

// add creates the machines of the present plan, at once or after a time.
func (m Machines) add(ctx context.Context) error {
	replaced := m.Faults.Replaced()
	for _, f := range m.Faults.ConflictingMachines() {
		if f.After.Duration > 0 {
			m.addLater(f, replaced)
			continue
		}
		if err := m.create(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// addLater creates one after its time, unless its plan is replaced before.
func (m Machines) addLater(f fault.Fault, replaced <-chan struct{}) {
	go m.after(f.After.Duration, replaced, func(ctx context.Context) {
		if err := m.create(ctx, f); err != nil {
			m.Log.Error("create conflicting machine", "machine", f.Machine, "err", err)
		}
	})
}

// create creates one and removes it when its time is over, whatever plan there is then.
func (m Machines) create(ctx context.Context, f fault.Fault) error {
	remove, err := m.Create(ctx, f.Machine)
	if err != nil || remove == nil || f.For.Duration == 0 {
		return err
	}
	go m.after(f.For.Duration, nil, func(ctx context.Context) {
		if err := remove(ctx); err != nil {
			m.Log.Error("remove conflicting machine", "machine", f.Machine, "err", err)
		}
	})
	return nil
}

// after does something after a time, unless the platform ends or stop is closed before.
func (m Machines) after(d time.Duration, stop <-chan struct{}, do func(context.Context)) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-m.Done:
		return
	case <-stop:
		return
	case <-timer.C:
	}
	do(context.Background())
}
