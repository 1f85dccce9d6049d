// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// Observe reads the VirtualMachineInstance. Where that does not run, it reads the
// VirtualMachine too, and the disks if both leave open whether they exist.
func (m *machines) Observe(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	op := fmt.Sprintf("observe machine %q on %s", ref.Name, m.config)
	vmi, err := find(ctx, m, &kubevirtv1.VirtualMachineInstance{ObjectMeta: m.meta(ref.Name)}, ref.Owner)
	if err != nil && !forbidden(err) {
		return provider.Machine{}, apiError(op, err)
	}
	if vm := machineOf(vmi); vm != nil {
		return report(vm, ref, vmi), nil
	}
	vm, err := find(ctx, m, &kubevirtv1.VirtualMachine{ObjectMeta: m.meta(ref.Name)}, ref.Owner)
	switch {
	case err != nil:
		return provider.Machine{}, apiError(op, err)
	case vm == nil:
		return m.remains(ctx, op, ref)
	case !vm.DeletionTimestamp.IsZero():
		return report(vm, ref, nil), nil
	}
	return m.examine(ctx, op, ref, vm, vmi)
}

// machineOf is the VirtualMachine of an instance that runs, as far as that shows it: KubeVirt
// ends the instance before it removes the VirtualMachine. It is nil for every other
// instance.
func machineOf(vmi *kubevirtv1.VirtualMachineInstance) *kubevirtv1.VirtualMachine {
	if !running(vmi) {
		return nil
	}
	owner := metav1.GetControllerOf(vmi)
	if owner == nil || owner.Kind != kubevirtv1.VirtualMachineGroupVersionKind.Kind || owner.Name != vmi.Name {
		return nil
	}
	vm := &kubevirtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: vmi.Namespace, Name: vmi.Name, UID: owner.UID}}
	vm.Spec.Template = &kubevirtv1.VirtualMachineInstanceTemplateSpec{Spec: vmi.Spec}
	return vm
}

// examine reports on a machine; its parts are looked at unless it is up.
func (m *machines) examine(ctx context.Context, op string, ref provider.MachineRef, vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance) (provider.Machine, error) {
	seen := report(vm, ref, vmi)
	if !uncertain(seen, vmi) {
		return seen, nil
	}
	missing, waiting, err := m.claims(ctx, vm)
	if err != nil {
		return provider.Machine{}, apiError(op, err)
	}
	return withParts(seen, missing, waiting), nil
}

// uncertain reports whether VirtualMachine and instance leave open whether all parts
// of the machine exist.
func uncertain(seen provider.Machine, vmi *kubevirtv1.VirtualMachineInstance) bool {
	return (seen.State == provider.StatePending || seen.State == provider.StateStopped) && !scheduled(vmi)
}

// withParts adds to a report which part is missing, else what a disk waits for.
func withParts(seen provider.Machine, missing, waiting string) provider.Machine {
	if missing != "" {
		seen.State, seen.Message = provider.StatePartial, missing+" is missing"
	} else if waiting != "" && seen.State == provider.StatePending {
		seen.Message = waiting
	}
	return seen
}

// claims looks at what a VirtualMachine refers to: which disk or Secret is missing,
// and what a disk that is not provisioned is waiting for.
func (m *machines) claims(ctx context.Context, vm *kubevirtv1.VirtualMachine) (missing, waiting string, err error) {
	read := func(o client.Object) (client.Object, error) {
		if known, _ := m.gathered.find(ctx, o, tagsOf(vm).OwnerID); known != nil {
			return known, nil
		}
		err := m.api.Get(ctx, client.ObjectKeyFromObject(o), o)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		if forbidden(err) {
			err = nil // it is taken to exist
		}
		return o, err
	}
	return m.examineParts(vm, read, func(c *corev1.PersistentVolumeClaim) string { return m.obstacleOf(ctx, c) })
}

// examineParts is claims for objects that read returns; nil means that one is missing.
func (m *machines) examineParts(vm *kubevirtv1.VirtualMachine, read func(client.Object) (client.Object, error), wait func(*corev1.PersistentVolumeClaim) string) (missing, waiting string, err error) {
	for _, o := range m.references(vm) {
		there, err := read(o)
		if err != nil {
			return "", "", err
		}
		if there == nil {
			return describe(o), "", nil
		}
		if c, ok := there.(*corev1.PersistentVolumeClaim); ok && c.Status.Phase == corev1.ClaimPending && waiting == "" {
			waiting = wait(c)
		}
	}
	return "", waiting, nil
}

// references are the disks and the Secret that a VirtualMachine has as volumes.
func (m *machines) references(vm *kubevirtv1.VirtualMachine) (all []client.Object) {
	if vm.Spec.Template == nil {
		return nil
	}
	for _, v := range vm.Spec.Template.Spec.Volumes {
		if o := m.behind(v); o != nil {
			all = append(all, o)
		}
	}
	return all
}

