// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"net/netip"
	"slices"
)

// groupsOf are the security groups that packets to an interface pass: those of its subnet
// and its own.
func (s *state) groupsOf(n *nic, ip part[ipProperties]) (out []*nsg) {
	subnet := s.subnet(ip.Properties.Subnet.id())
	if subnet != nil {
		if _, g := find[nsg](s, subnet.Properties.NetworkSecurityGroup.id()); g != nil {
			out = append(out, g)
		}
	}
	if _, g := find[nsg](s, n.Properties.NetworkSecurityGroup.id()); g != nil {
		out = append(out, g)
	}
	return out
}

// inbound are the rules of a group for a TCP port, in their order.
func (g *nsgProperties) inbound(port int) (out []securityRule) {
	for _, r := range slices.Concat(g.SecurityRules, g.DefaultSecurityRules) {
		p := r.Properties
		covers := slices.ContainsFunc(p.ports(), func(text string) bool {
			from, to, ok := portRange(text)
			return ok && from <= port && port <= to
		})
		if covers && p.Direction == "Inbound" && (p.Protocol == anywhere || p.Protocol == "Tcp") {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b securityRule) int { return a.Priority - b.Priority })
	return out
}

// reaches reports whether a rule is about packets to an address.
func (r *securityRule) reaches(to netip.Addr, network []netip.Prefix) bool {
	return slices.ContainsFunc(r.destinations(), func(text string) bool {
		switch text {
		case anywhere:
			return true
		case networkTag:
			return contains(network, to)
		case internetTag:
			return !contains(network, to)
		}
		return slices.ContainsFunc(parsed(text), func(p netip.Prefix) bool { return p.Contains(to) })
	})
}

func contains(all []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(all, func(p netip.Prefix) bool { return p.Contains(a) })
}

func parsed(text string) []netip.Prefix {
	if p, err := netip.ParsePrefix(text); err == nil {
		return []netip.Prefix{p}
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return []netip.Prefix{netip.PrefixFrom(a, a.BitLen())}
	}
	return nil
}

// probed reports whether the groups of an interface let the probes of load balancers in.
func (a *Azure) probed(n *nic, ip part[ipProperties], port int) bool {
	to, _ := netip.ParseAddr(ip.Properties.PrivateIPAddress)
	for _, g := range a.st.groupsOf(n, ip) {
		for _, r := range g.Properties.inbound(port) {
			if !r.reaches(to, a.st.space(ip)) || !slices.ContainsFunc(r.sources(), func(s string) bool { return s == anywhere || s == probeTag }) {
				continue
			}
			if r.Access == "Deny" {
				return false
			}
			break
		}
	}
	return true
}

// space are the prefixes of the network that an interface is in.
func (s *state) space(ip part[ipProperties]) []netip.Prefix {
	id, _ := parseID(ip.Properties.Subnet.id())
	if !id.named() || len(id.types) < 2 {
		return nil
	}
	_, n := find[vnet](s, id.parent().String())
	if n == nil {
		return nil
	}
	out, _ := prefixes(n.Properties.AddressSpace.AddressPrefixes) // was checked
	return out
}

// admitted are the prefixes whose packets the groups of all members let in to the port of a
// rule; nil: all. Packets keep the client's address, and with floating IP that of the
// frontend. A rule that denies a part of what another one allows is not simulated: the
// wider one counts.
func (a *Azure) admitted(f *part[frontendProperties], rule part[ruleProperties]) []netip.Prefix {
	var out []netip.Prefix
	limited := false
	for _, pool := range rule.Properties.pools() {
		for _, m := range a.st.members(pool.ID) {
			to, _ := netip.ParseAddr(m.ip.Properties.PrivateIPAddress)
			if rule.Properties.EnableFloatingIP {
				to = a.addressOf(f)
			}
			for _, g := range a.st.groupsOf(m.nic, m.ip) {
				allowed := g.Properties.allows(rule.Properties.BackendPort, to, a.st.space(m.ip))
				if !limited {
					limited, out = true, allowed
					continue
				}
				out = narrower(out, allowed)
			}
		}
	}
	if !limited || slices.Contains(out, netip.MustParsePrefix("0.0.0.0/0")) {
		return nil
	}
	return append([]netip.Prefix{}, out...)
}

// addressOf is the address of a frontend.
func (a *Azure) addressOf(f *part[frontendProperties]) netip.Addr {
	text := f.Properties.PrivateIPAddress
	if _, ip := find[publicAddress](a.st, f.Properties.PublicIPAddress.id()); ip != nil {
		text = ip.Properties.IPAddress
	}
	address, _ := netip.ParseAddr(text)
	return address
}

// allows are the sources that a group lets in to a port of an address.
func (g *nsgProperties) allows(port int, to netip.Addr, network []netip.Prefix) (out []netip.Prefix) {
	for _, r := range g.inbound(port) {
		if !r.reaches(to, network) {
			continue
		}
		for _, source := range r.sources() {
			switch {
			case source == anywhere && r.Access == "Deny":
				return out
			case r.Access == "Deny":
			case source == anywhere || source == internetTag:
				out = append(out, netip.MustParsePrefix("0.0.0.0/0"))
			case source == networkTag:
				out = append(out, network...)
			default:
				out = append(out, parsed(source)...)
			}
		}
	}
	return out
}

// narrower are the prefixes that are in both lists.
func narrower(a, b []netip.Prefix) (out []netip.Prefix) {
	for _, p := range a {
		for _, q := range b {
			switch {
			case p.Bits() >= q.Bits() && q.Contains(p.Addr()):
				out = append(out, p)
			case p.Contains(q.Addr()):
				out = append(out, q)
			}
		}
	}
	slices.SortFunc(out, func(p, q netip.Prefix) int { return p.Addr().Compare(q.Addr())*64 + p.Bits() - q.Bits() })
	return slices.Compact(out)
}
