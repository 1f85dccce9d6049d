// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// evacuate moves an instance that is marked for it to another host; here the migration
// is over at once. Without a host that takes it, the guest stays where it is, marked.
func (r *machines) evacuate(ctx context.Context, cached *kubevirtv1.VirtualMachineInstance) error {
	// The cache may show the mark of a move that is over.
	vmi := &kubevirtv1.VirtualMachineInstance{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(cached), vmi); err != nil || !vmi.IsMarkedForEviction() {
		return client.IgnoreNotFound(err)
	}
	before := vmi.DeepCopy()
	if full, err := r.schedule(ctx, vmi, vmi.Status.EvacuationNodeName); err != nil || full {
		return err
	}
	if err := r.movePod(ctx, vmi); err != nil {
		return err
	}
	vmi.Status.EvacuationNodeName = ""
	vmi.DeepCopyInto(cached)
	return r.save(ctx, vmi, before)
}

// movePod creates the pod of an instance on its new host, then deletes that on the old.
func (r *machines) movePod(ctx context.Context, vmi *kubevirtv1.VirtualMachineInstance) error {
	if err := r.ensurePod(ctx, vmi); err != nil {
		return err
	}
	pods := &corev1.PodList{}
	if err := r.live.List(ctx, pods, client.InNamespace(vmi.Namespace), client.MatchingLabels{kubevirtv1.CreatedByLabel: string(vmi.UID)}); err != nil {
		return err
	}
	for i := range pods.Items {
		if pods.Items[i].Spec.NodeName == vmi.Status.NodeName {
			continue
		}
		r.noteMove(pods.Items[i].UID)
		if err := r.Delete(ctx, &pods.Items[i], client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// noteMove notes that a pod goes because its instance is elsewhere.
func (r *machines) noteMove(pod types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.moved[pod] = true
}

// showMigratable shows whether an instance can be migrated: two hosts can open all of
// its disks.
func (r *machines) showMigratable(ctx context.Context, vmi *kubevirtv1.VirtualMachineInstance) error {
	if !vmi.IsRunning() {
		return nil
	}
	for _, name := range claimsOf(vmi.Namespace, &vmi.Spec) {
		claim := &corev1.PersistentVolumeClaim{}
		if err := r.Get(ctx, parseName(name), claim); err != nil {
			return client.IgnoreNotFound(err)
		}
		if !slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteMany) {
			setCondition(vmi, kubevirtv1.VirtualMachineInstanceIsMigratable, corev1.ConditionFalse, kubevirtv1.VirtualMachineInstanceReasonDisksNotMigratable,
				fmt.Sprintf("cannot migrate VMI: PVC %s is not shared, live migration requires that all PVCs must be shared (using ReadWriteMany access mode)", claim.Name), time.Now())
			return nil
		}
	}
	setCondition(vmi, kubevirtv1.VirtualMachineInstanceIsMigratable, corev1.ConditionTrue, "", "", time.Now())
	return nil
}
