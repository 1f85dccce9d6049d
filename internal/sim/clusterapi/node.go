// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// markNode sets the provider ID of a node through the tenant's kubeconfig, as the providers
// for KubeVirt and Harvester do. It returns false while the node is not there.
func (s *scope) markNode(ctx context.Context, name, providerID string) (done bool, err error) {
	secret := s.cluster.GetName() + "-kubeconfig"
	data, err := s.secret(ctx, s.cluster.GetNamespace(), secret)
	if err != nil {
		return false, err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(data["value"])
	if err != nil {
		return false, fmt.Errorf("kubeconfig in Secret %s: %w", secret, err)
	}
	tenant, err := kubernetes.NewForConfig(config)
	if err != nil {
		return false, err
	}
	node, err := tenant.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil || node.Spec.ProviderID != "" {
		return err == nil, err
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"providerID": providerID}})
	if err != nil {
		return false, err
	}
	_, err = tenant.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err == nil, err
}
