// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// reservedAddresses are those of a range that no machine gets.
const reservedAddresses = 4

// subnetwork looks at the subnetwork: whether it exists, has room, and has a way out.
func (p preflight) subnetwork(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	if p.spec.Subnetwork == "" && p.spec.Network == "" {
		return p.candidates(ctx)
	}
	subnet, err := p.subnet(ctx)
	if err != nil {
		f, err := check.Verdict("subnetwork "+p.spec.Subnetwork, within("", err))
		return []provider.Finding{f}, err
	}
	f := cloud.Room(subnet.GetName(), subnet.GetIpCidrRange(), capacity(subnet), len(specs), "extend its range, or set another one in spec.gcp.subnetwork")
	f.Message = strings.Replace(f.Message, "addresses are free", "addresses in all", 1)
	if f.Verdict != provider.Passed {
		return []provider.Finding{f}, nil
	}
	way, err := p.way(ctx, subnet)
	if provider.KindOf(apiError("", err)) == provider.Unavailable && err != nil {
		return nil, err
	}
	return []provider.Finding{cloud.Egress{
		Way: way, Public: p.spec.PublicIP, Unread: err != nil, Grant: "grant compute.routers.list and compute.routes.list",
		AddNAT: "add a Cloud NAT, or mirror registries inside the network", SetPublic: "add a Cloud NAT for the subnetwork, or set spec.gcp.publicIP",
	}.Add(f)}, nil
}

// capacity is how many addresses a subnetwork has for machines and others.
func capacity(s *computepb.Subnetwork) int {
	for _, r := range rangesOf(s) {
		return 1<<min(32-r.Bits(), 30) - reservedAddresses
	}
	return 0
}

// candidates names the subnetworks that could be meant.
func (p preflight) candidates(ctx context.Context) ([]provider.Finding, error) {
	all, err := p.subnetsOf(ctx, "")
	if err != nil {
		f, err := check.Verdict("subnetwork", within("", err))
		return []provider.Finding{f}, err
	}
	var names []string
	for _, s := range all {
		names = append(names, fmt.Sprintf("%s (network %s, %s)", s.GetName(), lastOf(s.GetNetwork()), s.GetIpCidrRange()))
	}
	return []provider.Finding{cloud.NotSet("subnetwork", "spec.gcp.subnetwork", names)}, nil
}

// way is how machines of the subnetwork reach the internet: by Cloud NAT, or with a public
// address by the gateway of the network.
func (p preflight) way(ctx context.Context, subnet *computepb.Subnetwork) (cloud.Way, error) {
	ctx, end := p.bind(ctx)
	defer end()
	gateways, err := p.gateways(ctx, subnet)
	if err != nil || len(gateways) > 0 {
		return cloud.WayNAT, err
	}
	way := cloud.WayNone
	for r, err := range p.routes.List(ctx, &computepb.ListRoutesRequest{Project: p.hostProject()}).All() {
		if err != nil {
			return way, err
		}
		if r.GetDestRange() != "0.0.0.0/0" || lastOf(r.GetNetwork()) != lastOf(subnet.GetNetwork()) || !appliesTo(r.GetTags(), p.spec.Tags) {
			continue
		}
		if r.GetNextHopGateway() == "" {
			return cloud.WayOther, nil
		}
		way = cloud.WayInternet
	}
	return way, nil
}

// appliesTo reports whether something for the given tags is for a machine with these.
func appliesTo(tags, machine []string) bool {
	return len(tags) == 0 || slices.ContainsFunc(tags, func(t string) bool { return slices.Contains(machine, t) })
}

// firewall compares the rules of the network with the ports of a cluster, and with the
// health checks of the load balancer, each missing one is named.
func (p preflight) firewall(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	subnet, err := p.subnet(ctx)
	if err != nil || len(specs) == 0 {
		return nil, cloud.Unreported(within("", err))
	}
	about := "firewall rules of network " + lastOf(subnet.GetNetwork())
	rules, err := p.rulesFor(ctx, lastOf(subnet.GetNetwork()))
	if err != nil {
		f, err := check.Verdict(about, within("", err))
		f.Hint = "grant compute.firewalls.list in project " + p.hostProject()
		return []provider.Finding{f}, err
	}
	found := p.missing(about, rules, subnet, probes())
	if len(found) > 0 && len(p.missing(about, rules, subnet, internalProbes())) == 0 {
		found = []provider.Finding{{Check: about, Verdict: provider.Unknown, Message: "they let in the health checks of internal load balancers only", Hint: "set network.loadBalancer.scheme to internal, or allow " + strings.Join(probes(), ", ")}}
	}
	if len(found) == 0 {
		found = append(found, provider.Finding{Check: about, Verdict: provider.Passed})
	}
	return found, nil
}

