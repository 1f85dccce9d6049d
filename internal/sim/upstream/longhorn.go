// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const longhornDriverName = "driver.longhorn.io"

// longhornLabels labels the manager's own pod: the Services of the chart select it by what it
// serves, and it serves all of it here.
func longhornLabels(ctx context.Context, p program) ([]*unstructured.Unstructured, error) {
	pod := p.pod.DeepCopy()
	before := pod.DeepCopy()
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	for _, part := range []string{"conversion-webhook", "admission-webhook", "recovery-backend"} {
		pod.Labels["longhorn.io/"+part] = "longhorn-" + part
	}
	return nil, p.Patch(ctx, pod, client.MergeFrom(before))
}

// longhornWebhooks are those of Longhorn's manager, behind the Service of the chart.
func longhornWebhooks(_ context.Context, p program) ([]*unstructured.Unstructured, error) {
	configuration := func(kind, name, hook, path string) *unstructured.Unstructured {
		return object("admissionregistration.k8s.io/v1", kind, "", name, map[string]any{"webhooks": []any{map[string]any{
			"name": hook, "sideEffects": "None", "failurePolicy": "Fail", "admissionReviewVersions": []any{"v1"},
			"clientConfig": map[string]any{"service": map[string]any{
				"namespace": p.pod.Namespace, "name": "longhorn-admission-webhook", "port": int64(9502), "path": path,
			}},
			"rules": []any{map[string]any{
				"apiGroups": []any{"longhorn.io"}, "apiVersions": []any{"v1beta2"}, "operations": []any{"CREATE", "UPDATE"},
				"resources": []any{"nodes", "settings", "volumes"}, "scope": "Namespaced",
			}},
		}}})
	}
	return []*unstructured.Unstructured{
		configuration("ValidatingWebhookConfiguration", "longhorn-webhook-validator", "validator.longhorn.io", "/v1/webhook/validation"),
		configuration("MutatingWebhookConfiguration", "longhorn-webhook-mutator", "mutator.longhorn.io", "/v1/webhook/mutation"),
	}, nil
}

// longhornClass is the StorageClass that a ConfigMap of the chart has as a text.
func longhornClass(ctx context.Context, p program) ([]*unstructured.Unstructured, error) {
	m := &corev1.ConfigMap{}
	if err := p.Get(ctx, client.ObjectKey{Namespace: p.pod.Namespace, Name: "longhorn-storageclass"}, m); err != nil {
		return nil, err
	}
	class := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(m.Data["storageclass.yaml"]), &class.Object); err != nil {
		return nil, fmt.Errorf("the StorageClass of Longhorn: %w", err)
	}
	return []*unstructured.Unstructured{class}, nil
}

// longhornDriver are the CSI driver and the workloads that serve it, as the environment of the
// deployer says.
func longhornDriver(_ context.Context, p program) ([]*unstructured.Unstructured, error) {
	out := []*unstructured.Unstructured{object("storage.k8s.io/v1", "CSIDriver", "", longhornDriverName, map[string]any{
		"spec": map[string]any{"attachRequired": true, "podInfoOnMount": true},
	})}
	for name, variable := range map[string]string{
		"csi-attacher": "CSI_ATTACHER", "csi-provisioner": "CSI_PROVISIONER", "csi-resizer": "CSI_RESIZER", "csi-snapshotter": "CSI_SNAPSHOTTER",
	} {
		replicas, err := strconv.ParseInt(p.env(variable+"_REPLICA_COUNT", "3"), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%s_REPLICA_COUNT of Longhorn: %w", variable, err)
		}
		d := p.workload("Deployment", name, p.env(variable+"_IMAGE", "longhornio/"+name))
		if err := unstructured.SetNestedField(d.Object, replicas, "spec", "replicas"); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return append(out, p.workload("DaemonSet", "longhorn-csi-plugin", p.container.Image)), nil
}

// workload has one container under the account of the program's own pod.
func (p program) workload(kind, name, image string) *unstructured.Unstructured {
	labels := map[string]any{"app": name}
	return object("apps/v1", kind, p.pod.Namespace, name, map[string]any{"spec": map[string]any{
		"selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec": map[string]any{
				"serviceAccountName": p.pod.Spec.ServiceAccountName,
				"containers":         []any{map[string]any{"name": name, "image": image}},
			},
		},
	}})
}
