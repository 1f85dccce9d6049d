// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"net/http"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	architecture = "amd64"
	machineType  = "q35"
	cpuModel     = "host-model"
	// hotplugRatio is how many times its memory a guest may get while it runs, if it
	// has hotplugLeast at least.
	hotplugRatio = 4
	hotplugLeast = 1 << 30
)

// machineMutator completes a VirtualMachine as virt-api does.
func machineMutator(v review) error {
	if v.vm.Spec.Template == nil {
		r := refuse(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "spec.template in body is required")
		r.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Message: r.Message}}}
		return r
	}
	spec := &v.vm.Spec.Template.Spec
	if v.old == nil {
		identify(&spec.Domain)
		// KubeVirt's controller adds it a moment later. Within that moment a deletion
		// would leave an instance behind.
		controllerutil.AddFinalizer(v.vm, kubevirtv1.VirtualMachineControllerFinalizer)
	}
	defaultPlatform(spec)
	return nil
}

// identify gives the firmware its identity, once.
func identify(domain *kubevirtv1.DomainSpec) {
	if domain.Firmware == nil {
		domain.Firmware = &kubevirtv1.Firmware{}
	}
	if domain.Firmware.UUID == "" {
		domain.Firmware.UUID = uuid.NewUUID()
	}
	if domain.Firmware.Serial == "" {
		domain.Firmware.Serial = string(uuid.NewUUID())
	}
}

func defaultPlatform(spec *kubevirtv1.VirtualMachineInstanceSpec) {
	if spec.Architecture == "" {
		spec.Architecture = architecture
	}
	if spec.Domain.Machine == nil {
		spec.Domain.Machine = &kubevirtv1.Machine{}
	}
	if spec.Domain.Machine.Type == "" {
		spec.Domain.Machine.Type = machineType
	}
}

// CompleteInstance adds to a new VirtualMachineInstance what virt-api adds.
func CompleteInstance(vmi *kubevirtv1.VirtualMachineInstance) {
	spec := &vmi.Spec
	defaultPlatform(spec)
	defaultCPU(&spec.Domain)
	if spec.EvictionStrategy == nil {
		spec.EvictionStrategy = new(kubevirtv1.EvictionStrategyNone)
	}
	if spec.Domain.CPU.Model == "" {
		spec.Domain.CPU.Model = cpuModel
	}
	defaultFeatures(&spec.Domain)
	defaultMemory(&vmi.Status, spec.Domain.Memory)
	vmi.Status.CurrentCPUTopology = &kubevirtv1.CPUTopology{
		Cores: spec.Domain.CPU.Cores, Sockets: spec.Domain.CPU.Sockets, Threads: spec.Domain.CPU.Threads,
	}
}

func defaultFeatures(domain *kubevirtv1.DomainSpec) {
	if domain.Features == nil {
		domain.Features = &kubevirtv1.Features{}
	}
	if domain.Features.ACPI.Enabled == nil {
		domain.Features.ACPI.Enabled = new(true)
	}
}

func defaultMemory(status *kubevirtv1.VirtualMachineInstanceStatus, memory *kubevirtv1.Memory) {
	if memory == nil || memory.Guest == nil {
		return
	}
	status.Memory = &kubevirtv1.MemoryStatus{GuestAtBoot: memory.Guest, GuestCurrent: memory.Guest, GuestRequested: memory.Guest}
	if memory.MaxGuest == nil && memory.Guest.Value() >= hotplugLeast {
		memory.MaxGuest = resource.NewQuantity(memory.Guest.Value()*hotplugRatio, resource.BinarySI)
	}
}
