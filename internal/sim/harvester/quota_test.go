// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const quotaNamespace = "quota"

// quotaOf limits the processors of a namespace as Rancher does.
func quotaOf(cores string) []client.Object {
	return []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: quotaNamespace, Annotations: map[string]string{
			"field.cattle.io/resourceQuota": `{"limit":{"limitsCpu":"` + cores + `"}}`,
		}}},
		&corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: quotaNamespace, Name: "default-quota", Labels: map[string]string{
				"resourcequota.management.cattle.io/default-resource-quota": "true",
			}},
			Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceLimitsCPU: resource.MustParse(cores)}},
		},
	}
}

func inQuota(name string, labels map[string]string) *kubevirtv1.VirtualMachine {
	vm := limited(machine(name, name+"-root"), 4, "4Gi")
	vm.Namespace, vm.Spec.Template.ObjectMeta.Labels = quotaNamespace, labels
	return vm
}

// overQuota waits until a machine is switched off for lack of quota.
func overQuota(t *testing.T, vm *kubevirtv1.VirtualMachine) {
	t.Helper()
	eventually(t, "halt of "+vm.Name, func() error {
		if err := shared.admin.Get(t.Context(), client.ObjectKeyFromObject(vm), vm); err != nil {
			return err
		}
		why := vm.Annotations["harvesterhci.io/insufficient-resource-quota"]
		if *vm.Spec.RunStrategy != kubevirtv1.RunStrategyHalted || why != "cpu insufficient resources due to resource quota" {
			return fmt.Errorf("strategy %s, annotation %q", *vm.Spec.RunStrategy, why)
		}
		return nil
	})
}

func started(t *testing.T, vm *kubevirtv1.VirtualMachine) {
	t.Helper()
	eventually(t, vm.Name+" runs", func() error {
		if err := shared.admin.Get(t.Context(), client.ObjectKeyFromObject(vm), vm); err != nil {
			return err
		}
		if !vm.Status.Ready {
			return fmt.Errorf("status %+v", vm.Status)
		}
		return nil
	})
}

// addToQuota creates a machine of 4 processors in the namespace and waits until it runs.
func addToQuota(t *testing.T, name string, labels map[string]string) *kubevirtv1.VirtualMachine {
	t.Helper()
	root, vm := rootClaim(name+"-root"), inQuota(name, labels)
	root.Namespace = quotaNamespace
	create(t, shared.admin, root, vm)
	started(t, vm)
	return vm
}

func TestQuotaHaltsMachinesWhosePodIsNotFound(t *testing.T) {
	quota := quotaOf("10")
	create(t, shared.admin, quota...)
	eventually(t, "quota in force", func() error {
		q := &corev1.ResourceQuota{}
		if err := shared.admin.Get(t.Context(), client.ObjectKeyFromObject(quota[1]), q); err != nil {
			return err
		}
		if len(q.Status.Used) == 0 {
			return fmt.Errorf("status %+v", q.Status)
		}
		return nil
	})
	lost := addToQuota(t, "lost", nil)
	found := addToQuota(t, "found", map[string]string{"harvesterhci.io/vmName": "found"})
	overQuota(t, lost) // 2 are left, and it needs 4
	eventually(t, "its 4 are free", func() error {
		q := &corev1.ResourceQuota{}
		if err := shared.admin.Get(t.Context(), client.ObjectKeyFromObject(quota[1]), q); err != nil {
			return err
		}
		if used := q.Status.Used[corev1.ResourceLimitsCPU]; used.Value() != 4 {
			return fmt.Errorf("%s are used", used.String())
		}
		return nil
	})

	addToQuota(t, "other", map[string]string{"harvesterhci.io/vmName": "other"})
	update := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"colour":"red"}}}`))
	if err := shared.admin.Patch(t.Context(), found, update); err != nil || *found.Spec.RunStrategy != kubevirtv1.RunStrategyAlways {
		t.Errorf("machine whose pod is found: %v, %s", err, *found.Spec.RunStrategy)
	}
	start := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"runStrategy":"Always"}}`))
	refused(t, shared.admin.Patch(t.Context(), lost, start), 500, metav1.StatusReasonInternalError,
		invalidHarvester+"cpu insufficient resources due to resource quota")
}
