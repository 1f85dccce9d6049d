// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
)

// subnet returns the subnetwork of the machines: that of the settings, else the only one
// that the network has in the region.
func (p *platform) subnet(ctx context.Context) (*computepb.Subnetwork, error) {
	return p.networks.Get(ctx, "", p.readSubnet)
}

func (p *platform) readSubnet(ctx context.Context) (*computepb.Subnetwork, error) {
	if p.spec.Subnetwork == "" {
		return p.onlySubnet(ctx)
	}
	project, name := p.hostProject(), lastOf(p.spec.Subnetwork)
	region := partOf("/"+p.spec.Subnetwork, "regions")
	if region != "" && region != p.spec.Region {
		return nil, noNetwork(fmt.Errorf("subnetwork %s is not in region %s", p.spec.Subnetwork, p.spec.Region))
	}
	found, err := p.subnets.Get(ctx, &computepb.GetSubnetworkRequest{Project: project, Region: p.spec.Region, Subnetwork: name})
	switch {
	case gone(err):
		return nil, noNetwork(fmt.Errorf("project %s has no subnetwork %q in %s", project, name, p.spec.Region))
	case err != nil:
		return nil, err
	case p.spec.Network != "" && lastOf(p.spec.Network) != lastOf(found.GetNetwork()):
		return nil, noNetwork(fmt.Errorf("subnetwork %s is in network %s, not in %s", name, lastOf(found.GetNetwork()), p.spec.Network))
	}
	return found, nil
}

func noNetwork(err error) error {
	return provider.Invalid.New("", provider.ReasonNetworkNotFound, err, "correct spec.gcp.subnetwork or spec.gcp.network")
}

// onlySubnet returns the only subnetwork of the network in the region.
func (p *platform) onlySubnet(ctx context.Context) (*computepb.Subnetwork, error) {
	if p.spec.Network == "" {
		return nil, provider.Invalid.New("", provider.ReasonNetworkNotFound, errors.New("spec.gcp.subnetwork and spec.gcp.network are empty"), "set one: machines are never created in a default network; the preflight lists candidates")
	}
	all, err := p.subnetsOf(ctx, lastOf(p.spec.Network))
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, noNetwork(fmt.Errorf("network %s has %d subnetworks in %s, not one", p.spec.Network, len(all), p.spec.Region))
	}
	return all[0], nil
}

// subnetsOf lists the subnetworks of a network in the region; without one, all.
func (p *platform) subnetsOf(ctx context.Context, network string) (all []*computepb.Subnetwork, err error) {
	ctx, end := p.bind(ctx)
	defer end()
	for s, err := range p.subnets.List(ctx, &computepb.ListSubnetworksRequest{Project: p.hostProject(), Region: p.spec.Region}).All() {
		if err != nil {
			return nil, err
		}
		if (network == "" || lastOf(s.GetNetwork()) == network) && !strings.Contains(s.GetPurpose(), "PROXY") {
			all = append(all, s)
		}
	}
	return all, nil
}

// hostProject is the project of the network, which is another one in a shared VPC.
func (p *platform) hostProject() string {
	return cmp.Or(partOf("/"+p.spec.Subnetwork, "projects"), partOf("/"+p.spec.Network, "projects"), p.spec.ProjectID)
}

// rangesOf are the addresses of the machines of a subnetwork.
func rangesOf(s *computepb.Subnetwork) (all []netip.Prefix) {
	if r, err := netip.ParsePrefix(s.GetIpCidrRange()); err == nil {
		all = append(all, r)
	}
	return all
}

// hasIPv6 reports whether machines of the subnetwork get an internal IPv6 address.
func hasIPv6(s *computepb.Subnetwork) bool {
	return s.GetStackType() == computepb.Subnetwork_IPV4_IPV6.String() && s.GetIpv6AccessType() == computepb.Subnetwork_INTERNAL.String()
}
