// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// report writes a VirtualMachine's status if it has changed.
func (r *machines) report(ctx context.Context, vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance) error {
	before := vm.DeepCopy()
	setStartFailure(vm, vmi, r.failure(string(vm.UID)))
	setStartRequest(vm, vmi, r.isRerun(vm))
	setStatus(vm, vmi, time.Now())
	if equality.Semantic.DeepEqual(vm.Status, before.Status) {
		return nil
	}
	return client.IgnoreNotFound(r.Status().Patch(ctx, vm, client.MergeFrom(before)))
}

// patchChanged writes an object whose status is no subresource.
func patchChanged(ctx context.Context, c client.Client, o, before client.Object, status, old any) error {
	if equality.Semantic.DeepEqual(status, old) {
		return nil
	}
	return client.IgnoreNotFound(c.Patch(ctx, o, client.MergeFrom(before)))
}

// setStartFailure holds the next start back after one that failed early, and clears
// that once an instance runs.
func setStartFailure(vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance, last failure) {
	switch {
	case vmi == nil:
	case vmi.IsRunning():
		vm.Status.StartFailure = nil
	case vmi.Status.Phase == kubevirtv1.Failed && last.count > 0:
		retry := metav1.NewTime(last.retry)
		vm.Status.StartFailure = &kubevirtv1.VirtualMachineStartFailure{
			ConsecutiveFailCount: last.count, LastFailedVMIUID: vmi.UID, RetryAfterTimestamp: &retry,
		}
	}
}

// setStartRequest shows between two instances that another is to follow. Without it a
// machine with RerunOnFailure stays off.
func setStartRequest(vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance, rerun bool) {
	switch {
	case vmi != nil && !vmi.IsFinal():
		vm.Status.StateChangeRequests = nil
	case rerun && !startRequested(vm):
		vm.Status.StateChangeRequests = []kubevirtv1.VirtualMachineStateChangeRequest{{Action: kubevirtv1.StartRequest}}
	}
}

// setStatus derives the status of a VirtualMachine from its instance.
func setStatus(vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance, now time.Time) {
	ready := readiness(vmi, now)
	vm.Status.Created = vmi != nil
	vm.Status.Ready = ready.Status == corev1.ConditionTrue
	vm.Status.PrintableStatus = printable(vm, vmi)
	vm.Status.ObservedGeneration, vm.Status.DesiredGeneration = vm.Generation, vm.Generation
	if strategy, err := vm.RunStrategy(); err == nil && (vm.Status.RunStrategy != "" || vmi != nil) {
		vm.Status.RunStrategy = strategy
	}
	for _, c := range vm.Status.Conditions {
		if c.Type == ready.Type && c.Status == ready.Status {
			ready.LastTransitionTime = c.LastTransitionTime
		}
	}
	vm.Status.Conditions = []kubevirtv1.VirtualMachineCondition{ready}
	for _, kind := range []kubevirtv1.VirtualMachineInstanceConditionType{
		kubevirtv1.VirtualMachineInstanceIsMigratable, kubevirtv1.VirtualMachineInstanceAgentConnected,
	} {
		if c := condition(vmi, kind); c != nil {
			vm.Status.Conditions = append(vm.Status.Conditions, asMachineCondition(*c))
		}
	}
}

func readiness(vmi *kubevirtv1.VirtualMachineInstance, now time.Time) kubevirtv1.VirtualMachineCondition {
	if c := condition(vmi, kubevirtv1.VirtualMachineInstanceReady); c != nil {
		return asMachineCondition(*c)
	}
	return kubevirtv1.VirtualMachineCondition{
		Type: kubevirtv1.VirtualMachineReady, Status: corev1.ConditionFalse,
		Reason: "VMINotExists", Message: "the instance does not exist", LastTransitionTime: metav1.NewTime(now),
	}
}

// printable is the status in one word; the first that fits.
func printable(vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance) kubevirtv1.VirtualMachinePrintableStatus {
	switch {
	case !vm.DeletionTimestamp.IsZero():
		return kubevirtv1.VirtualMachineStatusTerminating
	case vmi == nil && shouldStart(vm) && vm.Status.StartFailure == nil:
		return kubevirtv1.VirtualMachineStatusStarting
	case vmi == nil && shouldStart(vm), vmi != nil && vmi.IsFinal() && vm.Status.StartFailure != nil:
		return kubevirtv1.VirtualMachineStatusCrashLoopBackOff
	case vmi == nil, vmi.IsFinal():
		return kubevirtv1.VirtualMachineStatusStopped
	case !vmi.DeletionTimestamp.IsZero():
		return kubevirtv1.VirtualMachineStatusStopping
	case vmi.IsRunning():
		return kubevirtv1.VirtualMachineStatusRunning
	}
	return waitingStatus(vmi)
}

func waitingStatus(vmi *kubevirtv1.VirtualMachineInstance) kubevirtv1.VirtualMachinePrintableStatus {
	if c := condition(vmi, kubevirtv1.VirtualMachineInstanceSynchronized); c != nil && c.Reason == "FailedPvcNotFound" {
		return kubevirtv1.VirtualMachineStatusPvcNotFound
	}
	if c := condition(vmi, kubevirtv1.VirtualMachineInstanceConditionType(corev1.PodScheduled)); c != nil {
		return kubevirtv1.VirtualMachineStatusUnschedulable
	}
	return kubevirtv1.VirtualMachineStatusStarting
}

func condition(vmi *kubevirtv1.VirtualMachineInstance, kind kubevirtv1.VirtualMachineInstanceConditionType) *kubevirtv1.VirtualMachineInstanceCondition {
	if vmi == nil {
		return nil
	}
	for i := range vmi.Status.Conditions {
		if vmi.Status.Conditions[i].Type == kind {
			return &vmi.Status.Conditions[i]
		}
	}
	return nil
}

func asMachineCondition(c kubevirtv1.VirtualMachineInstanceCondition) kubevirtv1.VirtualMachineCondition {
	return kubevirtv1.VirtualMachineCondition{
		Type: kubevirtv1.VirtualMachineConditionType(c.Type), Status: c.Status, Reason: c.Reason, Message: c.Message,
		LastProbeTime: c.LastProbeTime, LastTransitionTime: c.LastTransitionTime,
	}
}
