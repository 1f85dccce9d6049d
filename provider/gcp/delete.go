// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"fmt"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
)

// Delete deletes the instance, with which its disks end. Asked again once it is gone, it
// removes those that an operator has detached. An instance that is being stopped is left
// alone until that has ended: a deletion that runs looks the same.
func (m machines) Delete(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	op := fmt.Sprintf("delete machine %q on %s", ref.Name, m.config)
	all, err := m.leaving.Do(ctx, key(ref))
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	i := pick(all, ref)
	if i == nil {
		return m.deleteRemains(ctx, op, ref)
	}
	left := m.report(i, ref)
	left.State, left.Message = provider.StateDeleting, "instance "+i.GetName()+" is being deleted"
	if s := i.GetStatus(); s == "STOPPING" || s == "DEPROVISIONING" {
		return left, nil
	}
	if i.GetDeletionProtection() {
		return provider.Machine{}, provider.InUse.New(op, provider.ReasonDeletionRefused, fmt.Errorf("instance %s is protected against deletion", i.GetName()), "switch off its deletion protection")
	}
	_, err = m.instances.Delete(ctx, &computepb.DeleteInstanceRequest{Project: m.spec.ProjectID, Zone: lastOf(i.GetZone()), Instance: i.GetName()})
	if err != nil && !gone(err) && !unready(err) {
		return provider.Machine{}, within(op, err)
	}
	return left, nil
}

// deleteRemains removes what is left of a machine without an instance. While an operation
// still creates it, nothing is gone.
func (m machines) deleteRemains(ctx context.Context, op string, ref provider.MachineRef) (provider.Machine, error) {
	left, err := m.remains(ctx, ref)
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	if len(left) > 0 {
		return m.deleteDisks(ctx, op, ref, left)
	}
	all, err := m.begun.Do(ctx, key(ref))
	if err == nil && running(insertsOf(all, ref)) {
		return provider.Machine{Ref: ref, State: provider.StateDeleting, Message: "the instance is still being created, and is deleted then"}, nil
	}
	return provider.Machine{Ref: ref, State: provider.StateAbsent, Certain: undone(all, ref)}, within(op, err)
}
