// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
)

func inPhase(phase kubevirtv1.VirtualMachineInstancePhase) *kubevirtv1.VirtualMachineInstance {
	return &kubevirtv1.VirtualMachineInstance{Status: kubevirtv1.VirtualMachineInstanceStatus{Phase: phase}}
}

func TestPrintableStatus(t *testing.T) {
	now, always, halted := metav1.Now(), kubevirtv1.RunStrategyAlways, kubevirtv1.RunStrategyHalted
	with := func(strategy kubevirtv1.VirtualMachineRunStrategy, change func(*kubevirtv1.VirtualMachine)) *kubevirtv1.VirtualMachine {
		vm := &kubevirtv1.VirtualMachine{Spec: kubevirtv1.VirtualMachineSpec{RunStrategy: &strategy}}
		if change != nil {
			change(vm)
		}
		return vm
	}
	failing := func(vm *kubevirtv1.VirtualMachine) {
		vm.Status.StartFailure = &kubevirtv1.VirtualMachineStartFailure{}
	}
	deleting := inPhase(kubevirtv1.Running)
	deleting.DeletionTimestamp = &now
	waiting := inPhase(kubevirtv1.Scheduling)
	setWaiting(waiting, *unschedulable("no room"), now.Time)

	tests := map[string]struct {
		vm   *kubevirtv1.VirtualMachine
		vmi  *kubevirtv1.VirtualMachineInstance
		want kubevirtv1.VirtualMachinePrintableStatus
	}{
		"deleted machine":      {with(always, func(vm *kubevirtv1.VirtualMachine) { vm.DeletionTimestamp = &now }), inPhase(kubevirtv1.Running), kubevirtv1.VirtualMachineStatusTerminating},
		"not started yet":      {with(always, nil), nil, kubevirtv1.VirtualMachineStatusStarting},
		"halted":               {with(halted, nil), nil, kubevirtv1.VirtualMachineStatusStopped},
		"held back":            {with(always, failing), nil, kubevirtv1.VirtualMachineStatusCrashLoopBackOff},
		"failed at the start":  {with(always, failing), inPhase(kubevirtv1.Failed), kubevirtv1.VirtualMachineStatusCrashLoopBackOff},
		"failed later":         {with(always, nil), inPhase(kubevirtv1.Failed), kubevirtv1.VirtualMachineStatusStopped},
		"instance is deleted":  {with(always, nil), deleting, kubevirtv1.VirtualMachineStatusStopping},
		"running":              {with(always, nil), inPhase(kubevirtv1.Running), kubevirtv1.VirtualMachineStatusRunning},
		"scheduling":           {with(always, nil), inPhase(kubevirtv1.Scheduling), kubevirtv1.VirtualMachineStatusStarting},
		"without bound claims": {with(always, nil), waiting, kubevirtv1.VirtualMachineStatusUnschedulable},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := printable(tt.vm, tt.vmi); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestWhoStartsAndWhoStays(t *testing.T) {
	tests := map[kubevirtv1.VirtualMachineRunStrategy]struct{ start, again, requested, keepRunning, keepFailed bool }{
		kubevirtv1.RunStrategyAlways:         {true, true, true, true, false},
		kubevirtv1.RunStrategyRerunOnFailure: {true, false, true, true, false},
		kubevirtv1.RunStrategyOnce:           {true, false, false, true, true},
		kubevirtv1.RunStrategyManual:         {false, false, false, true, true},
		kubevirtv1.RunStrategyHalted:         {false, false, false, false, false},
	}
	for strategy, want := range tests {
		t.Run(string(strategy), func(t *testing.T) {
			vm := &kubevirtv1.VirtualMachine{Spec: kubevirtv1.VirtualMachineSpec{RunStrategy: &strategy}}
			started := vm.DeepCopy()
			started.Status.RunStrategy = strategy
			requested := started.DeepCopy()
			requested.Status.StateChangeRequests = []kubevirtv1.VirtualMachineStateChangeRequest{{Action: kubevirtv1.StartRequest}}
			got := struct{ start, again, requested, keepRunning, keepFailed bool }{
				shouldStart(vm), shouldStart(started), shouldStart(requested), shouldKeep(vm, inPhase(kubevirtv1.Running)), shouldKeep(vm, inPhase(kubevirtv1.Failed)),
			}
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestBackoffGrowsToALimit(t *testing.T) {
	for failures, want := range map[int]time.Duration{1: 10 * time.Second, 2: 40 * time.Second, 5: 250 * time.Second, 6: 5 * time.Minute, 100: 5 * time.Minute} {
		if got := backoff(failures); got != want {
			t.Errorf("%d failures: %v, want %v", failures, got, want)
		}
	}
}

func TestConditionKeepsItsTime(t *testing.T) {
	vmi, begin := inPhase(""), time.Unix(1000, 0)
	setWaiting(vmi, *unschedulable("one claim"), begin)
	setWaiting(vmi, *unschedulable("another claim"), begin.Add(time.Hour))
	c := condition(vmi, kubevirtv1.VirtualMachineInstanceConditionType(corev1.PodScheduled))
	if c == nil || c.Message != "another claim" || !c.LastTransitionTime.Time.Equal(begin) {
		t.Errorf("got %+v", c)
	}
	setRunning(vmi, nil, false, begin)
	if condition(vmi, c.Type) != nil {
		t.Error("a running instance still waits")
	}
}

func TestBootVolume(t *testing.T) {
	first, second := uint(1), uint(2)
	spec := &kubevirtv1.VirtualMachineInstanceSpec{Volumes: []kubevirtv1.Volume{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	tests := map[string]struct {
		disks []kubevirtv1.Disk
		want  string
	}{
		"first disk":         {[]kubevirtv1.Disk{{Name: "b"}, {Name: "a"}}, "b"},
		"lowest order":       {[]kubevirtv1.Disk{{Name: "a", BootOrder: &second}, {Name: "b"}, {Name: "c", BootOrder: &first}}, "c"},
		"order before none":  {[]kubevirtv1.Disk{{Name: "a"}, {Name: "b", BootOrder: &second}}, "b"},
		"no disks":           {nil, ""},
		"disk of no volumes": {[]kubevirtv1.Disk{{Name: "x"}}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec.Domain.Devices.Disks = tt.disks
			got := ""
			if v := bootVolume(spec); v != nil {
				got = v.Name
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSizeOfAMachine(t *testing.T) {
	guest := resource.MustParse("2Gi")
	limits := kubevirtv1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("4Gi"), corev1.ResourceCPU: resource.MustParse("3")}}
	tests := map[string]struct {
		domain      kubevirtv1.DomainSpec
		cpu, memory int
	}{
		"topology and guest memory": {kubevirtv1.DomainSpec{CPU: &kubevirtv1.CPU{Cores: 2, Sockets: 3}, Memory: &kubevirtv1.Memory{Guest: &guest}, Resources: limits}, 6, 2048},
		"limits":                    {kubevirtv1.DomainSpec{Resources: limits}, 3, 4096},
		"no processors said":        {kubevirtv1.DomainSpec{CPU: &kubevirtv1.CPU{Model: "host-model"}, Memory: &kubevirtv1.Memory{Guest: &guest}}, 1, 2048},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if cpu, memory := cpusOf(tt.domain), memoryOf(tt.domain); cpu != tt.cpu || memory != tt.memory {
				t.Errorf("%d processors and %d MB, want %d and %d", cpu, memory, tt.cpu, tt.memory)
			}
		})
	}
}
