// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

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

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
	"github.com/butlerdotdev/butler/internal/talos"
)

const (
	// knockPatience is how long an address has to answer: all ports are tried side by side.
	knockPatience = time.Second
	// nowhere is an address for documentation (RFC 5737): where it answers, something on the
	// way answers for every address.
	nowhere = "198.51.100.1"
	// maxKnocks is how many addresses of one allocation are tried: the first ones of a range
	// are the first to be used.
	maxKnocks = 16

	reasonAddressInUse = "AddressInUse"
)

// knockPorts are where something usually listens: Kubernetes, Talos, the web, SSH.
func knockPorts() []string { return []string{"6443", "50000", "443", "80", "22"} }

// checkUnused asks whether another host has an address that was just allocated, or the VIP
// that the spec names: a machine would be in conflict with it. Addresses that answer nothing
// pass.
func (s *Session) checkUnused(ctx context.Context, demands []demand, all []*v1alpha1.IPAllocation) (*Obstacle, error) {
	fresh := slices.DeleteFunc(slices.Clone(all), func(a *v1alpha1.IPAllocation) bool {
		_, known := allocationOf(s.Status, a.Name)
		return known
	})
	if len(fresh) == 0 {
		return nil, nil
	}
	if requests, err := s.own(ctx, &v1alpha1.MachineRequestList{}); err != nil || len(requests) > 0 {
		return nil, err // they answer themselves
	}
	if o, err := s.giveBack(ctx, demands, fresh); o != nil || err != nil {
		return o, err
	}
	addresses, says := conflicts(s.Spec.Network.VIP, demands, fresh)
	for _, used := range inUse(ctx, s.Dial, addresses) {
		return &Obstacle{Reason: reasonAddressInUse, Message: says[used], Poll: true, Urgent: true}, nil
	}
	return nil, nil
}

// conflicts are the addresses that are tried, and what to do about another host there. The
// VIP of the spec is one of them also if no pool hands it out.
func conflicts(vip string, demands []demand, fresh []*v1alpha1.IPAllocation) (addresses []string, says map[string]string) {
	const chosen = "%s, which the spec names, is in use by another host; remove that host, or choose another address in spec.network"
	says = map[string]string{}
	for _, a := range fresh {
		for _, address := range a.Status.Addresses[:min(len(a.Status.Addresses), maxKnocks)] {
			addresses = append(addresses, address)
			says[address] = fmt.Sprintf(chosen, address)
			if chosenFor(demands, a.Name) == nil {
				says[address] = fmt.Sprintf("%s, which NetworkPool %s has allocated to %s, is in use by another host; remove that host, or add %s to spec.reserved of the pool: then another address is allocated", address, a.Spec.PoolRef.Name, a.Name, AsCIDR(address))
			}
		}
	}
	if a, err := netip.ParseAddr(vip); err == nil && says[a.String()] == "" {
		addresses, says[a.String()] = append(addresses, a.String()), fmt.Sprintf(chosen, a)
	}
	return addresses, says
}

// AsCIDR is an address as spec.reserved of a NetworkPool has it, such as 10.40.0.36/32.
func AsCIDR(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	return netip.PrefixFrom(a, a.BitLen()).String()
}

// giveBack deletes allocations that nothing uses yet, and whose addresses the spec or their
// pool does not allow any more. They are created again.
func (s *Session) giveBack(ctx context.Context, demands []demand, fresh []*v1alpha1.IPAllocation) (*Obstacle, error) {
	pools, err := s.pools(ctx)
	if err != nil {
		return nil, err
	}
	all, err := pools.candidates()
	if o, ok := poolObstacle(err); ok {
		return o, nil
	}
	for _, a := range fresh {
		why := outdated(a, demands, all)
		if why == "" {
			continue
		}
		if err := s.Client.Delete(ctx, a, client.Preconditions{UID: &a.UID}); client.IgnoreNotFound(err) != nil {
			return nil, err
		}
		return &Obstacle{Reason: reasonAddresses, Message: fmt.Sprintf("IPAllocation %s %s; it is created again", a.Name, why), Poll: true}, nil
	}
	return nil, nil
}

// outdated is why an allocation is not what a cluster would ask for now; empty if it is. What
// the spec names is kept also where the pool reserves it.
func outdated(a *v1alpha1.IPAllocation, demands []demand, all []named) string {
	has, err := ipam.NewRange(a.Status.StartAddress, a.Status.EndAddress)
	switch chosen := chosenFor(demands, a.Name); {
	case chosen != nil && err == nil && has == *chosen:
		return ""
	case chosen != nil || a.Spec.PinnedRange != nil:
		return "has other addresses than the spec names"
	}
	i := slices.IndexFunc(all, func(c named) bool { return c.Name == a.Spec.PoolRef.Name })
	if err == nil && i >= 0 && all[i].pool.Allowed(has) == has.Size() {
		return ""
	}
	return fmt.Sprintf("has addresses that NetworkPool %s no longer allows", a.Spec.PoolRef.Name)
}

// chosenFor are the addresses that the spec names for an allocation, if it does.
func chosenFor(demands []demand, name string) *ipam.Range {
	i := slices.IndexFunc(demands, func(d demand) bool { return d.name == name })
	if i < 0 {
		return nil
	}
	return demands[i].pinned
}

// inUse are the addresses that a host has: it accepts a connection, or refuses one while not
// everything does, as a firewall on the way might.
func inUse(ctx context.Context, dial talos.Dialer, addresses []string) (out []string) {
	answers := Knock(ctx, dial, append(slices.Clone(addresses), nowhere))
	proxied := slices.ContainsFunc(answers, func(a Answer) bool { return a.Host == nowhere && a.Err == nil })
	silent := slices.ContainsFunc(addresses, func(host string) bool {
		return !slices.ContainsFunc(answers, func(a Answer) bool { return a.Host == host && errors.Is(a.Err, syscall.ECONNREFUSED) })
	})
	for _, a := range answers {
		taken := a.Err == nil && !proxied || silent && errors.Is(a.Err, syscall.ECONNREFUSED)
		if taken && a.Host != nowhere && !slices.Contains(out, a.Host) {
			out = append(out, a.Host)
		}
	}
	return out
}

// Answer is what became of a connection attempt.
type Answer struct {
	Host, Port string
	Err        error
}

// Knock tries to connect to each of the addresses, where something usually listens.
func Knock(ctx context.Context, dial talos.Dialer, addresses []string) []Answer {
	var out []Answer
	for _, host := range addresses {
		for _, port := range knockPorts() {
			out = append(out, Answer{Host: host, Port: port})
		}
	}
	ctx, cancel := context.WithTimeout(ctx, knockPatience)
	defer cancel()
	var group sync.WaitGroup
	for i := range out {
		group.Go(func() {
			conn, err := dial(ctx, "tcp", net.JoinHostPort(out[i].Host, out[i].Port))
			if out[i].Err = err; err == nil {
				_ = conn.Close()
			}
		})
	}
	group.Wait()
	return out
}
