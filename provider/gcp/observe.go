// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"fmt"

	"github.com/butlerdotdev/butler/provider"
)

// Observe lists the instances with the owner's label in all zones. If there is none, disks
// that are left make the machine Partial.
func (m machines) Observe(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	op := fmt.Sprintf("observe machine %q on %s", ref.Name, m.config)
	all, err := m.seen.Do(ctx, key(ref))
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	if i := pick(all, ref); i != nil {
		return m.report(i, ref), nil
	}
	left, err := m.remains(ctx, ref)
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	if len(left) > 0 {
		return remnant(ref, left), nil
	}
	return m.unseen(ctx, op, ref)
}

// unseen reports a machine without an instance by the last operation that creates it:
// after one that failed nothing can appear any more.
func (m machines) unseen(ctx context.Context, op string, ref provider.MachineRef) (provider.Machine, error) {
	absent := provider.Machine{Ref: ref, State: provider.StateAbsent}
	begun, err := m.inserts(ctx, ref)
	if err != nil || len(begun) == 0 {
		return absent, within(op, err)
	}
	last := begun[len(begun)-1]
	switch failure := failureOf(last); {
	case failure != nil && !running(begun):
		absent.Certain, absent.Message = true, "the instance was not created: "+failure.Error()
	case running(begun):
		absent.Message = "the instance is being created in " + lastOf(last.GetZone())
	}
	return absent, nil
}

// observeAll reports every machine that carries an owner.
func (m machines) observeAll(ctx context.Context) (all []provider.Machine, err error) {
	found, err := m.listInstances(ctx, anyOwner)
	if err != nil {
		return nil, within("observe all machines on "+m.config, err)
	}
	for _, i := range found {
		if s := tagsOf(i.GetLabels()); original(i) {
			all = append(all, m.report(i, provider.MachineRef{Name: s.Machine, Owner: provider.OwnerOf(s)}))
		}
	}
	return all, nil
}
