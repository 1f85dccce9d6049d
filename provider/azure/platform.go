// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

const (
	// briefly is how long images and subnets are kept: as long as the machines of one
	// cluster are requested.
	briefly = 5 * time.Second
	// fresh is how long the sizes of the location are kept: they change by the month.
	fresh = 5 * time.Minute
	// gatherFor is how long calls wait for each other: many at once are answered together, each
	// by a request that began after it asked.
	gatherFor = 200 * time.Millisecond
	// mostCalls is how many calls share one listing.
	mostCalls = 1000
)

// platform is a connection to one resource group.
type platform struct {
	clients
	spec   v1alpha1.AzureSpec
	config string

	// What many calls ask for at the same time is read with one request.
	callers  *cloud.Batch[provider.Identity]
	listed   *cloud.Batch[map[string]*armcompute.VirtualMachine] // by name in lower case
	remnants *cloud.Batch[[]part]
	where    *cloud.Recent[string]
	sizes    *cloud.Recent[[]size]
	images   *cloud.Recent[image]
	networks *cloud.Recent[armnetwork.Subnet]
	features *cloud.Recent[bool]
	key      func() (string, error)
}

func newPlatform(api clients, spec v1alpha1.AzureSpec, config string) *platform {
	p := &platform{clients: api, spec: spec, config: config, key: sshKey()}
	p.callers = cloud.NewBatch(mostCalls, p.readIdentity).Apart(gatherFor)
	p.listed = cloud.NewBatch(mostCalls, p.listVMs)
	p.remnants = cloud.NewBatch(mostCalls, func(ctx context.Context, _ []string) ([]part, error) { return p.parts(ctx) })
	p.where, p.sizes, p.features = cloud.NewRecent[string](fresh), cloud.NewRecent[[]size](fresh), cloud.NewRecent[bool](fresh)
	p.images, p.networks = cloud.NewRecent[image](briefly), cloud.NewRecent[armnetwork.Subnet](briefly)
	return p
}

// identify identifies the resource group by the tenant of its subscription, which is the
// same whatever the credentials are. Machines that are created at the same time share the call.
func (p *platform) identify(ctx context.Context) (provider.Identity, error) {
	identity, err := p.callers.Do(ctx, "")
	if err != nil {
		return "", apiError("identify the subscription of "+p.config, err)
	}
	return identity, nil
}

func (p *platform) readIdentity(ctx context.Context, _ []string) (provider.Identity, error) {
	s, err := p.subscription(ctx)
	if err != nil {
		return "", err
	}
	return p.identity(s), nil
}

func (p *platform) identity(s subscription) provider.Identity {
	return provider.NewIdentity(provider.Mark{Name: "subscription", Value: strings.ToLower(s.TenantID + "/" + s.SubscriptionID + "/" + p.spec.ResourceGroup)})
}

func (p *platform) subscription(ctx context.Context) (subscription, error) {
	return read[subscription](ctx, p.clients, "/subscriptions/"+p.spec.SubscriptionID, versionSubscriptions)
}

// scope is the path of the resource group.
func (p *platform) scope() string {
	return "/subscriptions/" + p.spec.SubscriptionID + "/resourceGroups/" + p.spec.ResourceGroup
}

// location is that of the settings, else that of the resource group.
func (p *platform) location(ctx context.Context) (string, error) {
	if p.spec.Location != "" {
		return plainLocation(p.spec.Location), nil
	}
	return p.where.Get(ctx, "", func(ctx context.Context) (string, error) {
		g, err := read[group](ctx, p.clients, p.scope(), versionResources)
		return plainLocation(g.Location), err
	})
}

// plainLocation is the name of a location: Azure's tools show "West Europe" for
// westeurope.
func plainLocation(text string) string {
	return strings.ToLower(strings.ReplaceAll(text, " ", ""))
}

// resource returns the id of an object in the resource group.
func (p *platform) resource(kind, name string) string {
	return p.scope() + "/providers/" + kind + "/" + name
}

const (
	kindVM      = "Microsoft.Compute/virtualMachines"
	kindSet     = "Microsoft.Compute/availabilitySets"
	kindNIC     = "Microsoft.Network/networkInterfaces"
	kindAddress = "Microsoft.Network/publicIPAddresses"
	kindGroup   = "Microsoft.Network/networkSecurityGroups"
	kindLB      = "Microsoft.Network/loadBalancers"
	kindNetwork = "Microsoft.Network/virtualNetworks"
)

// value is what a pointer of the SDK points to.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// values are what the pointers of a list point to.
func values[T any](all []*T) (out []T) {
	for _, p := range all {
		out = append(out, value(p))
	}
	return out
}

func pointers[T any](all []T) (out []*T) {
	for _, v := range all {
		out = append(out, new(v))
	}
	return out
}

// last is the name in the id of an object.
func last(id string) string { return id[strings.LastIndex(id, "/")+1:] }

// split returns resource group and name of an id.
func split(id string) (group, name string) {
	words := strings.Split(id, "/")
	if len(words) < 6 {
		return "", last(id)
	}
	return words[4], last(id)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
