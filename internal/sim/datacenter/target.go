// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"net/netip"
	"slices"
)

// usable returns where a load balancer passes the next connection on to.
func (d *Datacenter) usable(balancer, pool string) []netip.AddrPort {
	b, known := d.LoadBalancer(balancer)
	if !known || !b.Active {
		return nil
	}
	healthy, others := d.sorted(b, pool)
	if len(healthy) == 0 && b.FailOpen {
		healthy = others
	}
	if b.ZoneBound {
		healthy = d.inNextZone(b.ID, healthy)
	}
	var out []netip.AddrPort
	for _, t := range healthy {
		out = append(out, t.at)
	}
	return out
}

// place is where a target is.
type place struct {
	at   netip.AddrPort
	zone string
}

// sorted returns the targets in the zones of a load balancer, those that are healthy and
// the others.
func (d *Datacenter) sorted(b LoadBalancer, pool string) (healthy, others []place) {
	p, _ := d.Pool(pool)
	health := d.Health(pool)
	for i, t := range p.Targets {
		at, ok := d.locate(t)
		switch {
		case !ok || i >= len(health) || !b.serves(at.zone):
		case health[i] == HealthHealthy:
			healthy = append(healthy, at)
		default:
			others = append(others, at)
		}
	}
	return healthy, others
}

// serves reports whether a load balancer works in a zone. An address that no machine has
// is in all of them.
func (b LoadBalancerSpec) serves(zone string) bool {
	return len(b.Zones) == 0 || zone == "" || slices.Contains(b.Zones, zone)
}

// inNextZone returns the targets of one zone, another one with each connection, as clients
// take the addresses of a load balancer in turn.
func (d *Datacenter) inNextZone(balancer string, all []place) (out []place) {
	var zones []string
	for _, t := range all {
		if t.zone != "" && !slices.Contains(zones, t.zone) {
			zones = append(zones, t.zone)
		}
	}
	if len(zones) == 0 {
		return all
	}
	d.lb.Lock()
	arrival := d.arrivals[balancer]
	d.arrivals[balancer]++
	d.lb.Unlock()
	for _, t := range all {
		if t.zone == zones[arrival%len(zones)] || t.zone == "" {
			out = append(out, t)
		}
	}
	first := arrival / len(zones) % len(out)
	return slices.Concat(out[first:], out[:first])
}

// locate returns where a target is, if it has an address.
func (d *Datacenter) locate(t Target) (place, bool) {
	if t.Machine == "" {
		return place{netip.AddrPortFrom(t.Address, t.Port), d.zoneOf(t.Address)}, t.Address.IsValid()
	}
	m, on := d.Running(t.Machine)
	return place{netip.AddrPortFrom(m.Address.Addr(), t.Port), m.Zone}, on && m.Address.IsValid()
}

// zoneOf returns the zone of the subnet that an address is in.
func (d *Datacenter) zoneOf(address netip.Addr) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.leases.subnets {
		if s.Zone != "" && s.Prefix.Contains(address) {
			return s.Zone
		}
	}
	return ""
}
