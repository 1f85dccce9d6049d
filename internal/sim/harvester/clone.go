// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// copyAnnotation marks what the simulator copied, for the auditor alone.
const copyAnnotation = "sim.butlerlabs.dev/copy"

// clone copies a machine that runs, if the fault plan says so: the VirtualMachine as
// Harvester's clone does, with all labels and under another name, and the disks as its
// restore does, labels included. The copy is switched off.
func (r *machines) clone(ctx context.Context, vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance) error {
	if vmi == nil || !vmi.IsRunning() || vm.Annotations[copyAnnotation] != "" || !r.faults.Cloned(vm.Name) {
		return nil
	}
	halted := kubevirtv1.RunStrategyHalted
	copied := &kubevirtv1.VirtualMachine{ObjectMeta: copyOf(vm, vm.Name+"-clone"), Spec: *vm.Spec.DeepCopy()}
	copied.Spec.RunStrategy = &halted
	for i := range copied.Spec.Template.Spec.Domain.Devices.Interfaces {
		copied.Spec.Template.Spec.Domain.Devices.Interfaces[i].MacAddress = ""
	}
	var problems []error
	for i, v := range copied.Spec.Template.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		name := copied.Name + "-" + v.Name
		problems = append(problems, r.cloneDisk(ctx, vm.Namespace, v.PersistentVolumeClaim.ClaimName, name))
		copied.Spec.Template.Spec.Volumes[i].PersistentVolumeClaim.ClaimName = name
	}
	problems = append(problems, ignoreExisting(r.Create(ctx, copied)))
	return errors.Join(problems...)
}

func (r *machines) cloneDisk(ctx context.Context, namespace, name, as string) error {
	disk := &corev1.PersistentVolumeClaim{}
	if err := r.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, disk); err != nil {
		return err
	}
	copied := &corev1.PersistentVolumeClaim{ObjectMeta: copyOf(disk, as), Spec: *disk.Spec.DeepCopy()}
	copied.Spec.VolumeName = ""
	if image := disk.Annotations[imageAnnotation]; image != "" {
		copied.Annotations[imageAnnotation] = image
	}
	return ignoreExisting(r.Create(ctx, copied))
}

func copyOf(o client.Object, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: o.GetNamespace(), Name: name, Labels: o.GetLabels(), Annotations: map[string]string{copyAnnotation: o.GetName()},
	}
}
