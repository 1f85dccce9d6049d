// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// eviction refuses that of a machine that KubeVirt migrates instead, and marks it for
// that. The caller is to ask again: the pod goes when the machine is elsewhere.
func (w *webhooks) eviction(ctx context.Context, r admission.Request) admission.Response {
	pod, vmi := &corev1.Pod{}, &kubevirtv1.VirtualMachineInstance{}
	if err := w.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: r.Name}, pod); err != nil {
		return admission.Allowed("")
	}
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != kubevirtv1.VirtualMachineInstanceGroupVersionKind.Kind {
		return admission.Allowed("")
	}
	if err := w.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: owner.Name}, vmi); err != nil {
		return denial(keep(fmt.Sprintf("kubevirt failed getting the vmi: %v", err)))
	}
	stays, message := evacuates(vmi)
	if !stays {
		return admission.Allowed("")
	}
	if err := w.mark(ctx, vmi, isDryRun(r)); err != nil {
		message = fmt.Sprintf("kubevirt failed marking the vmi for eviction: %v", err)
	}
	return denial(keep(message))
}

// keep refuses an eviction. KubeVirt gives no reason beside the code.
func keep(message string) error { return refuse(http.StatusTooManyRequests, "", message) }

// evacuates reports whether the pod of an instance stays for now, and why.
func evacuates(vmi *kubevirtv1.VirtualMachineInstance) (stays bool, message string) {
	strategy := kubevirtv1.EvictionStrategyNone
	if vmi.Spec.EvictionStrategy != nil {
		strategy = *vmi.Spec.EvictionStrategy
	}
	trigger := fmt.Sprintf("Eviction triggered evacuation of VMI \"%s/%s\"", vmi.Namespace, vmi.Name)
	switch {
	case strategy == kubevirtv1.EvictionStrategyLiveMigrate && !vmi.IsMigratable():
		return true, fmt.Sprintf("VMI %s is configured with an eviction strategy but is not live-migratable", vmi.Name)
	case strategy == kubevirtv1.EvictionStrategyNone, strategy == kubevirtv1.EvictionStrategyLiveMigrateIfPossible && !vmi.IsMigratable():
		return false, ""
	case vmi.IsMarkedForEviction():
		return true, "Evacuation in progress: " + trigger
	}
	return true, trigger
}

// mark has an instance that may be migrated leave its host.
func (w *webhooks) mark(ctx context.Context, vmi *kubevirtv1.VirtualMachineInstance, dry bool) error {
	if dry || vmi.IsMarkedForEviction() || !vmi.IsMigratable() {
		return nil
	}
	before := vmi.DeepCopy()
	vmi.Status.EvacuationNodeName = vmi.Status.NodeName
	return w.Patch(ctx, vmi, client.MergeFrom(before))
}

func isDryRun(r admission.Request) bool {
	if r.DryRun != nil && *r.DryRun {
		return true
	}
	eviction := &policyv1.Eviction{}
	err := json.Unmarshal(r.Object.Raw, eviction)
	return err == nil && eviction.DeleteOptions != nil && slices.Contains(eviction.DeleteOptions.DryRun, metav1.DryRunAll)
}
