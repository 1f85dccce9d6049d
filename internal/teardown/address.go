// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/inventory"
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
// on the plane refers to them, or an IPAllocation that is not the cluster's has addresses of
// them. Addresses that rest do so without their pool.
func (x *destruction) removePools() error {
	n := x.config.Spec.Network
	if n == nil {
		return nil
	}
	var configs v1alpha1.ProviderConfigList
	var allocations v1alpha1.IPAllocationList
	for _, list := range []client.ObjectList{&configs, &allocations} {
		if err := x.Local.List(x.Context(), list, client.InNamespace(x.config.Namespace)); err != nil {
			return err
		}
	}
	for _, ref := range n.PoolRefs {
		if refersTo(configs.Items, ref.Name) {
			continue
		}
		if user := x.otherUser(allocations.Items, ref.Name); user != "" {
			x.progress.Step(fmt.Sprintf("NetworkPool %s/%s is kept: IPAllocation %s still has addresses of it", x.config.Namespace, ref.Name, user))
			continue
		}
		if err := x.removePool(ref.Name); err != nil {
			return err
		}
	}
	return nil
}

// otherUser is an IPAllocation of a pool that is not the cluster's, if there is one.
func (x *destruction) otherUser(all []v1alpha1.IPAllocation, pool string) string {
	for i := range all {
		if a := &all[i]; a.Spec.PoolRef.Name == pool && !x.isOurs(a) {
			return a.Name
		}
	}
	return ""
}

// removePool deletes a NetworkPool and waits until it does not exist: a cluster that is
// created after that may have one of the same name.
func (x *destruction) removePool(name string) error {
	pool := &v1alpha1.NetworkPool{}
	pool.Namespace, pool.Name = x.config.Namespace, name
	if err := x.Local.Delete(x.Context(), pool); err != nil {
		return client.IgnoreNotFound(err)
	}
	return awaitGone(x.Operation, pool, &v1alpha1.NetworkPoolList{}, x.progress)
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
