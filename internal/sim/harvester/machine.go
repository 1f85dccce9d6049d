// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubevirtv1 "kubevirt.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// machines plays KubeVirt: it gives each VirtualMachine that should run an instance,
// a pod that holds its volumes, and a machine of the datacenter under the
// VirtualMachine's UID.
type machines struct {
	client.Client
	live       client.Reader // not cached
	datacenter *datacenter.Datacenter
	noAgent    bool
	faults     *fault.Injector
	log        *slog.Logger

	mu       sync.Mutex
	reruns   map[string]bool                    // machines that are to start again, until their status shows it
	departed map[types.NamespacedName]types.UID // instances that lost their pod
	moved    map[types.UID]bool                 // pods that went because their instance moved
	asked    map[types.UID]<-chan struct{}      // instances whose fate the fault plan has decided
}

// Reconcile brings instance, pod, machine and status in line with a VirtualMachine.
func (r *machines) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	vm := &kubevirtv1.VirtualMachine{}
	if err := client.IgnoreNotFound(r.Get(ctx, request.NamespacedName, vm)); err != nil {
		return ctrl.Result{}, err
	}
	if found, err := r.endOrphan(ctx, request.NamespacedName, vm.UID); err != nil || found || vm.UID == "" {
		return ctrl.Result{}, err
	}
	if !vm.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.remove(ctx, vm)
	}
	if held, err := r.hold(ctx, vm); err != nil || !held {
		return ctrl.Result{}, err
	}
	if err := r.ensureDataVolumes(ctx, vm); err != nil {
		return ctrl.Result{}, err
	}
	vmi, err := r.present(ctx, vm)
	if err != nil {
		return ctrl.Result{}, err
	}
	vmi, err = r.play(ctx, vm, vmi)
	err = errors.Join(err, r.report(ctx, vm, vmi), r.clone(ctx, vm, vmi), r.haltOverQuota(ctx, vm))
	return ctrl.Result{RequeueAfter: r.nextLook(vm)}, err
}

// nextLook is when time alone may have changed what a machine waits for.
func (r *machines) nextLook(vm *kubevirtv1.VirtualMachine) time.Duration {
	if delay := r.startDelay(vm, time.Now()); delay > 0 {
		return delay
	}
	crowded, _ := r.faults.WithoutCapacity(vm.Name)
	return crowded
}

// hold puts the finalizer on a VirtualMachine. It is false for one that the cache
// shows too late: gone, being deleted or replaced. A watch brings what is there now.
func (r *machines) hold(ctx context.Context, vm *kubevirtv1.VirtualMachine) (bool, error) {
	before := vm.DeepCopy()
	if !controllerutil.AddFinalizer(vm, kubevirtv1.VirtualMachineControllerFinalizer) {
		return true, nil
	}
	if err := r.Patch(ctx, vm, client.MergeFrom(before)); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return vm.UID == before.UID && vm.DeletionTimestamp.IsZero(), nil
}

// play takes the next step with the instance and returns it as it is then.
func (r *machines) play(ctx context.Context, vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance) (*kubevirtv1.VirtualMachineInstance, error) {
	switch {
	case vmi == nil && (shouldStart(vm) || r.isRerun(vm)) && r.startDelay(vm, time.Now()) == 0:
		created := newInstance(vm)
		if err := r.Create(ctx, created); err != nil {
			return nil, describe("create", created, err)
		}
		r.setRerun(vm, false)
		return created, r.run(ctx, vm, created)
	case vmi == nil:
		r.datacenter.PowerOff(string(vm.UID))
		return nil, nil
	case !vmi.DeletionTimestamp.IsZero() || !shouldKeep(vm, vmi):
		if shouldRerun(vm, vmi) {
			r.setRerun(vm, true)
		}
		return nil, r.stop(ctx, string(vm.UID), vmi)
	case vmi.IsFinal():
		return vmi, nil
	}
	return vmi, r.run(ctx, vm, vmi)
}

// run carries an instance towards Running as far as it can go now. A watch brings
// it back when what it waits for has changed.
func (r *machines) run(ctx context.Context, vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance) error {
	before, id := vmi.DeepCopy(), string(vm.UID)
	if last, known := r.datacenter.LastRun(id); known && last.Died && last.Spec.Instance == string(vmi.UID) {
		setEnded(vmi, last.Clean, time.Now())
		return r.save(ctx, vmi, before)
	}
	if vmi.IsRunning() && vmi.IsMarkedForEviction() {
		return r.evacuate(ctx, vmi)
	}
	if r.isOn(id, vmi.UID) && vmi.IsRunning() {
		if r.takeDeparture(client.ObjectKeyFromObject(vmi), vmi.UID) {
			return r.leave(ctx, id, vmi)
		}
		return r.showAddress(ctx, id, vmi, before)
	}
	g, wait, err := r.guest(ctx, vm)
	if err != nil {
		return err
	}
	if wait != nil && !vmi.IsRunning() { // what runs keeps running without its Secret or network
		setWaiting(vmi, *wait, time.Now())
		return r.save(ctx, vmi, before)
	}
	if full, err := r.schedule(ctx, vmi, ""); err != nil || full {
		return errors.Join(err, r.save(ctx, vmi, before))
	}
	if err := r.ensurePod(ctx, vmi); err != nil {
		setWaiting(vmi, *failedCreate(err.Error()), time.Now())
		return errors.Join(err, r.save(ctx, vmi, before))
	}
	return errors.Join(r.boot(vm, vmi, g), r.showMigratable(ctx, vmi), r.save(ctx, vmi, before))
}

