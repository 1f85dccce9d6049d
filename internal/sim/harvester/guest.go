// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// podNetwork is what the datacenter calls the network of interfaces without a VLAN.
const podNetwork = "pod"

// guest is the machine that an instance describes.
type guest struct {
	spec     datacenter.Spec
	bootable bool // its first disk holds a system
}

// obstacle is what an instance waits for, in the form of a condition.
type obstacle struct {
	phase   kubevirtv1.VirtualMachineInstancePhase
	kind    kubevirtv1.VirtualMachineInstanceConditionType
	reason  string
	message string
}

// guest reads all that the machine needs. With an obstacle it is as complete as
// possible.
func (r *machines) guest(ctx context.Context, vm *kubevirtv1.VirtualMachine) (guest, *obstacle, error) {
	spec := &vm.Spec.Template.Spec
	g := guest{spec: datacenter.Spec{
		ID: string(vm.UID), Name: vm.Name, Network: podNetwork, CPU: cpusOf(spec.Domain), MemoryMB: memoryOf(spec.Domain),
	}}
	if len(spec.Domain.Devices.Interfaces) > 0 {
		first := spec.Domain.Devices.Interfaces[0]
		g.spec.MAC = strings.ToLower(first.MacAddress)
		g.spec.Network = networkOf(vm.Namespace, spec, first.Name)
	}
	var first *obstacle
	for _, look := range []func(context.Context, string, *kubevirtv1.VirtualMachineInstanceSpec, *guest) (*obstacle, error){
		r.lookAtNetworks, r.lookAtVolumes, r.lookAtDisks, r.lookAtCloudInit, r.lookForRoom,
	} {
		wait, err := look(ctx, vm.Namespace, spec, &g)
		if err != nil {
			return g, nil, err
		}
		if first == nil {
			first = wait
		}
	}
	return g, first, nil
}

func (r *machines) lookAtNetworks(ctx context.Context, namespace string, spec *kubevirtv1.VirtualMachineInstanceSpec, _ *guest) (*obstacle, error) {
	for _, name := range networksOf(namespace, spec) {
		err := r.Get(ctx, parseName(name), networkMeta())
		if apierrors.IsNotFound(err) {
			return &obstacle{
				phase: kubevirtv1.Pending, kind: kubevirtv1.VirtualMachineInstanceSynchronized, reason: "FailedCreate",
				message: fmt.Sprintf("failed to create the pod: network attachment definition %s not found", name),
			}, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// lookForRoom finds none where the fault plan has it so.
func (r *machines) lookForRoom(_ context.Context, _ string, _ *kubevirtv1.VirtualMachineInstanceSpec, g *guest) (*obstacle, error) {
	if _, crowded := r.faults.WithoutCapacity(g.spec.Name); crowded {
		return unschedulable("0/1 nodes are available: 1 Insufficient memory."), nil
	}
	return nil, nil
}

func (r *machines) lookAtVolumes(ctx context.Context, namespace string, spec *kubevirtv1.VirtualMachineInstanceSpec, g *guest) (*obstacle, error) {
	boot := bootVolume(spec)
	g.bootable = boot != nil && boot.ContainerDisk != nil
	for _, name := range claimsOf(namespace, spec) {
		claim := &corev1.PersistentVolumeClaim{}
		err := r.Get(ctx, parseName(name), claim)
		if apierrors.IsNotFound(err) {
			return &obstacle{
				phase: kubevirtv1.Pending, kind: kubevirtv1.VirtualMachineInstanceSynchronized, reason: "FailedPvcNotFound",
				message: fmt.Sprintf("PVC %s does not exist, waiting for it to appear", name),
			}, nil
		}
		if err != nil {
			return nil, err
		}
		if claim.Status.Phase != corev1.ClaimBound {
			return unschedulable("pod has unbound immediate PersistentVolumeClaims: " + name), nil
		}
		if boot != nil && claimOf(*boot) == claim.Name {
			if g.bootable, err = r.hasImage(ctx, claim); err != nil {
				return nil, err
			}
			g.spec.Image = claim.Annotations[imageAnnotation]
		}
	}
	return nil, nil
}

func failedCreate(message string) *obstacle {
	return &obstacle{phase: kubevirtv1.Scheduling, kind: kubevirtv1.VirtualMachineInstanceSynchronized, reason: "FailedCreate", message: message}
}

func unschedulable(message string) *obstacle {
	return &obstacle{
		phase: kubevirtv1.Scheduling, kind: kubevirtv1.VirtualMachineInstanceConditionType(corev1.PodScheduled),
		reason: corev1.PodReasonUnschedulable, message: message,
	}
}

// hasImage says whether a claim's volume started as a copy of an image. That is a
// matter of its class alone; the annotation on the claim changes nothing.
func (r *machines) hasImage(ctx context.Context, claim *corev1.PersistentVolumeClaim) (bool, error) {
	if claim.Spec.StorageClassName == nil {
		return false, nil
	}
	class := &storagev1.StorageClass{}
	err := r.Get(ctx, client.ObjectKey{Name: *claim.Spec.StorageClassName}, class)
	return class.Parameters[backingImageParameter] != "", client.IgnoreNotFound(err)
}

// bootVolume is the volume of the disk with the lowest boot order, else of the first.
func bootVolume(spec *kubevirtv1.VirtualMachineInstanceSpec) *kubevirtv1.Volume {
	disks := spec.Domain.Devices.Disks
	if len(disks) == 0 {
		return nil
	}
	boot := disks[0]
	for _, d := range disks[1:] {
		if d.BootOrder != nil && (boot.BootOrder == nil || *d.BootOrder < *boot.BootOrder) {
			boot = d
		}
	}
	for i := range spec.Volumes {
		if spec.Volumes[i].Name == boot.Name {
			return &spec.Volumes[i]
		}
	}
	return nil
}

// networkOf is the network behind an interface, as namespace/name.
func networkOf(namespace string, spec *kubevirtv1.VirtualMachineInstanceSpec, name string) string {
	for _, n := range spec.Networks {
		if n.Name == name && n.Multus != nil {
			return networkName(namespace, n.Multus.NetworkName)
		}
	}
	return podNetwork
}

// networkName completes a name without namespace with the instance's.
func networkName(namespace, name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return namespace + "/" + name
}

func cpusOf(domain kubevirtv1.DomainSpec) int {
	if c := domain.CPU; c != nil && c.Cores+c.Sockets+c.Threads > 0 {
		return int(max(c.Cores, 1) * max(c.Sockets, 1) * max(c.Threads, 1))
	}
	if limit := domain.Resources.Limits.Cpu(); !limit.IsZero() {
		return int(limit.Value())
	}
	return 1
}

func memoryOf(domain kubevirtv1.DomainSpec) int {
	if domain.Memory != nil && domain.Memory.Guest != nil {
		return int(domain.Memory.Guest.Value() >> 20)
	}
	return int(domain.Resources.Limits.Memory().Value() >> 20)
}
