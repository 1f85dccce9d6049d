// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// ensureFirewall lets the allowed clients reach the ports of the load balancer. Packets
// arrive at the machines with the addresses of client and load balancer, so that the rule
// is limited to that destination. It is in the project of the network.
func (p *pass) ensureFirewall(ctx context.Context) error {
	if p.found.address.GetAddress() == "" {
		return nil
	}
	clients, err := p.clients(ctx)
	if err != nil {
		return err
	}
	want := &computepb.Firewall{
		SourceRanges: clients, DestinationRanges: []string{p.found.address.GetAddress() + "/32"},
		Allowed: []*computepb.Allowed{{IPProtocol: new("tcp"), Ports: p.portTexts()}},
	}
	have := p.found.firewall
	if have != nil && sameFirewall(want, have) {
		return nil
	}
	var o *compute.Operation
	if have == nil {
		want.Name, want.Description, want.Network = new(p.firewallName(p.Name)), &p.text, new(pathOf(p.subnet.GetNetwork()))
		want.Direction = new(computepb.Firewall_INGRESS.String())
		o, err = p.firewalls.Insert(ctx, &computepb.InsertFirewallRequest{Project: p.hostProject(), FirewallResource: want})
	} else {
		o, err = p.firewalls.Patch(ctx, &computepb.PatchFirewallRequest{Project: p.hostProject(), Firewall: have.GetName(), FirewallResource: want})
	}
	return p.note("the clients of the load balancer are being changed", o, err)
}

func (p *pass) portTexts() (all []string) {
	for _, port := range cloud.Ports(p.LoadBalancerSpec) {
		all = append(all, fmt.Sprint(port.Port))
	}
	slices.Sort(all)
	return all
}

func sameFirewall(a, b *computepb.Firewall) bool {
	return sameSet(a.GetSourceRanges(), b.GetSourceRanges()) && sameSet(a.GetDestinationRanges(), b.GetDestinationRanges()) && sameSet(allowedPorts(a), allowedPorts(b))
}

func sameSet(a, b []string) bool {
	add, drop := cloud.Difference(a, b)
	return len(add)+len(drop) == 0
}

func allowedPorts(f *computepb.Firewall) (all []string) {
	for _, a := range f.GetAllowed() {
		for _, port := range a.GetPorts() {
			all = append(all, a.GetIPProtocol()+" "+port)
		}
	}
	return all
}

// clients are the allowed ranges and those that machines have as clients: the subnetwork,
// and the addresses of Cloud NAT, through which they reach a public load balancer.
func (p *pass) clients(ctx context.Context) ([]string, error) {
	if len(p.AllowedCIDRs) == 0 {
		return cloud.Clients(p.LoadBalancerSpec), nil
	}
	if p.spec.PublicIP && !p.internal() {
		return nil, provider.Invalid.New("", provider.ReasonFieldUnsupported, errPublic, "remove allowedCIDRs or spec.gcp.publicIP")
	}
	all, err := ipv4Ranges(append(slices.Clone(p.AllowedCIDRs), p.subnet.GetIpCidrRange()))
	if err != nil || p.internal() {
		return all, err
	}
	nat, err := p.natAddresses(ctx, p.subnet)
	all = append(all, nat...)
	slices.Sort(all)
	return slices.Compact(all), err
}

// ipv4Ranges returns each range once, as Google Cloud shows it. A rule has ranges of one
// family, and the address of the load balancer is IPv4.
func ipv4Ranges(cidrs []string) (all []string, err error) {
	for _, c := range cidrs {
		r, err := netip.ParsePrefix(c)
		if err != nil || !r.Addr().Is4() {
			return nil, provider.Invalid.New("", provider.ReasonFieldUnsupported, fmt.Errorf("allowedCIDRs has %q, and the load balancer has an IPv4 address", c), "remove it")
		}
		all = append(all, r.Masked().String())
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// natAddresses returns the addresses through which machines of a subnetwork reach the
// internet, as ranges.
func (p *platform) natAddresses(ctx context.Context, subnet *computepb.Subnetwork) (all []string, err error) {
	gateways, err := p.gateways(ctx, subnet)
	if err != nil {
		return nil, err
	}
	for _, r := range gateways {
		status, err := p.routers.GetRouterStatus(ctx, &computepb.GetRouterStatusRouterRequest{Project: p.hostProject(), Region: p.spec.Region, Router: r.GetName()})
		if err != nil {
			return nil, err
		}
		for _, n := range status.GetResult().GetNatStatus() {
			for _, a := range slices.Concat(n.GetAutoAllocatedNatIps(), n.GetUserAllocatedNatIps()) {
				all = append(all, a+"/32")
			}
		}
	}
	return all, nil
}

// gateways returns the routers of the region with a Cloud NAT for the subnetwork.
func (p *platform) gateways(ctx context.Context, subnet *computepb.Subnetwork) (all []*computepb.Router, err error) {
	ctx, end := p.bind(ctx)
	defer end()
	for r, err := range p.routers.List(ctx, &computepb.ListRoutersRequest{Project: p.hostProject(), Region: p.spec.Region}).All() {
		if err != nil {
			return nil, err
		}
		if lastOf(r.GetNetwork()) == lastOf(subnet.GetNetwork()) && slices.ContainsFunc(r.GetNats(), func(n *computepb.RouterNat) bool { return serves(n, subnet) }) {
			all = append(all, r)
		}
	}
	return all, nil
}

// serves reports whether a Cloud NAT translates the addresses of a subnetwork.
func serves(n *computepb.RouterNat, subnet *computepb.Subnetwork) bool {
	if n.GetSourceSubnetworkIpRangesToNat() != computepb.RouterNat_LIST_OF_SUBNETWORKS.String() {
		return true
	}
	return slices.ContainsFunc(n.GetSubnetworks(), func(s *computepb.RouterNatSubnetworkToNat) bool {
		return pathOf(s.GetName()) == pathOf(subnet.GetSelfLink())
	})
}