// boot switches the machine on. A disk without a system leaves it at its firmware:
// running, and mute.
func (r *machines) boot(vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance, g guest) error {
	if !g.bootable {
		setRunning(vmi, interfaces(vmi.Spec, nil, false), false, time.Now())
		return nil
	}
	g.spec.Ref, g.spec.Instance = client.ObjectKeyFromObject(vm).String(), string(vmi.UID)
	machine, err := r.datacenter.PowerOn(g.spec)
	if err != nil {
		setWaiting(vmi, *failedCreate(err.Error()), time.Now())
		return fmt.Errorf("start instance %s: %w", vmi.Name, err)
	}
	r.showRunning(vmi, machine)
	return nil
}

// showAddress shows the address of a running machine once it has one.
func (r *machines) showAddress(ctx context.Context, id string, vmi, before *kubevirtv1.VirtualMachineInstance) error {
	if machine, on := r.datacenter.Running(id); on {
		r.showRunning(vmi, machine)
	}
	return r.save(ctx, vmi, before)
}

// showRunning shows a machine as the platform sees it: its agent answers, and knows
// its address, once the guest has one.
func (r *machines) showRunning(vmi *kubevirtv1.VirtualMachineInstance, m datacenter.Machine) {
	agent := !r.noAgent && m.Address.IsValid()
	setRunning(vmi, interfaces(vmi.Spec, &m, agent), agent, time.Now())
	if m.Address.IsValid() {
		r.drainAsPlanned(vmi)
	}
}

// remove ends everything that belongs to a deleted VirtualMachine, then lets it go.
func (r *machines) remove(ctx context.Context, vm *kubevirtv1.VirtualMachine) error {
	if !controllerutil.ContainsFinalizer(vm, kubevirtv1.VirtualMachineControllerFinalizer) {
		return nil
	}
	// An instance that the cache does not show yet would outlive its owner.
	vmi, err := r.instance(ctx, r.live, vm)
	if err != nil {
		return err
	}
	if vmi != nil {
		if err := r.report(ctx, vm, vmi); err != nil {
			return err
		}
	}
	if err := r.discard(ctx, string(vm.UID), vmi); err != nil {
		return err
	}
	before := vm.DeepCopy()
	controllerutil.RemoveFinalizer(vm, kubevirtv1.VirtualMachineControllerFinalizer)
	return client.IgnoreNotFound(r.Patch(ctx, vm, client.MergeFrom(before)))
}

// present finds the VirtualMachine's own instance. One that the status knows of and the
// cache does not show is looked for at the API server: to take it for gone would switch
// the machine off.
func (r *machines) present(ctx context.Context, vm *kubevirtv1.VirtualMachine) (*kubevirtv1.VirtualMachineInstance, error) {
	vmi, err := r.instance(ctx, r, vm)
	if err != nil || vmi != nil || !vm.Status.Created {
		return vmi, err
	}
	return r.instance(ctx, r.live, vm)
}

// instance finds the VirtualMachine's own instance.
func (r *machines) instance(ctx context.Context, from client.Reader, vm *kubevirtv1.VirtualMachine) (*kubevirtv1.VirtualMachineInstance, error) {
	vmi := &kubevirtv1.VirtualMachineInstance{}
	err := from.Get(ctx, client.ObjectKeyFromObject(vm), vmi)
	if err != nil || !metav1.IsControlledBy(vmi, vm) {
		return nil, client.IgnoreNotFound(err)
	}
	return vmi, nil
}

func (r *machines) save(ctx context.Context, vmi, before *kubevirtv1.VirtualMachineInstance) error {
	return patchChanged(ctx, r.Client, vmi, before, vmi.Status, before.Status)
}

// forward has the VirtualMachine of each machine reconciled that has died or has got an
// address.
func (r *machines) forward(ctx context.Context, events chan<- event.GenericEvent) {
	for {
		var id string
		select {
		case <-ctx.Done():
			return
		case id = <-r.datacenter.Died():
		case id = <-r.datacenter.Addressed():
		}
		last, known := r.datacenter.LastRun(id)
		if !known {
			continue
		}
		name := parseName(last.Spec.Ref)
		vm := &kubevirtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
		select {
		case events <- event.GenericEvent{Object: vm}:
		case <-ctx.Done():
			return
		}
	}
}
