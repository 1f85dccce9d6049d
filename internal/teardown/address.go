// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/provider"
)

// addressesOf are the addresses that are allocated to a cluster on a plane. Those that were
// released and rest are not.
func addressesOf(ctx context.Context, c client.Reader, id string) (out inventory.Inventory, err error) {
	if id == "" {
		return nil, nil
	}
	var claims v1alpha1.AddressClaimList
	if err := c.List(ctx, &claims); err != nil {
		return nil, err
	}
	for _, a := range claims.Items {
		if a.Annotations[v1alpha1.AnnotationClusterID] == id && a.Spec.ReleasedAt == nil {
			out = append(out, provider.Holding{
				Name: a.Spec.AllocationRef.Name, Owner: provider.Owner{ID: a.Spec.AllocationRef.Name, ClusterID: id},
				Parts: []provider.Part{{Kind: provider.PartAddress, Name: a.Spec.Address}},
			})
		}
	}
	return out, nil
}

// removePools deletes the NetworkPools of the ProviderConfig that is gone, unless another one
// on the plane refers to them. Addresses that rest do so without their pool.
func (x *destruction) removePools() error {
	n := x.config.Spec.Network
	if n == nil {
		return nil
	}
	var configs v1alpha1.ProviderConfigList
	if err := x.Local.List(x.Context(), &configs, client.InNamespace(x.config.Namespace)); err != nil {
		return err
	}
	for _, ref := range n.PoolRefs {
		if refersTo(configs.Items, ref.Name) {
			continue
		}
		pool := &v1alpha1.NetworkPool{}
		pool.Namespace, pool.Name = x.config.Namespace, ref.Name
		err := x.Local.Delete(x.Context(), pool)
		if err == nil {
			err = x.awaitPool(pool)
		}
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// awaitPool waits until a NetworkPool does not exist: a cluster that is created after that may
// have one of the same name.
func (x *destruction) awaitPool(pool *v1alpha1.NetworkPool) error {
	err := x.Watch(client.ObjectKeyFromObject(pool), &v1alpha1.NetworkPoolList{}, func(client.Object) bool { return false })
	if errors.Is(err, operation.ErrDeleted) {
		return nil
	}
	return err
}

func refersTo(configs []v1alpha1.ProviderConfig, pool string) bool {
	for _, c := range configs {
		if c.Spec.Network == nil {
			continue
		}
		for _, ref := range c.Spec.Network.PoolRefs {
			if ref.Name == pool {
				return true
			}
		}
	}
	return false
}
