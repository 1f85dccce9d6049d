// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"fmt"

	"github.com/butlerdotdev/butler/provider"
)

// Observe reads the VM by its UUID, or finds it among those of the name; the owner is in the
// description.
func (m machines) Observe(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	op := fmt.Sprintf("observe machine %q on %s", ref.Name, m.config)
	v, err := m.find(ctx, ref)
	switch {
	case gone(err), err == nil && v == nil:
		return provider.Machine{Ref: ref, State: provider.StateAbsent}, nil
	case err != nil:
		return provider.Machine{}, within(op, err)
	}
	err = m.explain(ctx, v)
	return m.report(*v, ref), within(op, err)
}

// observeAll reports every machine that carries an owner. Records are not read: where one says
// otherwise, the ID is not that of the machine, and Observe decides.
func (m machines) observeAll(ctx context.Context) (all []provider.Machine, err error) {
	found, err := m.listVMs(ctx, "")
	if err != nil {
		return nil, within("observe all machines on "+m.config, err)
	}
	for _, g := range groupsOf(found, nil, "") {
		for _, o := range g.Objects {
			if err := m.explain(ctx, &o.Of); err != nil {
				return nil, within("observe all machines on "+m.config, err)
			}
			all = append(all, m.report(o.Of, g.Ref))
		}
	}
	return all, nil
}

// explain completes a VM in an error state with what its last task says, unless it says
// something itself.
func (m machines) explain(ctx context.Context, v *vm) error {
	if v.state != stateError || saying(*v) != "" || v.task == "" {
		return nil
	}
	t, err := m.task(ctx, v.task)
	if err == nil && t.failure != "" {
		v.messages = []string{t.failure}
	}
	return ignoreUnseen(err)
}
