// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// controllers is the name of Kubernetes' own controllers, which collect garbage.
const controllers = "system:kube-controller-manager"

// harvesterValidator refuses what Harvester refuses: a VirtualMachine, or the deletion
// of a disk.
func (w *webhooks) harvesterValidator(ctx context.Context, r admission.Request) admission.Response {
	if r.Operation == admissionv1.Delete && r.UserInfo.Username == controllers {
		return admission.Allowed("")
	}
	if r.Operation == admissionv1.Delete {
		claim := &corev1.PersistentVolumeClaim{}
		err := json.Unmarshal(r.OldObject.Raw, claim)
		if err = errors.Join(err, w.releases(ctx, claim)); err != nil {
			return denial(err)
		}
		return admission.Allowed("")
	}
	return onMachine(validated(w.acceptable))(ctx, r)
}

// acceptable refuses a machine without memory, and one that the quota does not let start.
func (w *webhooks) acceptable(v review) error {
	if v.vm.Spec.Template == nil {
		return nil // refused by the mutator
	}
	domain := v.vm.Spec.Template.Spec.Domain
	if (domain.Memory == nil || domain.Memory.Guest == nil) && domain.Resources.Limits.Memory().IsZero() {
		return invalid(wrong("spec.template.spec.domain", "either memory.guest or resources.limits.memory must be set"))
	}
	return CheckQuota(v, w, v.vm)
}

// releases refuses to delete a disk that a VirtualMachine has, unless that is being
// deleted itself.
func (w *webhooks) releases(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	all := &kubevirtv1.VirtualMachineList{}
	if err := w.List(ctx, all, client.InNamespace(claim.Namespace)); err != nil {
		return err
	}
	for i := range all.Items {
		if vm := &all.Items[i]; vm.DeletionTimestamp.IsZero() && has(vm, claim.Name) {
			return refuse(http.StatusConflict, metav1.StatusReasonConflict,
				fmt.Sprintf("can not delete the volume %s which is currently attached to VM: %s/%s", claim.Name, vm.Namespace, vm.Name))
		}
	}
	return nil
}

func has(vm *kubevirtv1.VirtualMachine, claim string) bool {
	if vm.Spec.Template == nil {
		return false
	}
	for _, v := range vm.Spec.Template.Spec.Volumes {
		if v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim {
			return true
		}
	}
	return false
}
