// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// endOrphan ends the instance of this name if its VirtualMachine is gone; owner is
// the one that the cache shows. It is true while there is an instance of another.
//
// A finalizer does not prevent that: the API server deletes at once what had none
// when the deletion arrived, even if it gets one while that is under way.
func (r *machines) endOrphan(ctx context.Context, name types.NamespacedName, owner types.UID) (bool, error) {
	vmi := &kubevirtv1.VirtualMachineInstance{}
	if err := r.Get(ctx, name, vmi); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	ref := metav1.GetControllerOf(vmi)
	if ref == nil || ref.UID == owner {
		return false, nil
	}
	// The instance may be ahead of its owner in the cache.
	vm := &kubevirtv1.VirtualMachine{}
	if err := client.IgnoreNotFound(r.live.Get(ctx, name, vm)); err != nil || ref.UID == vm.UID {
		return true, err
	}
	return true, r.discard(ctx, string(ref.UID), vmi)
}

// discard removes instance, machine, disk and lease of a VirtualMachine.
func (r *machines) discard(ctx context.Context, id string, vmi *kubevirtv1.VirtualMachineInstance) error {
	if vmi != nil {
		if err := r.stop(ctx, id, vmi); err != nil {
			return err
		}
	}
	if err := r.datacenter.Remove(id); err != nil {
		return err
	}
	r.forgetRerun(id)
	return nil
}

// stop ends an instance: machine off, pod gone, then the instance itself.
func (r *machines) stop(ctx context.Context, id string, vmi *kubevirtv1.VirtualMachineInstance) error {
	if vmi.DeletionTimestamp.IsZero() {
		if err := client.IgnoreNotFound(r.Delete(ctx, vmi)); err != nil {
			return err
		}
	}
	r.datacenter.PowerOff(id)
	if err := r.deletePod(ctx, vmi); err != nil {
		return err
	}
	r.forgetInstance(vmi)
	before := vmi.DeepCopy()
	vmi.Finalizers = nil
	return client.IgnoreNotFound(r.Patch(ctx, vmi, client.MergeFrom(before)))
}
