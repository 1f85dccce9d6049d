// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

func itoa(n int) string { return strconv.Itoa(n) }

func applyBalancer(c *call, r, before *record) error {
	b := r.object.(*balancer)
	wanted := map[string]string{}
	for _, f := range b.Properties.FrontendIPConfigurations {
		if to := f.Properties.PublicIPAddress; to != nil {
			wanted[keyOf(to.ID)] = f.ID
		}
	}
	prefix := keyOf(b.ID) + "/"
	each(c.st, func(held *record, a *publicAddress) {
		id, wants := wanted[keyOf(held.top().ID)]
		holder := a.Properties.IPConfiguration
		switch {
		case wants:
			a.Properties.IPConfiguration = &ref{id}
			c.st.put(held)
		case holder != nil && len(holder.key()) > len(prefix) && holder.key()[:len(prefix)] == prefix:
			a.Properties.IPConfiguration = nil
			c.st.put(held)
		}
	})
	return c.applyAll()
}

func endBalancer(a *Azure, r *record) {
	prefix := keyOf(r.top().ID) + "/"
	inside := func(id string) bool { return len(id) > len(prefix) && keyOf(id)[:len(prefix)] == prefix }
	each(a.st, func(held *record, p *publicAddress) {
		if inside(p.Properties.IPConfiguration.id()) {
			p.Properties.IPConfiguration = nil
			a.st.put(held)
		}
	})
	each(a.st, func(member *record, n *nic) {
		changed := false
		for i := range n.Properties.IPConfigurations {
			pools := &n.Properties.IPConfigurations[i].Properties.LoadBalancerBackendAddressPools
			before := len(*pools)
			*pools = slices.DeleteFunc(*pools, func(r ref) bool { return inside(r.ID) })
			changed = changed || len(*pools) != before
		}
		if changed {
			a.st.put(member)
		}
	})
	if err := a.applyAll(); err != nil {
		a.Options.Log.Error("apply load balancers", "err", err)
	}
}

// applyAll brings the datacenter in line with all load balancers. A frontend with rules is
// a load balancer there, once for the rules with floating IP and once for the others.
func (a *Azure) applyAll() error {
	if !a.Hosts {
		return nil
	}
	wanted := map[string]datacenter.LoadBalancerSpec{}
	pools := map[string]datacenter.Pool{}
	each(a.st, func(_ *record, b *balancer) {
		for _, rule := range b.Properties.LoadBalancingRules {
			a.planRule(b, rule, wanted, pools)
		}
	})
	return a.bringInLine(wanted, pools)
}

func (a *Azure) planRule(b *balancer, rule part[ruleProperties], wanted map[string]datacenter.LoadBalancerSpec, pools map[string]datacenter.Pool) {
	p := rule.Properties
	f := partNamed(b.Properties.FrontendIPConfigurations, p.FrontendIPConfiguration.ID)
	if f == nil {
		return
	}
	id := digest(f.ID, strconv.FormatBool(p.EnableFloatingIP))
	s, known := wanted[id]
	if !known {
		s = datacenter.LoadBalancerSpec{ID: id, Silent: true, Passthrough: p.EnableFloatingIP, Internal: f.Properties.Subnet != nil}
		if s.Internal {
			s.Fixed, _ = netip.ParseAddr(f.Properties.PrivateIPAddress)
		} else {
			s.Static = staticID(f.Properties.PublicIPAddress.ID)
		}
	}
	pool := a.planPool(b, f, rule)
	pools[pool.ID] = pool
	s.Listeners = append(s.Listeners, datacenter.Listener{Port: uint16(p.FrontendPort), Pool: pool.ID, Allowed: a.admitted(f, rule)})
	wanted[id] = s
}

// planPool is the pool of a rule. The client's address is kept: a target of an internal
// load balancer that is passed on to itself gets no answer. What machines send to a public
// one comes from their public address.
func (a *Azure) planPool(b *balancer, f *part[frontendProperties], rule part[ruleProperties]) datacenter.Pool {
	pool := datacenter.Pool{ID: digest(rule.ID), PreserveClient: f.Properties.Subnet != nil}
	if probe := partNamed(b.Properties.Probes, rule.Properties.Probe.id()); probe != nil {
		pool.Check = datacenter.HealthCheck{Port: uint16(probe.Properties.Port), Interval: time.Duration(probe.Properties.IntervalInSeconds) * time.Second}
		if a.Options.Create > 0 { // without delays a target is checked with each change only
			pool.Check.Healthy, pool.Check.Unhealthy = probe.Properties.ProbeThreshold, probe.Properties.ProbeThreshold
		}
	}
	for _, to := range rule.Properties.pools() {
		for _, m := range a.st.members(to.ID) {
			r, _ := find[vm](a.st, m.nic.Properties.VirtualMachine.id())
			if r == nil || r.Machine == "" || !a.probed(m.nic, m.ip, cmp.Or(int(pool.Check.Port), rule.Properties.BackendPort)) {
				continue
			}
			pool.Targets = append(pool.Targets, datacenter.Target{Machine: r.Machine, Port: uint16(rule.Properties.BackendPort)})
		}
		if p := partNamed(b.Properties.BackendAddressPools, to.ID); p != nil {
			for _, backend := range p.Properties.LoadBalancerBackendAddresses {
				if address, err := netip.ParseAddr(backend.Properties.IPAddress); err == nil {
					pool.Targets = append(pool.Targets, datacenter.Target{Address: address, Port: uint16(rule.Properties.BackendPort)})
				}
			}
		}
	}
	return pool
}

// bringInLine puts what is wanted and differs, and removes the rest.
func (a *Azure) bringInLine(wanted map[string]datacenter.LoadBalancerSpec, pools map[string]datacenter.Pool) error {
	d := a.Options.Datacenter
	var problems []error
	for id, p := range pools {
		if there, known := d.Pool(id); !known || !samePool(there, p) {
			problems = append(problems, d.PutPool(p))
		}
	}
	for _, there := range d.LoadBalancers() {
		s, stays := wanted[there.ID]
		if !stays || s.Static != there.Static || s.Fixed != there.Fixed {
			problems = append(problems, d.RemoveLoadBalancer(there.ID))
		}
	}
	for _, s := range wanted {
		slices.SortFunc(s.Listeners, func(a, b datacenter.Listener) int { return int(a.Port) - int(b.Port) })
		if there, known := d.LoadBalancer(s.ID); !known || !slices.EqualFunc(there.Listeners, s.Listeners, sameListener) {
			_, err := d.PutLoadBalancer(s)
			problems = append(problems, err)
		}
	}
	for _, p := range d.Pools() {
		if _, stays := pools[p.ID]; !stays {
			problems = append(problems, d.RemovePool(p.ID))
		}
	}
	return errors.Join(problems...)
}

func samePool(a, b datacenter.Pool) bool {
	return a.Check == b.Check && a.PreserveClient == b.PreserveClient && slices.Equal(a.Targets, b.Targets)
}

func sameListener(a, b datacenter.Listener) bool {
	return a.Port == b.Port && a.Pool == b.Pool && slices.Equal(a.Allowed, b.Allowed) && (a.Allowed == nil) == (b.Allowed == nil)
}
