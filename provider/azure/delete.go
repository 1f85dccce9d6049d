// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/provider"
)

// Delete deletes the virtual machine, with which its disks, its interface and its address
// end. Asked again once it is gone, it removes what is left of them.
func (m machines) Delete(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	op := fmt.Sprintf("delete machine %q on %s", ref.Name, m.config)
	vm, err := m.vm(ctx, ref)
	if err != nil {
		return provider.Machine{}, apiError(op, err)
	}
	if vm == nil {
		return m.deleteRemains(ctx, op, ref)
	}
	if provisioningOf(*vm) != "Deleting" {
		if _, err := m.vms.BeginDelete(ctx, m.spec.ResourceGroup, ref.Name, nil); err != nil && !gone(err) {
			if mapped := apiError(op, err); !busy(mapped) {
				return provider.Machine{}, mapped
			}
		}
	}
	left := m.reported(*vm, ref)
	left.State, left.Message = provider.StateDeleting, "virtual machine "+ref.Name+" is being deleted"
	return left, nil
}

// deleteRemains removes what is left of a machine without a virtual machine, and the
// availability set of its cluster with the last one.
func (m machines) deleteRemains(ctx context.Context, op string, ref provider.MachineRef) (provider.Machine, error) {
	left, err := m.sweep(ctx, op, ref)
	if err != nil {
		return provider.Machine{}, err
	}
	if err := held(op, ref, left); err != nil {
		return provider.Machine{}, err
	}
	if len(left) > 0 {
		r := remnant(ref, left)
		r.State, r.Message = provider.StateDeleting, left[0].Kind+" "+left[0].Name+" is being deleted"
		return r, nil
	}
	return provider.Machine{Ref: ref, State: provider.StateAbsent, Certain: true}, within(op, m.dropSet(ctx, ref.Owner))
}

// held refuses to wait for parts that are attached to something of another, once nothing
// else is left.
func held(op string, ref provider.MachineRef, left []part) error {
	own := func(name string) bool {
		return name == "" || strings.EqualFold(name, ref.Name) || original(name, ref.Owner, ref.Name)
	}
	if len(left) == 0 || slices.ContainsFunc(left, func(d part) bool { return own(last(d.heldBy())) }) {
		return nil
	}
	one := left[0]
	return provider.InUse.New(op, provider.ReasonDeletionRefused, fmt.Errorf("%s %s is attached to %s", one.Kind, one.Name, one.heldBy()), "detach it, or delete what it is attached to")
}

// heldBy is the id of the resource that the part is attached to.
func (d part) heldBy() string {
	lower := strings.ToLower(d.holder)
	for _, within := range []string{"/ipconfigurations/", "/frontendipconfigurations/"} {
		if i := strings.Index(lower, within); i >= 0 {
			return d.holder[:i]
		}
	}
	return d.holder
}
