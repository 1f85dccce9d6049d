// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
)

// rewatch is the pause before a watch that has ended is opened again.
const rewatch = time.Second

// changes watches our VirtualMachines and their instances.
func (m *machines) changes(ctx context.Context) <-chan provider.MachineRef {
	out := make(chan provider.MachineRef)
	var watches sync.WaitGroup
	for _, list := range []client.ObjectList{&kubevirtv1.VirtualMachineList{}, &kubevirtv1.VirtualMachineInstanceList{}} {
		watches.Go(func() {
			wait.JitterUntilWithContext(ctx, func(ctx context.Context) { m.watch(ctx, list, out) }, rewatch, 1, true)
		})
	}
	go func() {
		watches.Wait()
		close(out)
	}()
	return out
}

// watch forwards the changes of one kind until the watch ends. It begins with all
// objects that exist, so that nothing is missed between two watches.
func (m *machines) watch(ctx context.Context, list client.ObjectList, out chan<- provider.MachineRef) {
	w, err := m.api.Watch(ctx, list, client.InNamespace(m.place.Namespace), client.HasLabels{labelOwner})
	if err != nil {
		return // it is opened again; until then polling must do
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, open := <-w.ResultChan():
			if !open || e.Type == watch.Error {
				return
			}
			forward(ctx, e, out)
		}
	}
}

func forward(ctx context.Context, e watch.Event, out chan<- provider.MachineRef) {
	o, ok := e.Object.(client.Object)
	if !ok || e.Type == watch.Bookmark || !original(o) || e.Type != watch.Deleted && uneventful(o) {
		return
	}
	select {
	case out <- provider.MachineRef{Name: o.GetName(), Owner: ownerOf(o)}:
	case <-ctx.Done():
	}
}

// uneventful reports whether an object only is on its way up: to look at the
// machine for that would cost more requests than to make it.
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
