// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/talos"
	"github.com/butlerdotdev/butler/internal/workspace"
	"github.com/butlerdotdev/butler/provider"
)

const (
	// nowhere is an address for documentation (RFC 5737): where it answers, something
	// on the way answers for every address.
	nowhere = "198.51.100.1"
	// poolProbes is how many addresses of the load balancer pool are tried: the first
	// ones are the first to be handed out.
	poolProbes = 4
)

// probe is a check of addresses of which none should answer.
type probe struct {
	check     string
	addresses []string
	answered  provider.Verdict
	remedy    func(address string) string
}

// checkAddresses asks whether the addresses that a new cluster will announce are in use, as
// far as this machine can see: through the operation's own network, and only where
// the cluster's machines announce addresses by themselves. The virtual IP is refused
// if something answers there; for the pool, which may be shared, that is a warning.
func (o *Operation) checkAddresses(m *manifest.Manifest) (out []provider.Finding) {
	if !m.Cluster.Spec.Provider.OnPrem() {
		return nil
	}
	for _, p := range probesOf(m) {
		out = append(out, p.ask(o.ctx, o.Dial()))
	}
	return out
}

// probesOf are the checks of the addresses of a cluster.
func probesOf(m *manifest.Manifest) (out []probe) {
	s := Effective(m)
	if all, remedy := machineAddresses(m); len(all) > 0 {
		out = append(out, probe{"addresses of machines, " + all[0] + " and " + strconv.Itoa(len(all)-1) + " more", all, provider.Refused, remedy})
	}
	if s.Network.VIP != "" {
		out = append(out, probe{"virtual IP " + s.Network.VIP, []string{s.Network.VIP}, provider.Refused, remedyOf(m, "vip", m.Cluster.Spec.Network.VIP != "")})
	}
	if p := s.Network.LoadBalancerPool; p != nil {
		out = append(out, probe{
			fmt.Sprintf("load balancer pool %s-%s", p.Start, p.End), firstOf(p, poolProbes), provider.Unknown,
			remedyOf(m, "loadBalancerPool", m.Cluster.Spec.Network.LoadBalancerPool != nil),
		})
	}
	return out
}

// machineAddresses are those that the machines of a manifest would get of NetworkPools, and
// what to do about one that is in use.
func machineAddresses(m *manifest.Manifest) (out []string, remedy func(string) string) {
	cb, err := prospect(m)
	if err != nil {
		return nil, nil
	}
	for _, a := range cb.Status.Allocations {
		if bootstrap.IsMachine(cb, a) {
			out = append(out, a.StartAddress)
		}
	}
	return out, remedyOf(m, "", false)
}

// remedyOf is what to do about an address that another host has: of a field of spec.network
// of the cluster that names it, or else of a NetworkPool.
func remedyOf(m *manifest.Manifest, field string, named bool) func(address string) string {
	return func(address string) string {
		const first = "remove the host that has it, or "
		switch {
		case !named:
			return first + "add " + bootstrap.AsCIDR(address) + " to spec.reserved of the NetworkPool: then another address is allocated"
		case m.Provider.Spec.Network.IPAM():
			return first + "choose another address in spec.network." + field + ", or leave that out: then it comes from a NetworkPool"
		}
		return first + "choose another address in spec.network." + field
	}
}

// firstOf are the first addresses of a range.
func firstOf(r *v1alpha1.AddressRange, count int) (out []string) {
	from, err1 := netip.ParseAddr(r.Start)
	to, err2 := netip.ParseAddr(r.End)
	if err1 != nil || err2 != nil {
		return nil
	}
	for a := from; a.IsValid() && a.Compare(to) <= 0 && len(out) < count; a = a.Next() {
		out = append(out, a.String())
	}
	return out
}

// ask is the finding for addresses of which none should answer. Silence
// passes: there is no way to know more from here. An address that refuses
// connections is doubtful, because a firewall may speak for it.
func (p probe) ask(ctx context.Context, dial workspace.Dialer) provider.Finding {
	f := provider.Finding{Check: p.check, Verdict: provider.Passed, Message: "nothing answers there, as far as this machine can see"}
	answers := bootstrap.Knock(ctx, talos.Dialer(dial), append(slices.Clone(p.addresses), nowhere))
	proxied := slices.ContainsFunc(answers, func(a bootstrap.Answer) bool { return a.Host == nowhere && a.Err == nil })
	for _, a := range answers {
		switch {
		case a.Host == nowhere:
		case a.Err == nil && proxied:
			return provider.Finding{Check: p.check, Verdict: provider.Unknown, Message: "a proxy or a firewall on the way from this machine answers for every address"}
		case a.Err == nil:
			return provider.Finding{Check: p.check, Verdict: p.answered, Message: fmt.Sprintf("%s is in use: something answers on port %s", a.Host, a.Port), Hint: p.remedy(a.Host)}
		case errors.Is(a.Err, syscall.ECONNREFUSED):
			f = provider.Finding{Check: p.check, Verdict: provider.Unknown, Message: fmt.Sprintf("%s may be in use: a connection to port %s was refused instead of timing out", a.Host, a.Port), Hint: p.remedy(a.Host)}
		}
	}
	return f
}

// DialWithin dials, and gives up after d.
func DialWithin(ctx context.Context, d time.Duration, dial workspace.Dialer, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return dial(ctx, network, addr)
}
