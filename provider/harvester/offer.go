// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
)

// offers lists images, networks and storage classes. What may not be read is left out.
func (m *machines) offers(ctx context.Context) (map[string][]provider.Offer, error) {
	out := map[string][]provider.Offer{
		"spec.harvester.imageName":   m.offered(ctx, imageKind(), "spec", "displayName"),
		"spec.harvester.networkName": m.offered(ctx, networkKind()),
	}
	classes := &storagev1.StorageClassList{}
	if err := m.api.List(ctx, classes); err == nil {
		for _, c := range classes.Items {
			out["spec.harvester.storageClassName"] = append(out["spec.harvester.storageClassName"], provider.Offer{Value: c.Name, Note: c.Provisioner})
		}
	}
	return out, nil
}

// offered lists the objects of a kind, with the text of a field as a note: of all namespaces,
// or if that is not allowed of the one of the machines.
func (m *machines) offered(ctx context.Context, kind schema.GroupVersionKind, note ...string) (out []provider.Offer) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := m.api.List(ctx, list)
	if err != nil {
		err = m.api.List(ctx, list, client.InNamespace(m.spec.Namespace))
	}
	if err != nil {
		return nil
	}
	for _, u := range list.Items {
		text, _, _ := unstructured.NestedString(u.Object, note...)
		out = append(out, provider.Offer{Value: u.GetNamespace() + "/" + u.GetName(), Note: text})
	}
	return out
}
