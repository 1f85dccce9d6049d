// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// limited gives a machine limits, as Harvester's own clients do.
func limited(vm *kubevirtv1.VirtualMachine, cores uint32, memory string) *kubevirtv1.VirtualMachine {
	domain := &vm.Spec.Template.Spec.Domain
	domain.CPU, domain.Memory = &kubevirtv1.CPU{Cores: cores}, nil
	domain.Resources.Limits = corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewQuantity(int64(cores), resource.DecimalSI), corev1.ResourceMemory: resource.MustParse(memory),
	}
	return vm
}

// onManagementNetwork is what Harvester demands of the hosts of a machine.
func onManagementNetwork() *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: "network.harvesterhci.io/mgmt", Operator: corev1.NodeSelectorOpIn, Values: []string{"true"}},
		}}},
	}}}
}

// platformFields are what the webhooks add to a machine of 4 processors and 8 GiB. The
// identities are its own.
func platformFields(spec *kubevirtv1.VirtualMachineInstanceSpec, stored kubevirtv1.VirtualMachineInstanceSpec) {
	memory := resource.MustParse("8Gi")
	spec.Architecture, spec.Affinity = "amd64", onManagementNetwork()
	spec.TerminationGracePeriodSeconds = new(int64(120))
	spec.Domain.CPU = &kubevirtv1.CPU{Cores: 4, Sockets: 1, Threads: 1, MaxSockets: 1}
	spec.Domain.Memory = &kubevirtv1.Memory{Guest: &memory}
	spec.Domain.Machine = &kubevirtv1.Machine{Type: "q35"}
	spec.Domain.Firmware = stored.Domain.Firmware
	spec.Domain.Devices.Interfaces[0].MacAddress = stored.Domain.Devices.Interfaces[0].MacAddress
	spec.Domain.Resources.Requests = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("400m"), corev1.ResourceMemory: resource.MustParse("5461Mi"),
	}
}

func TestWebhooksCompleteMachinesAndInstances(t *testing.T) {
	vm := limited(machine("completed", "completed-root"), 4, "8Gi")
	want := vm.DeepCopy().Spec.Template.Spec
	create(t, shared.limited, rootClaim("completed-root"), vm)
	stored := vm.Spec.Template.Spec
	if f := stored.Domain.Firmware; f == nil || f.UUID == "" || f.Serial == "" || stored.Domain.Devices.Interfaces[0].MacAddress == "" {
		t.Fatalf("no identity: %+v, %+v", f, stored.Domain.Devices.Interfaces)
	}
	platformFields(&want, stored)
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Errorf("machine: -want +got:\n%s", diff)
	}
	vmi := instance(t, shared.limited, "completed", isRunning)
	want.EvictionStrategy = new(kubevirtv1.EvictionStrategyNone)
	want.Domain.CPU.Model, want.Domain.Memory.MaxGuest = "host-model", new(resource.MustParse("32Gi"))
	want.Domain.Features = &kubevirtv1.Features{ACPI: kubevirtv1.FeatureState{Enabled: new(true)}}
	if diff := cmp.Diff(want, vmi.Spec); diff != "" {
		t.Errorf("instance: -want +got:\n%s", diff)
	}
	if mac := vmi.Status.Interfaces[0].MAC; mac != stored.Domain.Devices.Interfaces[0].MacAddress {
		t.Errorf("hardware address %s, the spec has %s", mac, stored.Domain.Devices.Interfaces[0].MacAddress)
	}
}

func TestUpdateOfAMachineChangesNothingElse(t *testing.T) {
	vm := limited(machine("updated", "none"), 2, "4Gi")
	create(t, shared.limited, vm)
	eventually(t, "update", func() error {
		if err := shared.admin.Get(t.Context(), client.ObjectKeyFromObject(vm), vm); err != nil {
			return err
		}
		before := vm.DeepCopy()
		vm.Labels = map[string]string{"colour": "red"}
		if err := shared.admin.Update(t.Context(), vm); err != nil {
			return err
		}
		if diff := cmp.Diff(before.Spec, vm.Spec); diff != "" || vm.Generation != before.Generation {
			t.Errorf("generation %d, before %d; -before +after:\n%s", vm.Generation, before.Generation, diff)
		}
		return nil
	})
}

func TestHaltedMachineIsStartedWithRerunOnFailure(t *testing.T) {
	halted, always := kubevirtv1.RunStrategyHalted, kubevirtv1.RunStrategyAlways
	for name, want := range map[string]kubevirtv1.VirtualMachineRunStrategy{"": kubevirtv1.RunStrategyRerunOnFailure, "Always": always} {
		vm := machine("start-"+map[string]string{"": "plain", "Always": "annotated"}[name], "none")
		vm.Spec.RunStrategy = &halted
		if name != "" {
			vm.Annotations = map[string]string{"harvesterhci.io/vmRunStrategy": name}
		}
		create(t, shared.limited, vm)
		setStrategy(t, vm, func() { vm.Spec.RunStrategy = &always })
		if got := *vm.Spec.RunStrategy; got != want {
			t.Errorf("annotated %q: strategy %s, want %s", name, got, want)
		}
	}
}
