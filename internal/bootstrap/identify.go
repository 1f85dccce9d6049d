// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// uninitialized is the taint of a node that its cloud controller manager has not looked
// at yet.
const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"

// identifyNodes gives nodes their provider IDs as soon as they register: the cloud
// controller manager finds their machines by them. It blocks no step; awaitNodes repeats
// it, and reports why it fails.
func identifyNodes(ctx context.Context, s *Session) (*Obstacle, error) {
	if s.Spec.Provider.OnPrem() {
		return nil, nil
	}
	if nodes, err := s.kubernetes.cluster.nodes(ctx); err == nil {
		_ = s.setProviderIDs(ctx, s.kubernetes.cluster.CoreV1().Nodes(), nodes)
	}
	return nil, nil
}

// setProviderIDs sets those of nodes whose kubelets have registered without one. Once
// set, Kubernetes does not let it change.
func (s *Session) setProviderIDs(ctx context.Context, api corev1client.NodeInterface, nodes []corev1.Node) error {
	for i := range nodes {
		id := s.nodeProviderID(nodes[i].Name)
		if nodes[i].Spec.ProviderID != "" || id == "" {
			continue
		}
		patch, err := json.Marshal(map[string]any{"spec": map[string]any{"providerID": id}})
		if err != nil {
			return err
		}
		if _, err := api.Patch(ctx, nodes[i].Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldOwner}); err != nil {
			return fmt.Errorf("set the provider ID of node %s: %w", nodes[i].Name, err)
		}
		nodes[i].Spec.ProviderID = id
	}
	return nil
}

func (s *Session) nodeProviderID(name string) string {
	if i := s.indexOf(name); i >= 0 {
		return s.machines.nodeProviderIDs[i]
	}
	return ""
}

// waitsForCloud returns what a node that is tainted as uninitialized waits for.
func waitsForCloud(n corev1.Node) string {
	for _, taint := range n.Spec.Taints {
		switch {
		case taint.Key != uninitialized:
		case n.Spec.ProviderID == "":
			return "has no provider ID yet: its machine has not reported one"
		default:
			return "waits for the cloud controller manager, which has not looked at it yet"
		}
	}
	return ""
}
