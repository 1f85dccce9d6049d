// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"

	"github.com/butlerdotdev/butler/provider"
)

// partSet is the kind of availability sets.
const partSet = "availability set"

// setOwner is the owner of the availability set of a cluster: it belongs to no single
// machine.
func setOwner(o provider.Owner) provider.Owner {
	return provider.Owner{ID: o.ClusterID, ClusterID: o.ClusterID, Cluster: o.Cluster}
}

// createSet creates the availability set of a cluster's control planes unless it is there.
// It keeps them on different hosts where a location has no zones.
func (p *platform) createSet(ctx context.Context, o provider.Owner, location string) error {
	name := setName(o)
	found, err := p.sets.Get(ctx, p.spec.ResourceGroup, name, nil)
	switch {
	case err == nil && tagsOf(found.Tags).ClusterID != o.ClusterID:
		return provider.NameTaken("", "availability set "+name, "name of the cluster")
	case err == nil || !gone(err):
		return err
	}
	_, err = p.sets.CreateOrUpdate(ctx, p.spec.ResourceGroup, name, armcompute.AvailabilitySet{
		Location: &location, Tags: written(ownerTags(setOwner(o), name)), SKU: &armcompute.SKU{Name: new("Aligned")},
		Properties: &armcompute.AvailabilitySetProperties{PlatformFaultDomainCount: new(int32(2)), PlatformUpdateDomainCount: new(int32(5))},
	}, nil)
	return err
}

// dropSet removes the availability set of a machine's cluster once no machine is in it.
func (p *platform) dropSet(ctx context.Context, o provider.Owner) error {
	if o.ClusterID == "" {
		return nil
	}
	all, err := p.emptySets(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if tagsOf(s.Tags).ClusterID != o.ClusterID {
			continue
		}
		if _, err := p.sets.Delete(ctx, p.spec.ResourceGroup, value(s.Name), nil); err != nil && !gone(err) {
			return err
		}
	}
	return nil
}

// emptySets lists the availability sets of the driver in which no machine is.
func (p *platform) emptySets(ctx context.Context) (empty []*armcompute.AvailabilitySet, err error) {
	all, err := drain(ctx, p.sets.NewListPager(p.spec.ResourceGroup, nil), func(r armcompute.AvailabilitySetsClientListResponse) []*armcompute.AvailabilitySet { return r.Value })
	for _, s := range all {
		tags := tagsOf(s.Tags)
		if tags.OwnerID != "" && tags.Machine == value(s.Name) && (s.Properties == nil || len(s.Properties.VirtualMachines) == 0) {
			empty = append(empty, s)
		}
	}
	return empty, err
}
