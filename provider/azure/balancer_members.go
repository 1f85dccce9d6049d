// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/provider"
)

// ensureMembers brings the pool in line with the targets of the spec. Membership is a
// property of a machine's interface.
func (b balancers) ensureMembers(ctx context.Context, s provider.LoadBalancerSpec, found *balancer) error {
	has, want := found.members(), []string{}
	for _, t := range s.Targets {
		nic, err := b.interfaceOf(ctx, t)
		if err != nil {
			return err
		}
		if want = append(want, strings.ToLower(nic)); !slices.Contains(has, strings.ToLower(nic)) {
			if err := b.join(ctx, s.Name, nic, true); err != nil {
				return err
			}
		}
	}
	for _, nic := range has {
		if slices.Contains(want, nic) {
			continue
		}
		if err := b.join(ctx, s.Name, nic, false); err != nil {
			return err
		}
	}
	return nil
}

// interfaceOf returns the id of the interface of a target.
func (b balancers) interfaceOf(ctx context.Context, t provider.Target) (string, error) {
	vm, err := b.vms.Get(ctx, b.spec.ResourceGroup, last(t.ID), nil)
	if gone(err) {
		return "", provider.Invalid.New("", provider.ReasonNotFound, fmt.Errorf("target %s is not a machine of the resource group", t.Name), "remove it from the targets")
	}
	if err != nil {
		return "", err
	}
	id := nicOf(vm.VirtualMachine)
	if id == "" || tagsOf(vm.Tags).OwnerID == "" {
		return "", provider.Invalid.New("", provider.ReasonNotFound, fmt.Errorf("target %s was not created by Butler, or has no interface", t.Name), "remove it from the targets")
	}
	return id, nil
}

// dropMembers removes all members, as far as their interfaces exist.
func (b balancers) dropMembers(ctx context.Context, found *balancer) error {
	if found.lb == nil || deletingBalancer(*found.lb) {
		return nil
	}
	for _, nic := range found.members() {
		if err := b.join(ctx, found.Ref.Name, nic, false); err != nil {
			return err
		}
	}
	return nil
}

// join puts an interface into the pool of a load balancer, or takes it out. Another change
// of the interface at the same time is not overwritten.
func (b balancers) join(ctx context.Context, balancer, nic string, in bool) error {
	group, name := split(nic)
	found, err := b.nics.Get(ctx, group, name, nil)
	if gone(err) && !in {
		return nil
	}
	if err != nil || found.Properties == nil {
		return err
	}
	if tagsOf(found.Tags).OwnerID == "" || deleting(found.Properties) {
		return nil // a member that the driver did not create is left alone
	}
	pool := b.resource(kindLB, balancerName(balancer)) + "/backendAddressPools/" + poolName
	changed := false
	for i, c := range found.Properties.IPConfigurations {
		if i > 0 || c.Properties == nil {
			continue
		}
		var was bool
		c.Properties.LoadBalancerBackendAddressPools, was = membership(c.Properties.LoadBalancerBackendAddressPools, pool, in)
		changed = changed || was
	}
	if !changed {
		return nil
	}
	_, err = b.nics.BeginCreateOrUpdate(unchanged(ctx, found.Etag), group, name, found.Interface, nil)
	return err
}

// membership adds a pool to those of an interface, or removes it.
func membership(all []*armnetwork.BackendAddressPool, pool string, in bool) (out []*armnetwork.BackendAddressPool, changed bool) {
	same := func(p *armnetwork.BackendAddressPool) bool { return strings.EqualFold(value(p.ID), pool) }
	switch has := slices.ContainsFunc(all, same); {
	case has == in:
		return all, false
	case in:
		return append(all, &armnetwork.BackendAddressPool{ID: &pool}), true
	}
	return slices.DeleteFunc(all, same), true
}
