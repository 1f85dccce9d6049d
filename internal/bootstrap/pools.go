// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// Reasons of what keeps addresses from being allocated.
const (
	reasonPoolMissing  = "NetworkPoolMissing"
	reasonPoolInvalid  = "NetworkPoolInvalid"
	reasonPoolOverlap  = "NetworkPoolOverlap"
	reasonPoolTooSmall = "NetworkPoolTooSmall"
	reasonNetwork      = "NetworkInvalid"
	reasonAddresses    = "WaitingForAddresses"
)

// Pools are the NetworkPools that a ProviderConfig names, and what is known of their
// addresses.
type Pools struct {
	Config *v1alpha1.ProviderConfig
	// All are the pools of the namespace, also those that the ProviderConfig does not name.
	All []v1alpha1.NetworkPool
	// Claims are the addresses that are allocated or rest.
	Claims []v1alpha1.AddressClaim
	// Field is the path of the cluster's network in its spec, for messages; empty: spec.network.
	Field string
}

// Block is a number of contiguous addresses that a cluster wants of NetworkPools.
type Block struct {
	// Name of the IPAllocation.
	Name string
	// Count is the number of addresses.
	Count uint64
	// Pinned are the addresses, where the spec names them in Field.
	Pinned *ipam.Range
	Field  string
}

// Assign chooses a pool for each block, as for the addresses of a management cluster, and
// checks the network. Nothing is assigned unless all fit. Pinned addresses that no pool hands
// out are not assigned. Errors are of type *PoolError.
func (p Pools) Assign(network v1alpha1.NetworkSpec, blocks []Block) ([]Assignment, error) {
	all, err := p.candidates()
	if err != nil {
		return nil, err
	}
	if err := p.check(network, all); err != nil {
		return nil, err
	}
	var demands []demand
	for _, b := range blocks {
		demands = append(demands, demand{name: b.Name, count: b.Count, pinned: b.Pinned, field: b.Field})
	}
	return p.assign(demands, all)
}

// PoolError is why a cluster cannot have its addresses from NetworkPools, and what to do.
type PoolError struct{ Reason, Message string }

func (e *PoolError) Error() string { return e.Message }

func poolErrorf(reason, format string, args ...any) error {
	return &PoolError{reason, fmt.Sprintf(format, args...)}
}

// named is a pool that the ProviderConfig names.
type named struct {
	*v1alpha1.NetworkPool
	ipam.Candidate
	pool ipam.Pool
}

// candidates are the pools of the ProviderConfig in the order in which they are tried.
func (p Pools) candidates() (out []named, err error) {
	for _, ref := range p.Config.Spec.Network.PoolRefs {
		i := slices.IndexFunc(p.All, func(o v1alpha1.NetworkPool) bool { return o.Name == ref.Name })
		if i < 0 || !p.All[i].DeletionTimestamp.IsZero() {
			return nil, poolErrorf(reasonPoolMissing, "NetworkPool %s of ProviderConfig %s does not exist; create it, or remove it from spec.network.poolRefs", ref.Name, p.Config.Name)
		}
		pool, err := ipam.Describe(&p.All[i], []v1alpha1.ProviderConfig{*p.Config})
		if err != nil {
			return nil, poolErrorf(reasonPoolInvalid, "NetworkPool %s: %s", ref.Name, err)
		}
		space, err := ipam.SpaceOf(pool, p.Claims)
		if err != nil {
			return nil, poolErrorf(reasonPoolInvalid, "NetworkPool %s: %s", ref.Name, err)
		}
		out = append(out, named{&p.All[i], ipam.Candidate{Name: ref.Name, Priority: ref.Priority, Space: space}, pool})
	}
	slices.SortFunc(out, func(a, b named) int { return ipam.Compare(a.Candidate, b.Candidate) })
	return out, nil
}

// check returns what is wrong with the network of a cluster, before anything is allocated.
func (p Pools) check(spec v1alpha1.NetworkSpec, all []named) error {
	for _, check := range []func(v1alpha1.NetworkSpec, []named) error{p.checkNetwork, p.checkOverlap, p.checkVIP} {
		if err := check(spec, all); err != nil {
			return err
		}
	}
	return nil
}

