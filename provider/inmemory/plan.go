// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package inmemory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/butlerdotdev/butler/provider"
)

const recordFormat = "attempt %d of %s"

// plan is the Plan of a connection: a stock-out begins another attempt. Like a Create it needs
// an owner.
func (l *linkedMachines) plan(ctx context.Context, s provider.MachineSpec, last provider.Attempt) (string, error) {
	if err := l.reach(ctx, Observe, "plan machine "+s.Name); err != nil {
		return "", err
	}
	if s.Owner.ID == "" {
		return "", provider.Invalid.New("plan machine "+s.Name, provider.ReasonFieldUnsupported, errors.New("it has no owner, which drivers derive their choice from"), "generate one first")
	}
	var number int
	var name string
	if _, err := fmt.Sscanf(last.Record, recordFormat, &number, &name); err == nil && last.Refused != nil && provider.ReasonOf(last.Refused) == provider.ReasonCapacityExhausted {
		number++
	}
	return fmt.Sprintf(recordFormat, number, s.Name), nil
}

// note keeps the record of a Create, and refuses one that Plan did not return.
func (p *Platform) note(op string, s provider.MachineSpec) error {
	var number int
	var name string
	if s.Attempt != "" {
		if _, err := fmt.Sscanf(s.Attempt, recordFormat, &number, &name); err != nil || name != s.Name {
			return provider.Invalid.New(op, provider.ReasonAttemptInvalid, errors.New("the record of the attempt cannot be used"), "another attempt is planned")
		}
	}
	return nil
}

// Attempts returns the records of all Create calls that arrived, in their order.
func (p *Platform) Attempts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.attempts)
}
