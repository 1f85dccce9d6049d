// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"context"
	"fmt"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// withFaults returns a Boot whose machines fail at their start, or die later, as the
// fault plan says.
func withFaults(faults *fault.Injector, next Boot) Boot {
	return func(ctx context.Context, m Machine) error {
		if faults.FailsAtStart(m.Name) {
			return fmt.Errorf("machine %s fails at its start, as the fault plan says", m.Name)
		}
		life, kill := context.WithCancelCause(ctx)
		defer kill(nil)
		go killLater(life, faults, m.Name, kill)
		err := next(life, m)
		if ctx.Err() == nil && life.Err() != nil {
			return fmt.Errorf("machine %s dies, as the fault plan says", m.Name)
		}
		return err
	}
}

// killLater kills a machine when the plan says so. A plan that replaces another counts
// from then on.
func killLater(life context.Context, faults *fault.Injector, machine string, kill context.CancelCauseFunc) {
	for {
		replaced := faults.Replaced()
		var due <-chan time.Time
		if after, dies := faults.DiesAfter(machine); dies {
			due = time.After(after)
		}
		select {
		case <-life.Done():
			return
		case <-due:
			kill(ErrPowerLoss)
			return
		case <-replaced:
		}
	}
}

// addressable returns a channel that is closed when the fault plan lets the machine have
// an address, or when ctx ends; nil means at once.
func addressable(ctx context.Context, faults *fault.Injector, machine string) <-chan struct{} {
	replaced := faults.Replaced()
	d, held := faults.WithoutAddress(machine)
	if !held {
		return nil
	}
	given := make(chan struct{})
	go func() {
		defer close(given)
		for held {
			var due <-chan time.Time
			if d > 0 {
				due = time.After(d)
			}
			select {
			case <-ctx.Done():
				return
			case <-due:
				return
			case <-replaced:
			}
			replaced = faults.Replaced()
			d, held = faults.WithoutAddress(machine)
		}
	}()
	return given
}
