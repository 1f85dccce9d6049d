// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"fmt"

	"github.com/butlerdotdev/butler/provider"
)

// Observe reads the virtual machine and, if it runs, its interface. If there is none,
// parts that are there make the machine Partial.
func (m machines) Observe(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	op := fmt.Sprintf("observe machine %q on %s", ref.Name, m.config)
	vm, err := m.vm(ctx, ref)
	if err != nil {
		return provider.Machine{}, apiError(op, err)
	}
	if vm != nil {
		return m.report(ctx, op, *vm, ref)
	}
	left, err := m.remains(ctx, ref)
	if err != nil {
		return provider.Machine{}, apiError(op, err)
	}
	if len(left) > 0 {
		return remnant(ref, left), nil
	}
	return provider.Machine{Ref: ref, State: provider.StateAbsent}, nil
}

// observeAll reports every machine that carries an owner.
func (m machines) observeAll(ctx context.Context) ([]provider.Machine, error) {
	found, err := m.inventory(ctx, false)
	if err != nil {
		return nil, apiError("observe all machines on "+m.config, err)
	}
	var all []provider.Machine
	for _, g := range provider.Assemble(found.objects, "") {
		if one := m.assembled(g, found); one.State != provider.StateAbsent {
			all = append(all, one)
		}
	}
	return all, nil
}
