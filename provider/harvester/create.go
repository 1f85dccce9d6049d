// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
)

// Create creates Secret, disks and VirtualMachine, in this order, each unless it exists.
// The name of the machine is looked up before anything is created, so that a Conflict leaves
// nothing behind.
func (m *machines) Create(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
	op := fmt.Sprintf("create machine %q on %s", s.Name, m.config)
	if err := provider.CheckSpec(op, s, labelVMName); err != nil {
		return provider.Machine{}, err
	}
	if there, err := m.existing(ctx, op, s); err != nil || there != nil {
		return report(there, s.MachineRef, nil), err
	}
	d, err := m.resolve(ctx, op, s)
	if err != nil {
		return provider.Machine{}, err
	}
	for _, o := range m.parts(s, d) {
		if err := m.ensure(ctx, op, o, s.Owner); err != nil {
			return provider.Machine{}, err
		}
	}
	vm := m.virtualMachine(s, d)
	if err := m.ensureMachine(ctx, op, vm, s, d); err != nil {
		return provider.Machine{}, err
	}
	return report(vm, s.MachineRef, nil), nil
}

// existing returns our VirtualMachine if all its parts are there too. A partial
// one is nil: Create continues with it.
func (m *machines) existing(ctx context.Context, op string, s provider.MachineSpec) (*kubevirtv1.VirtualMachine, error) {
	vm := &kubevirtv1.VirtualMachine{ObjectMeta: m.meta(s.Name)}
	err := m.api.Get(ctx, client.ObjectKeyFromObject(vm), vm)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, apiError(op, err)
	}
	if !owned(vm, s.Owner) {
		return nil, conflict(op, vm)
	}
	if !vm.DeletionTimestamp.IsZero() {
		return vm, nil
	}
	missing, _, err := m.claims(ctx, vm)
	if err != nil {
		return nil, apiError(op, err)
	}
	if missing != "" {
		return nil, nil
	}
	return vm, nil
}

// ensure creates an object; one of that name must be ours already.
func (m *machines) ensure(ctx context.Context, op string, o client.Object, owner provider.Owner) error {
	return m.created(ctx, op, o, owner, m.api.Create(ctx, o))
}

// created judges the answer to the creation of an object.
func (m *machines) created(ctx context.Context, op string, o client.Object, owner provider.Owner, err error) error {
	if err == nil {
		return nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return createError(op, o, err)
	}
	if err := m.api.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return apiError(op, err)
	}
	if !owned(o, owner) {
		return conflict(op, o)
	}
	if !o.GetDeletionTimestamp().IsZero() {
		return provider.PartDeleting(op, describe(o))
	}
	return nil
}

func conflict(op string, o client.Object) error {
	return provider.NameTaken(op, describe(o), "machineName")
}
