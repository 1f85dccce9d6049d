// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
)

const controlPlaneLabel = "node-role.kubernetes.io/control-plane"

// Mark is what Talos sets on its own node beside the kubelet.
type Mark struct {
	Labels       map[string]string
	ControlPlane bool // gets the role's label
	Unscheduled  bool // a control plane that takes no ordinary pods
}

// Apply sets labels and taints with the rights of config: an administrator's on
// control planes, the kubelet's on workers, where the API server refuses labels
// that a kubelet may not set.
func (m Mark) Apply(ctx context.Context, config *rest.Config, node string) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	labels := maps.Clone(m.Labels)
	if m.ControlPlane {
		if labels == nil {
			labels = map[string]string{}
		}
		labels[controlPlaneLabel] = ""
	}
	if len(labels) > 0 {
		if err := patchLabels(ctx, client, node, labels); err != nil {
			return err
		}
	}
	return m.taint(ctx, client, node)
}

func patchLabels(ctx context.Context, client kubernetes.Interface, node string, labels map[string]string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

func (m Mark) taint(ctx context.Context, client kubernetes.Interface, name string) error {
	if !m.ControlPlane || !m.Unscheduled {
		return nil
	}
	// Others set taints at the same time.
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil || slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == controlPlaneLabel }) {
			return err
		}
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: controlPlaneLabel, Effect: corev1.TaintEffectNoSchedule})
		_, err = client.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
		return err
	})
}