// missing are the findings about rules that health checks from these ranges need, and the
// machines.
func (p preflight) missing(about string, rules []cloud.Rule, subnet *computepb.Subnetwork, from []string) []provider.Finding {
	return cloud.Firewall{
		Rules: rules, Machines: cloud.Source{Name: "the machines", Ranges: rangesOf(subnet), Groups: p.identities()},
		Balancer: []cloud.Source{{Name: "health checks (" + strings.Join(from, ", ") + ")", Ranges: prefixes(from)}},
		Hint:     "add an ingress rule for " + p.targets(),
	}.Missing(about)
}

func (p preflight) targets() string {
	if len(p.spec.Tags) > 0 {
		return "the network tag " + p.spec.Tags[0]
	}
	return "the machines"
}

// identities are what rules can name in place of addresses of the machines.
func (p preflight) identities() (all []string) {
	for _, t := range p.spec.Tags {
		all = append(all, "tag "+t)
	}
	if p.spec.ServiceAccount != "" {
		all = append(all, "account "+p.spec.ServiceAccount)
	}
	return all
}

// probes are the ranges that health checks of external passthrough load balancers come from.
func probes() []string { return []string{"35.191.0.0/16", "209.85.152.0/22", "209.85.204.0/22"} }

// internalProbes are those of internal ones.
func internalProbes() []string { return []string{"35.191.0.0/16", "130.211.0.0/22"} }

func prefixes(texts []string) (all []netip.Prefix) {
	for _, t := range texts {
		if r, err := netip.ParsePrefix(t); err == nil {
			all = append(all, r)
		}
	}
	return all
}

// rulesFor lists the ingress rules of a network that apply to the machines.
func (p preflight) rulesFor(ctx context.Context, network string) (all []cloud.Rule, err error) {
	ctx, end := p.bind(ctx)
	defer end()
	for f, err := range p.firewalls.List(ctx, &computepb.ListFirewallsRequest{Project: p.hostProject()}).All() {
		if err != nil {
			return nil, err
		}
		if lastOf(f.GetNetwork()) != network || f.GetDisabled() || f.GetDirection() == computepb.Firewall_EGRESS.String() || len(f.GetDestinationRanges()) > 0 {
			continue
		}
		if appliesTo(f.GetTargetTags(), p.spec.Tags) && appliesTo(f.GetTargetServiceAccounts(), []string{p.spec.ServiceAccount}) {
			all = append(all, rulesOf(f)...)
		}
	}
	return all, nil
}

// rulesOf reads a firewall rule, which has several protocols and ranges of ports.
func rulesOf(f *computepb.Firewall) (all []cloud.Rule) {
	base := cloud.Rule{Priority: f.GetPriority(), Ranges: prefixes(f.GetSourceRanges())}
	for _, t := range f.GetSourceTags() {
		base.Groups = append(base.Groups, "tag "+t)
	}
	for _, a := range f.GetSourceServiceAccounts() {
		base.Groups = append(base.Groups, "account "+a)
	}
	for _, a := range f.GetAllowed() {
		all = append(all, portsOf(base, a.GetIPProtocol(), a.GetPorts())...)
	}
	base.Deny = true
	for _, d := range f.GetDenied() {
		all = append(all, portsOf(base, d.GetIPProtocol(), d.GetPorts())...)
	}
	return all
}

// portsOf returns a rule for each range of ports; without any it is for all ports.
func portsOf(base cloud.Rule, protocol string, ports []string) (all []cloud.Rule) {
	if protocol == "all" {
		return []cloud.Rule{base}
	}
	base.Protocol = map[string]string{"6": "tcp", "17": "udp"}[protocol]
	if base.Protocol == "" {
		base.Protocol = strings.ToLower(protocol)
	}
	if len(ports) == 0 {
		ports = []string{"0-65535"}
	}
	for _, text := range ports {
		from, to, ranged := strings.Cut(text, "-")
		if !ranged {
			to = from
		}
		first, err := strconv.ParseInt(from, 10, 32)
		last, lastErr := strconv.ParseInt(to, 10, 32)
		if err == nil && lastErr == nil {
			base.From, base.To = int32(first), int32(last)
			all = append(all, base)
		}
	}
	return all
}
