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

// checkAddresses asks whether the addresses that a new cluster will announce are in use, as
// far as this machine can see: through the operation's own network, and only where
// the cluster's machines announce addresses by themselves. The virtual IP is refused
// if something answers there; for the pool, which may be shared, that is a warning.
func (o *Operation) checkAddresses(m *manifest.Manifest) (out []provider.Finding) {
	s := Effective(m)
	if !s.Provider.OnPrem() {
		return nil
	}
	if all := o.machineAddresses(m); len(all) > 0 {
		out = append(out, addressCheck(o.ctx, o.Dial(), "addresses of machines, "+all[0]+" and "+strconv.Itoa(len(all)-1)+" more", all, provider.Refused))
	}
	if s.Network.VIP != "" {
		out = append(out, addressCheck(o.ctx, o.Dial(), "virtual IP "+s.Network.VIP, []string{s.Network.VIP}, provider.Refused))
	}
	if p := s.Network.LoadBalancerPool; p != nil {
		first := firstOf(p, poolProbes)
		out = append(out, addressCheck(o.ctx, o.Dial(), fmt.Sprintf("load balancer pool %s-%s", p.Start, p.End), first, provider.Unknown))
	}
	return out
}

// machineAddresses are those that the machines of a manifest would get of NetworkPools.
func (o *Operation) machineAddresses(m *manifest.Manifest) (out []string) {
	cb, err := prospect(m)
	if err != nil {
		return nil
	}
	for _, a := range cb.Status.Allocations {
		if bootstrap.IsMachine(cb, a) {
			out = append(out, a.StartAddress)
		}
	}
	return out
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

// addressCheck is the finding for addresses of which none should answer. Silence
// passes: there is no way to know more from here. An address that refuses
// connections is doubtful, because a firewall may speak for it.
func addressCheck(ctx context.Context, dial workspace.Dialer, check string, addresses []string, answered provider.Verdict) provider.Finding {
	f := provider.Finding{Check: check, Verdict: provider.Passed, Message: "nothing answers there, as far as this machine can see"}
	const hint = "remove what has them; or choose others in spec.network, or add those that a NetworkPool allocates to its spec.reserved"
	answers := bootstrap.Knock(ctx, talos.Dialer(dial), append(slices.Clone(addresses), nowhere))
	proxied := slices.ContainsFunc(answers, func(a bootstrap.Answer) bool { return a.Host == nowhere && a.Err == nil })
	for _, a := range answers {
		switch {
		case a.Host == nowhere:
		case a.Err == nil && proxied:
			return provider.Finding{Check: check, Verdict: provider.Unknown, Message: "a proxy or a firewall on the way from this machine answers for every address"}
		case a.Err == nil:
			return provider.Finding{Check: check, Verdict: answered, Message: fmt.Sprintf("%s is in use: something answers on port %s", a.Host, a.Port), Hint: hint}
		case errors.Is(a.Err, syscall.ECONNREFUSED):
			f = provider.Finding{Check: check, Verdict: provider.Unknown, Message: fmt.Sprintf("%s may be in use: a connection to port %s was refused, not ignored", a.Host, a.Port), Hint: hint}
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
