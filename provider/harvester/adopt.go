// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// adoptedDiskName is the name of the only disk that butler-provider-harvester gives
// to a machine.
func adoptedDiskName(machine string) string { return machine + "-rootdisk" }

// adopt labels a VirtualMachine, its instance and its root disk as if the driver had
// created them for ref. The VirtualMachine comes last: without its labels the machine
// is not taken for complete, and adopt is asked again.
func (m *machines) adopt(ctx context.Context, ref provider.MachineRef, id string) error {
	op := fmt.Sprintf("adopt machine %q on %s", ref.Name, m.config)
	vm := &kubevirtv1.VirtualMachine{ObjectMeta: m.meta(ref.Name)}
	if err := m.adoptable(ctx, op, vm, ref, id); err != nil {
		return err
	}
	disk := &corev1.PersistentVolumeClaim{ObjectMeta: m.meta(adoptedDiskName(ref.Name))}
	vmi := &kubevirtv1.VirtualMachineInstance{ObjectMeta: m.meta(ref.Name)}
	for _, o := range []client.Object{disk, vmi} {
		err := m.api.Get(ctx, client.ObjectKeyFromObject(o), o)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err == nil && m.uses(vm, o) {
			err = m.relabel(ctx, o, ref)
		}
		if err != nil {
			return adoptError(op, err)
		}
	}
	return adoptError(op, m.relabel(ctx, vm, ref))
}

// adoptable reads a VirtualMachine and refuses one that is not the request's.
func (m *machines) adoptable(ctx context.Context, op string, vm *kubevirtv1.VirtualMachine, ref provider.MachineRef, id string) error {
	err := m.api.Get(ctx, client.ObjectKeyFromObject(vm), vm)
	switch {
	case apierrors.IsNotFound(err):
		return provider.Invalid.New(op, provider.ReasonAdoptionRefused, fmt.Errorf("%s not found", describe(vm)), "check spec.harvester.namespace; if the machine is gone, remove the annotation and the finalizer of the request")
	case err != nil:
		return apiError(op, err)
	case id == "" || string(vm.UID) != id:
		return provider.Invalid.New(op, provider.ReasonAdoptionRefused, fmt.Errorf("%s has the UID %s, and status.providerID is %q", describe(vm), vm.UID, id), "correct the annotation: only the machine that the request had is adopted")
	case vm.Labels[tag.OwnerID] != "" && vm.Labels[tag.OwnerID] != ref.Owner.ID:
		return conflict(op, vm)
	}
	return nil
}

// uses reports whether a VirtualMachine has this instance, or this disk.
func (m *machines) uses(vm *kubevirtv1.VirtualMachine, o client.Object) bool {
	if vmi, ok := o.(*kubevirtv1.VirtualMachineInstance); ok {
		return metav1.IsControlledBy(vmi, vm)
	}
	return m.refersTo(vm, o)
}

// relabel adds the labels of a machine to an object, and to the template of what it creates.
func (m *machines) relabel(ctx context.Context, o client.Object, ref provider.MachineRef) error {
	base := o.DeepCopyObject().(client.Object)
	ours := m.labels(provider.MachineSpec{MachineRef: ref})
	o.SetLabels(merged(o.GetLabels(), ours))
	if vm, ok := o.(*kubevirtv1.VirtualMachine); ok && vm.Spec.Template != nil {
		vm.Spec.Template.ObjectMeta.Labels = merged(vm.Spec.Template.ObjectMeta.Labels, ours)
	}
	return m.api.Patch(ctx, o, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

func merged(have, more map[string]string) map[string]string {
	all := maps.Clone(have)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, more)
	return all
}

func adoptError(op string, err error) error {
	if err == nil {
		return nil
	}
	mapped := apiError(op, err)
	if e, ok := errors.AsType[*provider.Error](mapped); ok && e.Reason == "PermissionDenied" {
		e.Hint = "grant get and patch on virtualmachines, virtualmachineinstances and persistentvolumeclaims to the user of the kubeconfig while machines are adopted"
	}
	return mapped
}
