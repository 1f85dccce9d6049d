// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/sim/conflict"
)

// startConflicts creates the conflicting VMs of the fault plan, in every namespace that the
// manifest's machines go to.
func (h *Harvester) startConflicts(ctx context.Context, c client.Client) error {
	namespaces := h.options.Seed.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceDefault}
	}
	return conflict.Machines{
		Faults: h.options.Faults, Done: h.ended, Log: h.options.Log,
		Create: func(ctx context.Context, name string) (func(context.Context) error, error) {
			return createConflicts(ctx, c, namespaces, name)
		},
	}.Start(ctx)
}

// createConflicts creates the VMs of this name whose name is free, and returns how they are
// deleted.
func createConflicts(ctx context.Context, c client.Client, namespaces []string, name string) (func(context.Context) error, error) {
	var created []*kubevirtv1.VirtualMachine
	for _, ns := range namespaces {
		vm := conflictingVM(ns, name)
		if err := c.Create(ctx, vm); apierrors.IsAlreadyExists(err) {
			continue
		} else if err != nil {
			return nil, describe("create", vm, err)
		}
		created = append(created, vm)
	}
	if len(created) == 0 {
		return nil, nil
	}
	return func(ctx context.Context) (err error) {
		for _, vm := range created {
			err = errors.Join(err, client.IgnoreNotFound(c.Delete(ctx, vm, client.Preconditions{UID: &vm.UID})))
		}
		return err
	}, nil
}

// conflictingVM is off and has no labels.
func conflictingVM(namespace, name string) *kubevirtv1.VirtualMachine {
	halted, memory := kubevirtv1.RunStrategyHalted, resource.MustParse("1Gi")
	return &kubevirtv1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: kubevirtv1.VirtualMachineSpec{
			RunStrategy: &halted,
			Template: &kubevirtv1.VirtualMachineInstanceTemplateSpec{Spec: kubevirtv1.VirtualMachineInstanceSpec{
				Domain: kubevirtv1.DomainSpec{Memory: &kubevirtv1.Memory{Guest: &memory}},
			}},
		},
	}
}