// checkNetwork refuses pools of several networks: a machine has one gateway, and the VIP
// moves between machines of one network.
func (p Pools) checkNetwork(spec v1alpha1.NetworkSpec, all []named) error {
	n, config := p.Config.Spec.Network, p.Config.Name
	for _, c := range all {
		network := c.pool.Prefix
		switch gateway, err := netip.ParseAddr(n.Gateway); {
		case network != all[0].pool.Prefix:
			return poolErrorf(reasonNetwork, "NetworkPools %s, %s, and %s, %s, are of several networks, and the machines of ProviderConfig %s are in one; give the pools the same spec.cidr, and limit them by spec.tenantAllocation.ranges", all[0].Name, all[0].pool.Prefix, c.Name, network, config)
		case n.Gateway != "" && (err != nil || !network.Contains(gateway)):
			return poolErrorf(reasonNetwork, "spec.network.gateway %s of ProviderConfig %s is not in the network of NetworkPool %s, %s, so that machines would not reach it; correct one of them", n.Gateway, config, c.Name, network)
		case n.Gateway != "" && edge(network, gateway):
			return poolErrorf(reasonNetwork, "spec.network.gateway %s of ProviderConfig %s is the network or broadcast address of %s; correct it", n.Gateway, config, network)
		}
		for _, other := range [][2]string{{"podCIDR", spec.PodCIDR}, {"serviceCIDR", spec.ServiceCIDR}} {
			if cidr, err := netip.ParsePrefix(other[1]); err == nil && cidr.Overlaps(network) {
				return poolErrorf(reasonNetwork, "%s.%s %s overlaps with NetworkPool %s, %s; choose another one", cmp.Or(p.Field, "spec.network"), other[0], cidr, c.Name, network)
			}
		}
	}
	return nil
}

// edge reports whether an address is the first or the last one of a network that has such.
func edge(network netip.Prefix, a netip.Addr) bool {
	all := ipam.Of(network)
	return a.Is4() && network.Bits() < 31 && (a == all.First || a == all.Last)
}

// checkOverlap refuses pools that would hand out the same address.
func (p Pools) checkOverlap(_ v1alpha1.NetworkSpec, all []named) error {
	for _, c := range all {
		for i := range p.All {
			other := &p.All[i]
			if other.Name == c.Name || !other.DeletionTimestamp.IsZero() {
				continue
			}
			if pool, err := ipam.Describe(other, nil); err == nil && pool.Overlaps(c.pool) {
				return poolErrorf(reasonPoolOverlap, "NetworkPools %s, %s, and %s, %s, have addresses in common; delete one of them, or limit them by spec.tenantAllocation.ranges", c.Name, c.Spec.CIDR, other.Name, other.Spec.CIDR)
			}
		}
	}
	return nil
}

// checkVIP refuses a VIP that no machine of the network can answer for.
func (p Pools) checkVIP(spec v1alpha1.NetworkSpec, all []named) error {
	vip, err := netip.ParseAddr(spec.VIP)
	if len(all) == 0 || err != nil { // a name: what it resolves to is not known here
		return nil //nolint:nilerr // as above
	}
	network := all[0].pool.Prefix
	if !network.Contains(vip) || edge(network, vip) {
		return poolErrorf(reasonNetwork, "spec.network.vip %s is not an address of the network of NetworkPool %s, %s, so that no machine can answer for it; choose one there, or leave it out: then it comes from the pool", vip, all[0].Name, network)
	}
	n := p.Config.Spec.Network
	if slices.Contains(slices.Concat([]string{n.Gateway}, n.DNSServers, n.TimeServers), vip.String()) {
		return poolErrorf(reasonNetwork, "spec.network.vip %s is the gateway or a server of ProviderConfig %s; choose another address, or leave it out: then it comes from NetworkPool %s", vip, p.Config.Name, all[0].Name)
	}
	return nil
}

// Assignment is a block of addresses that a cluster gets, as far as nothing else is faster.
type Assignment struct {
	// Name of the IPAllocation.
	Name string
	// Pool that the addresses are of.
	Pool string
	// Network is that of the pool.
	Network netip.Prefix
	// Addresses are those that are free now.
	Addresses ipam.Range
}

// assign chooses a pool for each of the demands, those with the lowest priority first in
// which it fits. What the spec names comes first. Nothing is assigned unless all fit.
func (p Pools) assign(demands []demand, all []named) (out []Assignment, err error) {
	order := slices.Clone(demands)
	slices.SortStableFunc(order, func(a, b demand) int { return rank(a) - rank(b) })
	for _, d := range order {
		a, err := p.place(d, all)
		if err != nil {
			return nil, err
		}
		if a == nil && d.pinned != nil {
			if err := p.elsewhere(d); err != nil {
				return nil, err
			}
			continue // no pool hands it out
		}
		if a == nil {
			return nil, p.tooSmall(demands, all)
		}
		out = append(out, *a)
	}
	return out, nil
}

