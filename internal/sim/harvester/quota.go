// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"

	kubevirtv1 "kubevirt.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/internal/sim/harvester/admission"
)

const overQuotaAnnotation = "harvesterhci.io/insufficient-resource-quota"

// haltOverQuota switches a machine off that its namespace's quota does not let start, as
// Harvester does. One that runs is taken for one that is to start if Harvester does not
// find its pod.
func (r *machines) haltOverQuota(ctx context.Context, vm *kubevirtv1.VirtualMachine) error {
	err := admission.CheckQuota(ctx, r, vm)
	if !admission.IsOverQuota(err) {
		return err
	}
	// The cache may not show its pod yet.
	if err = admission.CheckQuota(ctx, r.live, vm); !admission.IsOverQuota(err) {
		return err
	}
	before, halted := vm.DeepCopy(), kubevirtv1.RunStrategyHalted
	vm.Spec.RunStrategy, vm.Spec.Running = &halted, nil
	if vm.Annotations == nil {
		vm.Annotations = map[string]string{}
	}
	vm.Annotations[overQuotaAnnotation] = err.Error()
	return client.IgnoreNotFound(r.Patch(ctx, vm, client.MergeFrom(before)))
}

// inNamespace lists the machines in the namespace of an object.
func (r *machines) inNamespace(ctx context.Context, o client.Object) []reconcile.Request {
	list := &kubevirtv1.VirtualMachineList{}
	if err := r.List(ctx, list, client.InNamespace(o.GetNamespace())); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list machines of a namespace")
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return requests
}
