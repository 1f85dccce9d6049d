// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
)

// Delete removes the VirtualMachine first, because Harvester refuses to delete a
// disk that is attached to one. Asked again once it is gone, it removes disks and
// Secret. One that Harvester keeps does not block the others.
func (m *machines) Delete(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	op := fmt.Sprintf("delete machine %q on %s", ref.Name, m.config)
	vm, err := get(ctx, m, &kubevirtv1.VirtualMachine{ObjectMeta: m.meta(ref.Name)}, ref.Owner)
	if err != nil {
		return provider.Machine{}, apiError(op, err)
	}
	if vm == nil {
		return m.deleteParts(ctx, op, ref)
	}
	if err := m.drop(ctx, op, vm); err != nil {
		return provider.Machine{}, err
	}
	left := report(vm, ref, nil)
	left.State, left.Message = provider.StateDeleting, describe(vm)+" is being deleted"
	return left, nil
}

// deleteParts removes disks and Secret of a machine without VirtualMachine.
func (m *machines) deleteParts(ctx context.Context, op string, ref provider.MachineRef) (provider.Machine, error) {
	parts, err := m.leftovers(ctx, ref)
	if err != nil {
		return provider.Machine{}, apiError(op, err)
	}
	var kept []error
	for _, p := range parts {
		if err := m.drop(ctx, op, p); err != nil {
			kept = append(kept, err)
		}
	}
	if err := errors.Join(kept...); err != nil {
		return provider.Machine{}, err
	}
	left := remnant(ref, parts)
	if len(parts) > 0 {
		left.State, left.Message = provider.StateDeleting, describe(parts[0])+" is being deleted"
	}
	return left, nil
}

// drop deletes exactly the object that was read: never a later one of its name.
func (m *machines) drop(ctx context.Context, op string, o client.Object) error {
	if !o.GetDeletionTimestamp().IsZero() {
		return nil
	}
	uid := o.GetUID()
	err := m.api.Delete(ctx, o, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) == nil {
		return nil
	}
	return deleteError(op, o, err)
}
