// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/sim/harvester/admission"
)

// ensurePod creates the pod that holds an instance's volumes: while it is there, the
// claims cannot vanish. It is bound to a node by hand, as no scheduler runs.
func (r *machines) ensurePod(ctx context.Context, vmi *kubevirtv1.VirtualMachineInstance) error {
	pod := launcherPod(vmi)
	err := r.Create(ctx, pod)
	if err != nil {
		return describe("create", pod, ignoreExisting(err))
	}
	before := pod.DeepCopy()
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	return client.IgnoreNotFound(r.Status().Patch(ctx, pod, client.MergeFrom(before)))
}

// deletePod does not wait for a kubelet: there is none.
func (r *machines) deletePod(ctx context.Context, vmi *kubevirtv1.VirtualMachineInstance) error {
	return r.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(vmi.Namespace),
		client.MatchingLabels{kubevirtv1.CreatedByLabel: string(vmi.UID)}, client.GracePeriodSeconds(0))
}

// podLabels are those of the instance, and KubeVirt's own.
func podLabels(vmi *kubevirtv1.VirtualMachineInstance) map[string]string {
	l := map[string]string{}
	maps.Copy(l, vmi.Labels)
	l[kubevirtv1.AppLabel], l[kubevirtv1.CreatedByLabel] = "virt-launcher", string(vmi.UID)
	return l
}

// podName is another one on each host: a drain that asks again for the old one must find
// it gone.
func podName(vmi *kubevirtv1.VirtualMachineInstance) string {
	sum := sha256.Sum256([]byte(string(vmi.UID) + vmi.Status.NodeName))
	return "virt-launcher-" + vmi.Name + "-" + hex.EncodeToString(sum[:])[:5]
}

func launcherPod(vmi *kubevirtv1.VirtualMachineInstance) *corev1.Pod {
	owner := metav1.NewControllerRef(vmi, kubevirtv1.VirtualMachineInstanceGroupVersionKind)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: vmi.Namespace, Name: podName(vmi),
			Labels:          podLabels(vmi),
			OwnerReferences: []metav1.OwnerReference{*owner},
		},
		Spec: corev1.PodSpec{
			NodeName: vmi.Status.NodeName,
			// No kubelet would ever end a pod that the garbage collector deletes.
			TerminationGracePeriodSeconds: new(int64),
			Containers: []corev1.Container{{
				Name: "compute", Image: "registry.suse.com/suse/sles/15.6/virt-launcher", Resources: podResources(vmi.Spec.Domain),
			}},
		},
	}
	for _, v := range vmi.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: v.Name, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &v.PersistentVolumeClaim.PersistentVolumeClaimVolumeSource,
			}})
		}
	}
	return pod
}

// podResources are those of the machine, and the memory that KubeVirt needs itself.
func podResources(domain kubevirtv1.DomainSpec) corev1.ResourceRequirements {
	overhead := *resource.NewQuantity(admission.MemoryOverhead(domain), resource.BinarySI)
	var r corev1.ResourceRequirements
	for from, to := range map[*corev1.ResourceList]*corev1.ResourceList{&domain.Resources.Limits: &r.Limits, &domain.Resources.Requests: &r.Requests} {
		*to = from.DeepCopy()
		if memory, found := (*to)[corev1.ResourceMemory]; found {
			memory.Add(overhead)
			(*to)[corev1.ResourceMemory] = memory
		}
	}
	return r
}
