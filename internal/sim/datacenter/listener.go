// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/butlerdotdev/butler/internal/sim/network"
)

// Listener passes connections to a port on to the healthy targets of a pool.
type Listener struct {
	Port uint16
	Pool string // ID
	// Allowed are the prefixes whose connections are accepted; what others send is lost.
	// Nil: all are. Machines appear outside of their network as Subnet.Egress says.
	Allowed []netip.Prefix
}

// listen brings the network in line with the listeners of a load balancer; those that stay
// are not interrupted. It is called with lb held.
func (d *Datacenter) listen(b LoadBalancer) error {
	want := b.endpoints()
	for at, stop := range d.stops[b.ID] {
		if _, stays := want[at]; !stays {
			stop()
			delete(d.stops[b.ID], at)
		}
	}
	for at, port := range want {
		if d.stops[b.ID][at] != nil {
			continue
		}
		stop, err := d.options.Network.AddBalancer(at, d.balancer(b, port))
		if err != nil {
			d.unlisten(b.ID)
			return err
		}
		if d.stops[b.ID] == nil {
			d.stops[b.ID] = map[string]func(){}
		}
		d.stops[b.ID][at] = stop
	}
	return nil
}

func (d *Datacenter) unlisten(id string) {
	for _, stop := range d.stops[id] {
		stop()
	}
	delete(d.stops, id)
}

// endpoints are what a load balancer answers at, each with the port of its listener.
func (b LoadBalancer) endpoints() map[string]uint16 {
	out := map[string]uint16{}
	for _, host := range b.hosts() {
		for _, l := range b.Listeners {
			out[net.JoinHostPort(host, strconv.Itoa(int(l.Port)))] = l.Port
		}
	}
	return out
}

// hosts are what a load balancer answers at. Passthrough is to an address only.
func (b LoadBalancer) hosts() (out []string) {
	if b.Name != "" && !b.Passthrough {
		out = append(out, b.Name)
	}
	if b.Address.IsValid() {
		out = append(out, b.Address.String())
	}
	return out
}

// balancer is a listener as the network has it: it follows all changes but that of its port.
func (d *Datacenter) balancer(b LoadBalancer, port uint16) network.Balancer {
	return network.Balancer{
		Targets:     func() []netip.AddrPort { return d.usable(b.ID, d.listener(b.ID, port).Pool) },
		Passthrough: b.Passthrough, Silent: b.Silent, Internal: b.Internal,
		PreservesClient: func() bool {
			p, _ := d.Pool(d.listener(b.ID, port).Pool)
			return p.PreserveClient
		},
		Admits: func(from network.Source) bool { return d.admits(b.Internal, d.listener(b.ID, port).Allowed, from) },
	}
}

// listener returns the listener of a load balancer at a port; the zero one if there is none.
func (d *Datacenter) listener(balancer string, port uint16) Listener {
	b, _ := d.LoadBalancer(balancer)
	if i := slices.IndexFunc(b.Listeners, func(l Listener) bool { return l.Port == port }); i >= 0 {
		return b.Listeners[i]
	}
	return Listener{}
}

// admits reports whether a listener accepts the connections of a source. The simulator
// itself has no address.
func (d *Datacenter) admits(internal bool, allowed []netip.Prefix, from network.Source) bool {
	address := from.Address
	if allowed == nil || !address.IsValid() {
		return true
	}
	if !from.Outside && !internal {
		address = d.appearance(address)
	}
	return slices.ContainsFunc(allowed, func(p netip.Prefix) bool { return p.Contains(address) })
}

// appearance returns the address that a machine's connections have outside of its network.
func (d *Datacenter) appearance(address netip.Addr) netip.Addr {
	d.mu.Lock()
	defer d.mu.Unlock()
	holder, _ := d.leases.holder(address)
	for _, a := range d.statics.all() {
		if holder != "" && a.Machine == holder {
			return a.IP
		}
	}
	for _, s := range d.leases.subnets {
		if s.Egress.IsValid() && s.Prefix.Contains(address) {
			return s.Egress
		}
	}
	return address
}
