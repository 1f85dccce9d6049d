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
	"sync"
	"syscall"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/workspace"
	"github.com/butlerdotdev/butler/provider"
)

const (
	// probePatience is how long addresses have to answer: all ports are tried side by
	// side.
	probePatience = time.Second
	// nowhere is an address for documentation (RFC 5737): where it answers, something
	// on the way answers for every address.
	nowhere = "198.51.100.1"
	// poolProbes is how many addresses of the load balancer pool are tried: the first
	// ones are the first to be handed out.
	poolProbes = 4
)

// probePorts are where something usually listens: Kubernetes, Talos, the web, SSH.
func probePorts() []string { return []string{"6443", "50000", "443", "80", "22"} }

// checkAddresses asks whether the addresses that a new cluster will announce are in use, as
// far as this machine can see: through the operation's own network, and only where
// the cluster's machines announce addresses by themselves. The virtual IP is refused
// if something answers there; for the pool, which may be shared, that is a warning.
func (o *Operation) checkAddresses(s v1alpha1.ClusterBootstrapSpec) (out []provider.Finding) {
	if !s.Provider.OnPrem() {
		return nil
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
	const hint = "choose addresses that are free, or remove what has them"
	answers := probe(ctx, dial, append(slices.Clone(addresses), nowhere))
	proxied := slices.ContainsFunc(answers, func(a answer) bool { return a.host == nowhere && a.err == nil })
	for _, a := range answers {
		switch {
		case a.host == nowhere:
		case a.err == nil && proxied:
			return provider.Finding{Check: check, Verdict: provider.Unknown, Message: "a proxy or a firewall on the way from this machine answers for every address"}
		case a.err == nil:
			return provider.Finding{Check: check, Verdict: answered, Message: fmt.Sprintf("%s is in use: something answers on port %s", a.host, a.port), Hint: hint}
		case errors.Is(a.err, syscall.ECONNREFUSED):
			f = provider.Finding{Check: check, Verdict: provider.Unknown, Message: fmt.Sprintf("%s may be in use: a connection to port %s was refused, not ignored", a.host, a.port), Hint: hint}
		}
	}
	return f
}

// answer is what became of a connection attempt.
type answer struct {
	host, port string
	err        error
}

// probe tries to connect to each of the addresses.
func probe(ctx context.Context, dial workspace.Dialer, addresses []string) []answer {
	var out []answer
	for _, host := range addresses {
		for _, port := range probePorts() {
			out = append(out, answer{host: host, port: port})
		}
	}
	var group sync.WaitGroup
	for i := range out {
		group.Go(func() {
			conn, err := DialWithin(ctx, probePatience, dial, "tcp", net.JoinHostPort(out[i].host, out[i].port))
			if out[i].err = err; err == nil {
				_ = conn.Close()
			}
		})
	}
	group.Wait()
	return out
}

// DialWithin dials, and gives up after d.
func DialWithin(ctx context.Context, d time.Duration, dial workspace.Dialer, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return dial(ctx, network, addr)
}
