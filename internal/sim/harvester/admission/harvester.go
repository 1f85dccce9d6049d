// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// Harvester's settings, at their defaults: overcommit-config in percent, and
	// default-vm-termination-grace-period-seconds.
	overcommitCPU    = 1000
	overcommitMemory = 150
	gracePeriod      = 120

	networkGroup         = "network.harvesterhci.io"
	clusterNetworkLabel  = networkGroup + "/clusternetwork"
	runStrategyAnnotated = "harvesterhci.io/vmRunStrategy"
)

// NetworkKind is the kind of the networks that interfaces are attached to.
func NetworkKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "k8s.cni.cncf.io", Version: "v1", Kind: "NetworkAttachmentDefinition"}
}

// harvesterMutator completes a VirtualMachine as Harvester does, and refuses one on a
// network that does not exist.
func (w *webhooks) harvesterMutator(v review) error {
	if v.vm.Spec.Template == nil {
		return nil // refused by the next webhook
	}
	if v.old == nil || limitsDiffer(v.old, v.vm) {
		overcommit(&v.vm.Spec.Template.Spec.Domain)
	}
	spec := &v.vm.Spec.Template.Spec
	defaultCPU(&spec.Domain)
	keepStartable(v)
	if err := w.demandNetworks(v); err != nil {
		return err
	}
	if spec.TerminationGracePeriodSeconds == nil {
		spec.TerminationGracePeriodSeconds = new(int64(gracePeriod))
	}
	return addressInterfaces(spec.Domain.Devices.Interfaces)
}

func limitsDiffer(old, vm *kubevirtv1.VirtualMachine) bool {
	if old.Spec.Template == nil {
		return true
	}
	a, b := old.Spec.Template.Spec.Domain.Resources.Limits, vm.Spec.Template.Spec.Domain.Resources.Limits
	return a.Cpu().Cmp(*b.Cpu()) != 0 || a.Memory().Cmp(*b.Memory()) != 0
}

// overcommit derives the requests from the limits, whatever they were before.
func overcommit(domain *kubevirtv1.DomainSpec) {
	limits, requests := domain.Resources.Limits, corev1.ResourceList{}
	if cpu := limits.Cpu(); !cpu.IsZero() {
		requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(cpu.MilliValue()*100/overcommitCPU, cpu.Format)
	}
	memory := limits.Memory()
	if !memory.IsZero() {
		requests[corev1.ResourceMemory] = *resource.NewQuantity(memory.Value()*100/overcommitMemory>>20<<20, memory.Format)
		domain.Memory = guestMemory(domain.Memory, *memory)
		if domain.CPU == nil {
			domain.CPU = &kubevirtv1.CPU{}
		}
		domain.CPU.MaxSockets = 1
	}
	for name, q := range requests {
		if domain.Resources.Requests == nil {
			domain.Resources.Requests = corev1.ResourceList{}
		}
		domain.Resources.Requests[name] = q
	}
}

// guestMemory gives the guest all of its limit.
func guestMemory(memory *kubevirtv1.Memory, limit resource.Quantity) *kubevirtv1.Memory {
	if memory == nil {
		memory = &kubevirtv1.Memory{}
	}
	memory.Guest = &limit
	return memory
}

func defaultCPU(domain *kubevirtv1.DomainSpec) {
	if domain.CPU == nil {
		domain.CPU = &kubevirtv1.CPU{}
	}
	cpu := domain.CPU
	cpu.Cores, cpu.Sockets, cpu.Threads = max(cpu.Cores, 1), max(cpu.Sockets, 1), max(cpu.Threads, 1)
}

// keepStartable replaces the strategy of a machine that was halted and is not any more:
// by the annotated one, else by RerunOnFailure.
func keepStartable(v review) {
	strategy := v.vm.Spec.RunStrategy
	if v.old == nil || v.vm.Spec.Running != nil || strategy == nil || *strategy == kubevirtv1.RunStrategyHalted {
		return
	}
	if before, err := v.old.RunStrategy(); err != nil || before != kubevirtv1.RunStrategyHalted {
		return
	}
	next := kubevirtv1.RunStrategyRerunOnFailure
	if annotated := v.vm.Annotations[runStrategyAnnotated]; annotated != "" {
		next = kubevirtv1.VirtualMachineRunStrategy(annotated)
	}
	v.vm.Spec.RunStrategy = &next
}

// demandNetworks has the machine run on hosts that have its networks alone. All of them
// must exist.
func (w *webhooks) demandNetworks(v review) error {
	spec := &v.vm.Spec.Template.Spec
	dropNetworkTerms(spec.Affinity)
	for _, n := range spec.Networks {
		if n.Multus == nil || n.Multus.NetworkName == "" {
			continue
		}
		name, err := objectName(v.vm.Namespace, n.Multus.NetworkName)
		if err != nil {
			return err
		}
		network := &metav1.PartialObjectMetadata{}
		network.SetGroupVersionKind(NetworkKind())
		if err := w.Get(v, name, network); err != nil {
			return err
		}
		if of := network.Labels[clusterNetworkLabel]; of != "" {
			spec.Affinity = demandHosts(spec.Affinity, networkGroup+"/"+of)
		}
	}
	return nil
}

func objectName(namespace, name string) (client.ObjectKey, error) {
	switch words := strings.Split(name, "/"); len(words) {
	case 1:
		return client.ObjectKey{Namespace: namespace, Name: name}, nil
	case 2:
		return client.ObjectKey{Namespace: words[0], Name: words[1]}, nil
	}
	return client.ObjectKey{}, fmt.Errorf("invalid network name %s", name)
}
