// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"errors"
	"iter"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/tag"
)

// Kinds of parts of a load balancer.
const (
	partRule     = "forwarding rule"
	partService  = "backend service"
	partCheck    = "health check"
	partGroup    = "instance group"
	partFirewall = "firewall rule"
)

// List reports every load balancer of the owner, also those of which only some parts are
// left. Descriptions cannot be selected by: all parts of the region are listed.
func (b balancers) List(ctx context.Context, owner provider.Owner) ([]provider.LoadBalancer, error) {
	op := "list load balancers on " + b.config
	if err := provider.CheckOwner(op, owner); err != nil {
		return nil, err
	}
	objects, err := b.objects(ctx, owner)
	if err != nil {
		return nil, within(op, err)
	}
	found, err := cloud.ListBalancers(owner, objects, func(ref provider.LoadBalancerRef) (provider.LoadBalancer, error) { return b.read(ctx, ref) })
	return found, within(op, err)
}

// described is a part of a load balancer as listings have it.
type described interface {
	GetName() string
	GetDescription() string
}

// objects lists the parts of load balancers of an owner.
func (b balancers) objects(ctx context.Context, owner provider.Owner) (all []provider.Object[string], err error) {
	ctx, end := b.bind(ctx)
	defer end()
	add := func(kind string, one described) {
		set := tag.GCP().ReadText(one.GetDescription())
		if set.OwnerID != "" && provider.OwnerOf(set).Matches(provider.Owner{ID: owner.ID, ClusterID: owner.ClusterID}) {
			all = append(all, provider.Object[string]{Part: provider.Part{Kind: kind, Name: one.GetName()}, Tags: set, Of: one.GetName()})
		}
	}
	project, region := b.spec.ProjectID, b.spec.Region
	if err := errors.Join(
		collect(b.rules.List(ctx, &computepb.ListForwardingRulesRequest{Project: project, Region: region}).All(), partRule, add),
		collect(b.services.List(ctx, &computepb.ListRegionBackendServicesRequest{Project: project, Region: region}).All(), partService, add),
		collect(b.checks.List(ctx, &computepb.ListRegionHealthChecksRequest{Project: project, Region: region}).All(), partCheck, add),
		collect(b.addresses.List(ctx, &computepb.ListAddressesRequest{Project: project, Region: region}).All(), provider.PartAddress, add),
		collect(b.firewalls.List(ctx, &computepb.ListFirewallsRequest{Project: b.hostProject()}).All(), partFirewall, add),
	); err != nil {
		return nil, err
	}
	groups, err := b.listGroups(ctx, nil)
	for _, g := range groups {
		add(partGroup, named{g, g.GetName() + " in " + lastOf(g.GetZone())})
	}
	return all, err
}

// collect adds all of a listing.
func collect[T described](list iter.Seq2[T, error], kind string, add func(string, described)) error {
	for one, err := range list {
		if err != nil {
			return err
		}
		add(kind, one)
	}
	return nil
}

// named is a part whose name alone does not say where it is.
type named struct {
	described
	name string
}

// GetName returns the name with the place.
func (n named) GetName() string { return n.name }
