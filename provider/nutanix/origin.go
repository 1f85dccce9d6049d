// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// originPrefix begins the values of a cluster's category that record the VM of a machine.
const originPrefix = "vm-"

// originOf returns the value that records the VM of a machine: its description is the UUID. A
// VM that was restored has name, description and categories of its original, and may outlive
// it; the UUID alone is new.
func originOf(owner, machine string) string {
	return originPrefix + cloud.Hash(16, owner, machine)
}

// recordOrigin records the VM that was created for a machine. The category is created again if
// a person has removed it.
func (m machines) recordOrigin(ctx context.Context, ref provider.MachineRef, uuid string) error {
	put := func() error {
		return m.putCategory(ctx, scope(ref.Owner), originOf(ref.Owner.ID, ref.Name), uuid)
	}
	err := put()
	if !gone(err) {
		return err
	}
	if err := m.putCategory(ctx, scope(ref.Owner), "", note(ref.Owner)); err != nil {
		return err
	}
	return put()
}

// forgetOrigin removes the record of an earlier VM of a machine, as of one that a person has
// deleted, before another one is created: if the response to that is lost, the record would
// make it a copy.
func (m machines) forgetOrigin(ctx context.Context, ref provider.MachineRef) error {
	key, value := scope(ref.Owner), originOf(ref.Owner.ID, ref.Name)
	if _, err := m.category(ctx, key, value); err != nil {
		return ignoreGone(err)
	}
	return m.remove(ctx, key, value)
}

// pick returns the machine out of VMs, nil if it is not there: the recorded one, or without a
// record the oldest. The record is read if there is a choice to make.
func (m machines) pick(ctx context.Context, all []vm, ref provider.MachineRef) (*vm, error) {
	oldest := oldestOf(all, ref)
	if oldest == nil {
		return nil, nil
	}
	owner := provider.OwnerOf(tagsOf(*oldest))
	c, err := m.category(ctx, scope(owner), originOf(owner.ID, ref.Name))
	if err != nil {
		return oldest, ignoreGone(err)
	}
	for i := range all {
		if all[i].uuid == c.description {
			return &all[i], nil
		}
	}
	return nil, nil
}

// origins returns the recorded VMs of the clusters that own VMs, by the values of their
// categories.
func (m machines) origins(ctx context.Context, all []vm) (map[string]string, error) {
	found, read := map[string]string{}, map[string]bool{}
	for _, v := range all {
		key := scope(provider.OwnerOf(tagsOf(v)))
		if read[key] {
			continue
		}
		read[key] = true
		values, err := m.listValues(ctx, key)
		if ignoreGone(err) != nil {
			return nil, err
		}
		for _, c := range values {
			found[c.value] = c.description
		}
	}
	return found, nil
}
