// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/internal/step"
)

// identifyNodes reads the nodes of the tenant, and gives those a provider ID that no other controller
// gives one: without it Cluster API does not know which node a machine is.
func identifyNodes(ctx context.Context, s *session) (*step.Obstacle, error) {
	nodes, err := s.remote.Nodes(ctx)
	if err != nil {
		return polled("WaitingForKubernetes", "the nodes of the tenant cannot be read%s", step.Because(err)), nil
	}
	s.nodes, s.seen = nodes, true
	if s.cloudController() {
		return nil, nil // it sets them
	}
	for i := range nodes {
		if err := s.identify(ctx, &nodes[i]); err != nil {
			return polled("WaitingForKubernetes", "node %s cannot get its provider ID: %s", nodes[i].Name, step.Stable(err)), nil
		}
	}
	return nil, nil
}

func (s *session) identify(ctx context.Context, n *corev1.Node) error {
	m := s.machineOf(n)
	if n.Spec.ProviderID != "" || m == nil || text(m, "spec", "providerID") == "" {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"providerID": text(m, "spec", "providerID")}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	if _, err := s.remote.CoreV1().Nodes().Patch(ctx, n.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: Owner}); err != nil {
		return fmt.Errorf("set the provider ID of node %s: %w", n.Name, err)
	}
	return nil
}

// machineOf is the machine of a node: the one machine with one of its addresses.
func (s *session) machineOf(n *corev1.Node) (found *unstructured.Unstructured) {
	for i := range s.machines {
		m := &s.machines[i]
		for _, a := range n.Status.Addresses {
			if a.Type != corev1.NodeInternalIP || a.Address != addressOf(m) {
				continue
			}
			if found != nil && found != m {
				return nil // two claim it: neither is certain
			}
			found = m
		}
	}
	return found
}
