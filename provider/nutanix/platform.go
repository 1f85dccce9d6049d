// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"slices"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

const (
	// briefly is how long images, subnets and containers are kept: as long as the machines
	// of one cluster are requested.
	briefly = 5 * time.Second
	// gatherFor is how long deletions wait for each other: many at once share a listing,
	// each one that began after it asked.
	gatherFor = 200 * time.Millisecond
	// mostKeys is how many calls share a listing.
	mostKeys = 1000
)

// platform is a connection to one Prism Central.
type platform struct {
	prism
	spec   v1alpha1.NutanixSpec
	config string
	// pooled is the network whose addresses come from NetworkPools; nil without pools.
	pooled *v1alpha1.ProviderNetworkSpec

	// everything is the listing of all VMs, shared by the calls that wait for it.
	everything *cloud.Batch[[]vm]

	pictures   *cloud.Recent[image]
	networks   *cloud.Recent[subnet]
	containers *cloud.Recent[[]container]
	projects   *cloud.Recent[project]
}

func newPlatform(api prism, spec v1alpha1.NutanixSpec, config string) *platform {
	p := &platform{prism: api, spec: spec, config: config}
	p.everything = cloud.NewBatch(mostKeys, func(ctx context.Context, _ []string) ([]vm, error) { return p.listVMs(ctx, "") }).Apart(gatherFor)
	p.pictures, p.networks = cloud.NewRecent[image](briefly), cloud.NewRecent[subnet](briefly)
	p.containers, p.projects = cloud.NewRecent[[]container](briefly), cloud.NewRecent[project](briefly)
	return p
}

// release gives the connections up.
func (p *platform) release() { p.http.CloseIdleConnections() }

// identify identifies Prism Central by its own UUID among the clusters, and the cluster of
// the machines, as far as they may be read.
func (p *platform) identify(ctx context.Context) (provider.Identity, error) {
	all, err := p.listClusters(ctx)
	if err != nil {
		return "", err
	}
	return p.identityOf(all), nil
}

func (p *platform) identifyAgain(ctx context.Context) (provider.Identity, error) {
	identity, err := p.identify(ctx)
	return identity, apiError("identify the Prism Central of "+p.config, err)
}

func (p *platform) identityOf(all []cluster) provider.Identity {
	var marks []provider.Mark
	if i := slices.IndexFunc(all, func(c cluster) bool { return c.central }); i >= 0 {
		marks = append(marks, provider.Mark{Name: "prism-central", Value: all[i].uuid})
	}
	if slices.ContainsFunc(all, p.placed) {
		marks = append(marks, provider.Mark{Name: "cluster", Value: p.spec.ClusterUUID})
	}
	return provider.NewIdentity(marks...)
}

// placed reports whether a cluster is that of the machines.
func (p *platform) placed(c cluster) bool { return c.uuid == p.spec.ClusterUUID && !c.central }
