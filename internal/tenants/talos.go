// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenants

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const (
	controlPlaneGroup   = "controlplane.cluster.x-k8s.io"
	controlPlaneVersion = "v1alpha1"
)

// TalosRefusal returns why the Talos API of a tenant cluster's workers cannot be reached, as its
// control plane says; empty if it can, or if there is no control plane yet.
func TalosRefusal(ctx context.Context, c client.Client, tc *v1alpha1.TenantCluster) string {
	if find(ctx, c, tc, "KamajiControlPlane") != nil {
		return "its control plane is hosted by Kamaji, which issues no certificates for the Talos API"
	}
	steward := find(ctx, c, tc, "StewardControlPlane")
	if steward == nil {
		return ""
	}
	if kind, _, _ := unstructured.NestedString(steward.Object, "spec", "network", "serviceType"); kind == "ClusterIP" {
		return "its control plane is reached by a hostname and has no address of its own, at which certificates for the Talos API are issued; create the cluster with spec.controlPlane.serviceType LoadBalancer"
	}
	return ""
}

// find returns the control plane of a kind; nil if there is none.
func find(ctx context.Context, c client.Client, tc *v1alpha1.TenantCluster, kind string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: controlPlaneGroup, Version: controlPlaneVersion, Kind: kind})
	if tc.Status.TenantNamespace == "" || c.Get(ctx, client.ObjectKey{Namespace: tc.Status.TenantNamespace, Name: tc.Name}, o) != nil {
		return nil
	}
	return o
}
