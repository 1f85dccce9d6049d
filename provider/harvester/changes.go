// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"slices"
	"sync"

	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
)

// changes follows our VirtualMachines and their instances.
func (m *machines) changes(ctx context.Context) <-chan provider.MachineRef {
	out := make(chan provider.MachineRef)
	var watches sync.WaitGroup
	for _, kind := range []func() client.ObjectList{
		func() client.ObjectList { return &kubevirtv1.VirtualMachineList{} },
		func() client.ObjectList { return &kubevirtv1.VirtualMachineInstanceList{} },
	} {
		f := &follower{machines: m, kind: kind, out: out, seen: map[string]sight{}}
		watches.Go(func() { f.follow(ctx) })
	}
	go func() {
		watches.Wait()
		close(out)
	}()
	return out
}

// uneventful reports whether an object is only starting: to observe the machine for that
// would cost more requests than to create it.
func uneventful(o client.Object) bool {
	if !o.GetDeletionTimestamp().IsZero() {
		return false
	}
	switch o := o.(type) {
	case *kubevirtv1.VirtualMachine:
		// A machine that runs is announced by its instance.
		return slices.Contains([]kubevirtv1.VirtualMachinePrintableStatus{
			"", kubevirtv1.VirtualMachineStatusProvisioning, kubevirtv1.VirtualMachineStatusStarting, kubevirtv1.VirtualMachineStatusRunning,
		}, o.Status.PrintableStatus)
	case *kubevirtv1.VirtualMachineInstance:
		return complaint(o) == "" && slices.Contains([]kubevirtv1.VirtualMachineInstancePhase{
			kubevirtv1.VmPhaseUnset, kubevirtv1.Pending, kubevirtv1.Scheduling, kubevirtv1.Scheduled,
		}, o.Status.Phase)
	}
	return false
}