// refersTo reports whether a VirtualMachine has this disk or Secret as a volume.
func (m *machines) refersTo(vm *kubevirtv1.VirtualMachine, o client.Object) bool {
	return slices.ContainsFunc(m.references(vm), func(r client.Object) bool { return partOf(r) == partOf(o) })
}

// behind is the object that a volume uses; nil means that it uses none.
func (m *machines) behind(v kubevirtv1.Volume) client.Object {
	if c := v.PersistentVolumeClaim; c != nil {
		return &corev1.PersistentVolumeClaim{ObjectMeta: m.meta(c.ClaimName)}
	}
	c := v.CloudInitNoCloud
	if c == nil || c.UserDataSecretRef == nil && c.NetworkDataSecretRef == nil {
		return nil
	}
	if c.UserDataSecretRef != nil {
		return &corev1.Secret{ObjectMeta: m.meta(c.UserDataSecretRef.Name)}
	}
	return &corev1.Secret{ObjectMeta: m.meta(c.NetworkDataSecretRef.Name)}
}

// unprovisioned describes what a disk that is not there yet waits for, as far as the disk
// itself shows it.
func unprovisioned(c *corev1.PersistentVolumeClaim) string {
	if c.Spec.StorageClassName == nil {
		return fmt.Sprintf("the disk %q is not provisioned yet by the default storage class", c.Name)
	}
	return fmt.Sprintf("the disk %q is not provisioned yet by storage class %q", c.Name, *c.Spec.StorageClassName)
}

// obstacleOf is unprovisioned with a look at the storage class.
func (m *machines) obstacleOf(ctx context.Context, c *corev1.PersistentVolumeClaim) string {
	if c.Spec.StorageClassName == nil {
		return unprovisioned(c)
	}
	class := *c.Spec.StorageClassName
	hint := "create it"
	if _, name, _ := strings.Cut(c.Annotations[imageAnnotation], "/"); class == namedClass(name) {
		hint = hintImages + ", so that the class of the image is known"
	}
	err := m.checkClass(ctx, "", class)
	switch {
	case forbidden(err):
		return fmt.Sprintf("%s; if there is no such class, %s", unprovisioned(c), hint)
	case provider.ReasonOf(err) == reasonNoClass:
		return fmt.Sprintf("the disk %q waits for storage class %q, which does not exist; %s", c.Name, class, hint)
	}
	return unprovisioned(c)
}

// remains reports on a machine without VirtualMachine.
func (m *machines) remains(ctx context.Context, op string, ref provider.MachineRef) (provider.Machine, error) {
	parts, err := m.leftovers(ctx, ref)
	if err != nil {
		return provider.Machine{}, apiError(op, err)
	}
	return remnant(ref, parts), nil
}

// remnant reports on a machine of which only these disks and this Secret exist.
func remnant(ref provider.MachineRef, parts []client.Object) provider.Machine {
	seen := provider.Machine{Ref: ref, State: provider.StateAbsent}
	if len(parts) > 0 {
		seen.State, seen.Message = provider.StateDeleting, describe(parts[0])+" is being deleted"
	}
	for _, p := range parts {
		if p.GetDeletionTimestamp().IsZero() {
			seen.State, seen.Message = provider.StatePartial, describe(p)+" exists, but no VirtualMachine"
			break
		}
	}
	return seen
}

// leftovers are the disks and the Secret that were created for the machine. A Secret
// that no disk refers to is looked for once the disks are gone.
func (m *machines) leftovers(ctx context.Context, ref provider.MachineRef) ([]client.Object, error) {
	if ref.Owner.ID == "" {
		return nil, nil
	}
	parts, err := m.leftDisks(ctx, ref)
	if err != nil {
		return nil, err
	}
	if len(parts) > 0 && !slices.ContainsFunc(parts, notesSecret) {
		return parts, nil
	}
	secret, err := get(ctx, m, &corev1.Secret{ObjectMeta: m.meta(secretName(ref.Name))}, ref.Owner)
	if err != nil && !forbidden(err) {
		return nil, err
	}
	if err == nil && secret != nil {
		parts = append(parts, secret)
	}
	return parts, nil
}

// leftDisks are the disks that were created for the machine.
func (m *machines) leftDisks(ctx context.Context, ref provider.MachineRef) (disks []client.Object, _ error) {
	list := &corev1.PersistentVolumeClaimList{}
	if err := m.api.List(ctx, list, client.InNamespace(m.spec.Namespace), client.MatchingLabels{tag.OwnerID: ref.Owner.ID}); err != nil {
		return nil, err
	}
	for i := range list.Items {
		if c := &list.Items[i]; original(c) && c.Labels[tag.Machine] == ref.Name {
			disks = append(disks, c)
		}
	}
	return disks, nil
}
