// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addressclaim

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Fence knows the namespaces whose addresses another plane allocates: those with a
// ClusterBootstrap that has moved away, or that is just arriving. Pools and claims move with it.
type Fence struct {
	Cache client.Reader
	// Live is asked where the cache has no ClusterBootstrap: objects of several kinds come by
	// different watches.
	Live client.Reader
}

// Holds returns whether nothing may be done in a namespace.
func (f Fence) Holds(ctx context.Context, namespace string) (bool, error) {
	for _, from := range []client.Reader{f.Cache, f.Live} {
		all := &metav1.PartialObjectMetadataList{}
		all.SetGroupVersionKind(v1alpha1.GroupVersion().WithKind("ClusterBootstrapList"))
		if err := from.List(ctx, all, client.InNamespace(namespace)); err != nil {
			return false, err
		}
		for i := range all.Items {
			if v1alpha1.Fenced(&all.Items[i]) {
				return true, nil
			}
		}
		if len(all.Items) > 0 {
			break
		}
	}
	return false, nil
}
