// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/sim/simtest"
	"github.com/butlerdotdev/butler/provider/providertest"
	"github.com/butlerdotdev/butler/provider/tag"
)

// operator sees and changes the simulated Harvester as its administrator does. Faults
// and the record of callers are the simulator's.
type operator struct{ *simtest.Simulator }

// CreateConflict implements providertest.Operator.
func (b operator) CreateConflict(ctx context.Context, name string) error {
	return shared.admin.Create(ctx, conflictingMachine(name))
}

// Clone implements providertest.Operator. Harvester's clone copies the labels of the
// VirtualMachine, and its restore those of the disks too.
func (b operator) Clone(ctx context.Context, name, as string) (func(), error) {
	vm := &kubevirtv1.VirtualMachine{}
	if err := shared.admin.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, vm); err != nil {
		return nil, err
	}
	copies := []client.Object{cloned(vm, as)}
	for _, v := range vm.Spec.Template.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		c := &corev1.PersistentVolumeClaim{}
		if err := shared.admin.Get(ctx, client.ObjectKey{Namespace: "default", Name: v.PersistentVolumeClaim.ClaimName}, c); err != nil {
			return nil, err
		}
		copies = append(copies, clonedDisk(c, as, v.Name))
	}
	for _, o := range copies {
		if err := shared.admin.Create(ctx, o); err != nil {
			return nil, err
		}
	}
	return func() {
		for _, o := range copies {
			_ = shared.admin.Delete(context.WithoutCancel(ctx), o) // what is left is seen by the next look
		}
	}, nil
}

// cloned is a copy of a machine with all its labels, switched off.
func cloned(vm *kubevirtv1.VirtualMachine, as string) *kubevirtv1.VirtualMachine {
	halted := kubevirtv1.RunStrategyHalted
	c := &kubevirtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: vm.Namespace, Name: as, Labels: vm.Labels}, Spec: *vm.Spec.DeepCopy()}
	c.Spec.RunStrategy = &halted
	for i, v := range c.Spec.Template.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			c.Spec.Template.Spec.Volumes[i].VolumeSource = claimVolume(clonedDiskName(as, v.Name))
		}
	}
	return c
}

func clonedDiskName(machine, volume string) string { return machine + "-" + volume + "-x7k2p" }

func clonedDisk(c *corev1.PersistentVolumeClaim, machine, volume string) *corev1.PersistentVolumeClaim {
	meta := metav1.ObjectMeta{Namespace: c.Namespace, Name: clonedDiskName(machine, volume), Labels: c.Labels, Annotations: map[string]string{imageAnnotation: c.Annotations[imageAnnotation]}}
	spec := c.Spec.DeepCopy()
	spec.VolumeName = ""
	return &corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: *spec}
}

// Inspect implements providertest.Operator.
func (b operator) Inspect(ctx context.Context, name string) (providertest.View, error) {
	var view providertest.View
	vm := &kubevirtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	err := shared.admin.Get(ctx, client.ObjectKeyFromObject(vm), vm)
	if client.IgnoreNotFound(err) != nil {
		return view, err
	}
	if err == nil {
		view.Machines = append(view.Machines, seen(ctx, vm))
	}
	claims, secrets := &corev1.PersistentVolumeClaimList{}, &corev1.SecretList{}
	if err := shared.admin.List(ctx, claims, client.InNamespace("default")); err != nil {
		return view, err
	}
	if err := shared.admin.List(ctx, secrets, client.InNamespace("default")); err != nil {
		return view, err
	}
	for i := range claims.Items {
		if c := &claims.Items[i]; strings.HasPrefix(c.Name, name+"-") {
			view.Parts = append(view.Parts, "PersistentVolumeClaim "+c.Name)
			measure(&view, name, c)
		}
	}
	for _, s := range secrets.Items {
		if strings.HasPrefix(s.Name, name+"-") {
			view.Parts = append(view.Parts, "Secret "+s.Name)
		}
	}
	return view, nil
}

// measure notes the size of a disk at its machine.
func measure(view *providertest.View, name string, c *corev1.PersistentVolumeClaim) {
	if len(view.Machines) == 0 {
		return
	}
	size := int32(c.Spec.Resources.Requests.Storage().Value() >> 30)
	if c.Name == rootName(name) {
		view.Machines[0].DiskGB = size
		return
	}
	view.Machines[0].ExtraDisksGB = append(view.Machines[0].ExtraDisksGB, size)
}

func seen(ctx context.Context, vm *kubevirtv1.VirtualMachine) providertest.MachineState {
	spec := vm.Spec.Template.Spec
	s := providertest.MachineState{
		ID: string(vm.UID), Owner: vm.Labels[tag.OwnerID], Labels: vm.Labels,
		Version: fmt.Sprintf("%d %v %v", vm.Generation, vm.Annotations, vm.DeletionTimestamp),
		CPU:     int32(spec.Domain.CPU.Cores), MemoryMB: int32(spec.Domain.Memory.Guest.Value() >> 20),
	}
	for _, v := range spec.Volumes {
		if v.CloudInitNoCloud != nil {
			s.UserData = cloudInitData(ctx, v.CloudInitNoCloud)
		}
	}
	return s
}

// cloudInitData is the user data that the guest would read.
func cloudInitData(ctx context.Context, c *kubevirtv1.CloudInitNoCloudSource) string {
	if c.UserDataSecretRef == nil {
		return c.UserData
	}
	secret := &corev1.Secret{}
	if err := shared.admin.Get(ctx, client.ObjectKey{Namespace: "default", Name: c.UserDataSecretRef.Name}, secret); err != nil {
		return err.Error()
	}
	return string(secret.Data[userDataKey])
}