// rank is in which order demands choose: what is pinned, then large blocks, then single
// addresses, which fit anywhere.
func rank(d demand) int {
	switch {
	case d.pinned != nil:
		return 0
	case d.count > 1:
		return 1
	}
	return 2
}

func (p Pools) place(d demand, all []named) (*Assignment, error) {
	for _, c := range all {
		block, ok := ipam.Range{}, false
		if d.pinned == nil {
			block, ok = c.Space.Find(d.count)
		} else if common := c.pool.Allowed(*d.pinned); common > 0 {
			block, ok = *d.pinned, true
			if common != d.count || d.count > maxPinned || !c.Space.Free(block) {
				return nil, p.unpinnable(d, c, common)
			}
		}
		if !ok {
			continue
		}
		if err := c.Space.Take(block); err != nil {
			return nil, poolErrorf(reasonPoolInvalid, "NetworkPool %s: %s", c.Name, err)
		}
		return &Assignment{d.name, c.Name, c.pool.Prefix, block}, nil
	}
	return nil, nil
}

// maxPinned is how many addresses an IPAllocation has at most.
const maxPinned = 4096

// unpinnable is why addresses that the spec names cannot be kept from others.
func (p Pools) unpinnable(d demand, c named, common uint64) error {
	if common != d.count || d.count > maxPinned {
		return poolErrorf(reasonNetwork, "%s %s is partly in the ranges of NetworkPool %s; add it to spec.reserved of the pool, or leave it out: then it comes from the pool", d.field, d.pinned, c.Name)
	}
	return p.heldError(d, c.Name)
}

// elsewhere refuses addresses that the spec names, that no pool of the ProviderConfig hands
// out, and that another cluster has of its own pool.
func (p Pools) elsewhere(d demand) error {
	for _, c := range p.Claims {
		if a, err := netip.ParseAddr(c.Spec.Address); err == nil && d.pinned.Contains(ipam.Single(a)) {
			return p.heldError(d, c.Spec.PoolRef.Name)
		}
	}
	return nil
}

// heldError is the refusal of addresses that the spec names and others have.
func (p Pools) heldError(d demand, pool string) error {
	is := "is allocated, or rests,"
	if d.count > 1 {
		is = "has addresses that are allocated, or rest,"
	}
	return poolErrorf(reasonNetwork, "%s %s %s in NetworkPool %s%s; choose free addresses, or leave it out: then it comes from a pool", d.field, d.pinned, is, pool, p.holders(*d.pinned))
}

// holders names who has addresses of a range.
func (p Pools) holders(r ipam.Range) string {
	var names []string
	for _, c := range p.Claims {
		name := c.Spec.AllocationRef.Name
		if c.Spec.AllocationRef.Namespace != p.Config.Namespace {
			name = c.Spec.AllocationRef.Namespace + "/" + name
		}
		if a, err := netip.ParseAddr(c.Spec.Address); err == nil && r.Contains(ipam.Single(a)) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	if more := len(names) - 5; more > 0 {
		names = append(names[:5], fmt.Sprintf("and %d more", more))
	}
	return " (IPAllocation " + strings.Join(names, ", ") + ")"
}

// tooSmall is why the demands do not all fit, and what they add up to.
func (p Pools) tooSmall(demands []demand, all []named) error {
	need, block := uint64(0), uint64(1)
	for _, d := range demands {
		if d.pinned == nil {
			need, block = need+d.count, max(block, d.count)
		}
	}
	var sizes []string
	for _, c := range all {
		fresh, err := ipam.SpaceOf(c.pool, p.Claims)
		if err != nil {
			continue
		}
		u := fresh.Usage()
		sizes = append(sizes, fmt.Sprintf("%s has %d of %d free, at most %d in one block", c.Name, u.Free, u.Total, u.LargestFree))
	}
	return poolErrorf(reasonPoolTooSmall, "the cluster needs %d addresses, %d of them in one block, and NetworkPool %s%s; add a range to a pool, or another pool to spec.network.poolRefs of ProviderConfig %s", need, block, strings.Join(sizes, ", "), p.resting(all), p.Config.Name)
}

// resting says how many addresses were released and are free again later.
func (p Pools) resting(all []named) string {
	n := 0
	for _, c := range p.Claims {
		a, err := netip.ParseAddr(c.Spec.Address)
		if err == nil && c.Spec.ReleasedAt != nil && slices.ContainsFunc(all, func(o named) bool { return o.pool.Allows(a) }) {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d were released and rest until spec.reuseAfter of the pool has passed", n)
}
