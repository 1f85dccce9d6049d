// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"net/netip"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/harvester/admission"
)

// newInstance is the instance that a VirtualMachine describes. As it has no status
// subresource, its first phase is created with it.
func newInstance(vm *kubevirtv1.VirtualMachine) *kubevirtv1.VirtualMachineInstance {
	template := vm.Spec.Template.DeepCopy()
	vmi := &kubevirtv1.VirtualMachineInstance{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: vm.Namespace, Name: vm.Name,
			Labels: template.ObjectMeta.Labels, Annotations: template.ObjectMeta.Annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(vm, kubevirtv1.VirtualMachineGroupVersionKind)},
			Finalizers:      []string{kubevirtv1.VirtualMachineControllerFinalizer, kubevirtv1.VirtualMachineInstanceFinalizer},
		},
		Spec: template.Spec,
	}
	admission.CompleteInstance(vmi)
	metav1.SetMetaDataAnnotation(&vmi.ObjectMeta, kubevirtv1.VirtualMachineGenerationAnnotation, strconv.FormatInt(vm.Generation, 10))
	setPhase(vmi, kubevirtv1.Scheduling, time.Now())
	setCondition(vmi, kubevirtv1.VirtualMachineInstanceReady, corev1.ConditionFalse, kubevirtv1.PodNotExistsReason, "the pod does not exist yet", time.Now())
	return vmi
}

// setWaiting shows what an instance waits for, and nothing that it waited for before.
func setWaiting(vmi *kubevirtv1.VirtualMachineInstance, wait obstacle, now time.Time) {
	setPhase(vmi, wait.phase, now)
	dropConditions(vmi, wait.kind, kubevirtv1.VirtualMachineInstanceReady)
	setCondition(vmi, kubevirtv1.VirtualMachineInstanceReady, corev1.ConditionFalse, kubevirtv1.GuestNotRunningReason, "the guest is not running", now)
	setCondition(vmi, wait.kind, corev1.ConditionFalse, wait.reason, wait.message, now)
}

func setRunning(vmi *kubevirtv1.VirtualMachineInstance, nics []kubevirtv1.VirtualMachineInstanceNetworkInterface, agent bool, now time.Time) {
	setPhase(vmi, kubevirtv1.Running, now)
	vmi.Status.Interfaces = nics
	keep := []kubevirtv1.VirtualMachineInstanceConditionType{kubevirtv1.VirtualMachineInstanceReady, kubevirtv1.VirtualMachineInstanceIsMigratable}
	if agent {
		keep = append(keep, kubevirtv1.VirtualMachineInstanceAgentConnected)
	}
	dropConditions(vmi, keep...)
	setCondition(vmi, kubevirtv1.VirtualMachineInstanceReady, corev1.ConditionTrue, "", "", now)
	if agent {
		setCondition(vmi, kubevirtv1.VirtualMachineInstanceAgentConnected, corev1.ConditionTrue, "", "", now)
	}
}

// setEnded shows a guest that is off: it has shut down cleanly, or it failed.
func setEnded(vmi *kubevirtv1.VirtualMachineInstance, clean bool, now time.Time) {
	if clean {
		setPhase(vmi, kubevirtv1.Succeeded, now)
	} else {
		setPhase(vmi, kubevirtv1.Failed, now)
	}
	dropConditions(vmi, kubevirtv1.VirtualMachineInstanceReady)
	setCondition(vmi, kubevirtv1.VirtualMachineInstanceReady, corev1.ConditionFalse, "PodTerminating", "the guest has stopped", now)
}

func setPhase(vmi *kubevirtv1.VirtualMachineInstance, phase kubevirtv1.VirtualMachineInstancePhase, now time.Time) {
	if vmi.Status.Phase == phase {
		return
	}
	vmi.Status.Phase = phase
	vmi.Status.PhaseTransitionTimestamps = append(vmi.Status.PhaseTransitionTimestamps,
		kubevirtv1.VirtualMachineInstancePhaseTransitionTimestamp{Phase: phase, PhaseTransitionTimestamp: metav1.NewTime(now)})
}

// setCondition leaves the time of a condition that keeps its status.
func setCondition(vmi *kubevirtv1.VirtualMachineInstance, kind kubevirtv1.VirtualMachineInstanceConditionType, status corev1.ConditionStatus, reason, message string, now time.Time) {
	next := kubevirtv1.VirtualMachineInstanceCondition{
		Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(now),
	}
	for i, c := range vmi.Status.Conditions {
		if c.Type != kind {
			continue
		}
		if c.Status == status {
			next.LastTransitionTime = c.LastTransitionTime
		}
		vmi.Status.Conditions[i] = next
		return
	}
	vmi.Status.Conditions = append(vmi.Status.Conditions, next)
}

// dropConditions removes all conditions but those of the given kinds.
func dropConditions(vmi *kubevirtv1.VirtualMachineInstance, keep ...kubevirtv1.VirtualMachineInstanceConditionType) {
	vmi.Status.Conditions = slices.DeleteFunc(vmi.Status.Conditions, func(c kubevirtv1.VirtualMachineInstanceCondition) bool {
		return !slices.Contains(keep, c.Type)
	})
}

// interfaces is what the platform sees of a guest's interfaces: their MAC addresses,
// and with a guest agent the addresses of the first, and what the guest has besides. On
// the pod network the platform gives the address itself and needs no agent.
func interfaces(spec kubevirtv1.VirtualMachineInstanceSpec, m *datacenter.Machine, agent bool) []kubevirtv1.VirtualMachineInstanceNetworkInterface {
	var all []kubevirtv1.VirtualMachineInstanceNetworkInterface
	for _, i := range spec.Domain.Devices.Interfaces {
		all = append(all, kubevirtv1.VirtualMachineInstanceNetworkInterface{Name: i.Name, MAC: i.MacAddress, InfoSource: "domain"})
	}
	if len(all) == 0 {
		all = append(all, kubevirtv1.VirtualMachineInstanceNetworkInterface{Name: "default", InfoSource: "domain"})
	}
	if m == nil {
		return all
	}
	all[0].MAC = m.MAC
	if m.Address.IsValid() && (agent || m.Network == podNetwork) {
		all[0].IP = m.Address.Addr().String()
		all[0].IPs = []string{all[0].IP}
	}
	if agent {
		all[0].InfoSource = "domain, guest-agent"
		all[0].InterfaceName = "eth0"
		for _, shared := range m.Others() {
			all[0].IPs = append(all[0].IPs, shared.String())
		}
		all[0].IPs = append(all[0].IPs, "fe80::5054:ff:fe12:3456")
		all = append(all, podInterface(m.Address.Addr()))
	}
	return all
}

// podInterface is what a node of a cluster has for its pods. Only the guest agent knows
// it, so it has no name, and each guest has its own address there.
func podInterface(guest netip.Addr) kubevirtv1.VirtualMachineInstanceNetworkInterface {
	last := guest.As16()
	ip := netip.AddrFrom4([4]byte{10, 244, last[15], 27}).String()
	return kubevirtv1.VirtualMachineInstanceNetworkInterface{
		InterfaceName: "cilium_host", IP: ip, IPs: []string{ip}, MAC: "aa:11:22:33:44:55", InfoSource: "guest-agent",
	}
}
