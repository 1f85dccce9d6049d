// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

func prepareFirewall(c *call, r *resource) error {
	o := r.Object
	if !o.has("network") {
		o["network"] = c.link("global/networks/default")
	}
	network, err := c.reference(o, "network", "resource.network", "networks", "global")
	if err != nil {
		return err
	}
	if err := c.allow("compute.networks.updatePolicy", network.Path); err != nil {
		return err
	}
	o.fill(object{"direction": "INGRESS", "priority": 1000.0, "disabled": false, "logConfig": object{"enable": false}})
	if err := checkFirewall(o); err != nil {
		return err
	}
	if o.str("direction") == "INGRESS" && !o.has("sourceRanges") && !o.has("sourceTags") && !o.has("sourceServiceAccounts") {
		o["sourceRanges"] = []any{"0.0.0.0/0"}
	}
	return c.checkQuota("", "FIREWALLS", 1)
}

func checkFirewall(o object) error {
	allowed, denied := o.subs("allowed"), o.subs("denied")
	if len(allowed) > 0 == (len(denied) > 0) {
		return invalid("resource.allowed", "", "Exactly one of allowed and denied must be specified.")
	}
	for _, one := range append(allowed, denied...) {
		if one.str("IPProtocol") == "" {
			return required("resource.allowed[0].IPProtocol")
		}
		for _, ports := range one.strs("ports") {
			if _, _, ok := portRange(ports); !ok {
				return invalid("resource.allowed[0].ports[0]", ports, "Ports may only be specified as an integer or a range between 0 and 65535.")
			}
		}
	}
	for _, cidr := range append(o.strs("sourceRanges"), o.strs("destinationRanges")...) {
		if prefix, err := netip.ParsePrefix(cidr); err != nil || prefix.Masked() != prefix {
			return invalid("resource.sourceRanges[0]", cidr, "Must be a CIDR range.")
		}
	}
	if p := o.num("priority"); p < 0 || p > 65535 {
		return invalid("resource.priority", strconv.Itoa(p), "Must be between 0 and 65535.")
	}
	return nil
}

func checkFirewallChange(c *call, r *resource) error {
	changed := r.Object.copied()
	merge(changed, c.body)
	return checkFirewall(changed)
}

func patchFirewall(g *GCP, r *resource, body object) error {
	merge(r.Object, body)
	return g.firewallChanged(r)
}

// firewallChanged brings all load balancers in line with the rules.
func (g *GCP) firewallChanged(*resource) error { return g.applyAll() }

// portRange is the range of ports in a text such as 80 or 80-90.
func portRange(text string) (from, to int, ok bool) {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	from, fromErr := strconv.Atoi(first)
	to, toErr := strconv.Atoi(last)
	return from, to, fromErr == nil && toErr == nil && from >= 0 && from <= to && to <= 65535
}

// rulesFor are the rules for what reaches an instance at a TCP port with a destination, its
// own address or that of a load balancer, in the order in which they count.
func (g *GCP) rulesFor(i *resource, port int, to string) (out []*resource) {
	network := i.Object.subs("networkInterfaces")[0].str("network")
	for _, r := range g.st.all("firewalls") {
		o := r.Object
		if o.str("network") == network && o.str("direction") == "INGRESS" && !o.bool("disabled") && aims(o, i) && coversTCP(o, port) && isFor(o, to) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b *resource) int {
		order := cmp.Compare(a.Object.num("priority"), b.Object.num("priority"))
		if order == 0 && a.Object.has("denied") {
			order = -1
		}
		return order
	})
	return out
}

// isFor reports whether a rule is for packets with a destination.
func isFor(rule object, to string) bool {
	ranges := rule.strs("destinationRanges")
	address, err := netip.ParseAddr(to)
	return len(ranges) == 0 || err == nil && slices.ContainsFunc(ranges, func(cidr string) bool {
		prefix, err := netip.ParsePrefix(cidr)
		return err == nil && prefix.Contains(address)
	})
}

// aims reports whether a rule is for an instance: for all, or by tag or service account.
func aims(rule object, i *resource) bool {
	tags, accounts := rule.strs("targetTags"), rule.strs("targetServiceAccounts")
	if len(tags) == 0 && len(accounts) == 0 {
		return true
	}
	for _, tag := range i.Object.sub("tags").strs("items") {
		if slices.Contains(tags, tag) {
			return true
		}
	}
	for _, account := range i.Object.subs("serviceAccounts") {
		if slices.Contains(accounts, account.str("email")) {
			return true
		}
	}
	return false
}

func coversTCP(rule object, port int) bool {
	return slices.ContainsFunc(append(rule.subs("allowed"), rule.subs("denied")...), func(one object) bool {
		if protocol := strings.ToLower(one.str("IPProtocol")); protocol != "tcp" && protocol != "all" && protocol != "6" {
			return false
		}
		ports := one.strs("ports")
		return len(ports) == 0 || slices.ContainsFunc(ports, func(text string) bool {
			from, to, ok := portRange(text)
			return ok && from <= port && port <= to
		})
	})
}

// admits reports whether everything from a prefix reaches an instance at a port.
func (g *GCP) admits(i *resource, port int, to string, from netip.Prefix) bool {
	for _, r := range g.rulesFor(i, port, to) {
		for _, cidr := range r.Object.strs("sourceRanges") {
			prefix, err := netip.ParsePrefix(cidr)
			if err == nil && prefix.Bits() <= from.Bits() && prefix.Contains(from.Addr()) {
				return r.Object.has("allowed")
			}
		}
	}
	return false
}

// admitted are the prefixes whose packets reach an instance at a port.
func (g *GCP) admitted(i *resource, port int, to string) []netip.Prefix {
	out := []netip.Prefix{}
	for _, r := range g.rulesFor(i, port, to) {
		for _, cidr := range r.Object.strs("sourceRanges") {
			if prefix, err := netip.ParsePrefix(cidr); err == nil && g.admits(i, port, to, prefix) {
				out = append(out, prefix)
			}
		}
		out = append(out, g.taggedSources(r.Object)...)
	}
	return out
}

// taggedSources are the addresses of the instances that a rule names by their tags.
func (g *GCP) taggedSources(rule object) (out []netip.Prefix) {
	if !rule.has("allowed") {
		return nil
	}
	tags := rule.strs("sourceTags")
	for _, i := range g.st.all("instances") {
		if !slices.ContainsFunc(i.Object.sub("tags").strs("items"), func(tag string) bool { return slices.Contains(tags, tag) }) {
			continue
		}
		if address, err := netip.ParseAddr(i.Object.subs("networkInterfaces")[0].str("networkIP")); err == nil {
			out = append(out, netip.PrefixFrom(address, address.BitLen()))
		}
	}
	return out
}
