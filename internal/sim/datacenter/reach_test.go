// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter_test

import (
	"errors"
	"io"
	"net/netip"
	"syscall"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// privateCloud is cloud with machines that the workstation does not reach; those of
// subnet-b are behind a NAT gateway.
func privateCloud() map[string]datacenter.Subnet {
	all := cloud()
	for _, id := range []string{"subnet-a", "subnet-b"} {
		s := all[id]
		s.Private = true
		all[id] = s
	}
	nat := all["subnet-b"]
	nat.Egress = netip.MustParseAddr("203.0.113.200")
	all["subnet-b"] = nat
	return all
}

// answer is what a source gets at an endpoint: the machine that answers, or the error.
func answer(t *testing.T, n *network.Network, from network.Source, endpoint string) (string, error) {
	t.Helper()
	conn, err := n.DialFrom(t.Context(), from, "tcp", endpoint)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	text, err := io.ReadAll(conn)
	return string(text), err
}

func TestWorkstationReachesPublicAddressesAndLoadBalancers(t *testing.T) {
	n := network.New()
	d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Subnets: privateCloud(), Boot: naming(6443)})
	m := powerOn(t, d, in("subnet-a", "a"))
	eip, err := d.Allocate("eip", "public")
	must(t, err)
	must(t, d.Associate("eip", "a"))
	must(t, d.PutPool(datacenter.Pool{ID: "tg", Targets: targets("a")}))
	balance(t, d, datacenter.LoadBalancerSpec{ID: "public", Name: "public.example.com", Listeners: listener("tg")})
	balance(t, d, datacenter.LoadBalancerSpec{ID: "internal", Name: "internal.example.com", Internal: true, Listeners: listener("tg")})
	until(t, "the target is healthy", func() bool { return d.Health("tg")[0] == datacenter.HealthHealthy })
	for endpoint, public := range map[string]bool{
		netip.AddrPortFrom(m.Address.Addr(), 6443).String(): false,
		netip.AddrPortFrom(eip.IP, 6443).String():           true,
		"public.example.com:443":                            true,
		"internal.example.com:443":                          false,
	} {
		if got := ask(t, n, endpoint); got != "machine-a" {
			t.Errorf("%s from inside: %q", endpoint, got)
		}
		if _, err := answer(t, n, network.Workstation(), endpoint); public != (err == nil) || !public && !errors.Is(err, syscall.ETIMEDOUT) {
			t.Errorf("%s from the workstation: %v", endpoint, err)
		}
	}
}

func TestListenersAcceptAllowedSourcesOnly(t *testing.T) {
	n := network.New()
	d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Subnets: privateCloud(), Boot: naming(6443)})
	a, b := powerOn(t, d, in("subnet-a", "a")), powerOn(t, d, in("subnet-b", "b"))
	must(t, d.PutPool(datacenter.Pool{ID: "tg", Targets: targets("a")}))
	allow := func(id string, internal bool, allowed ...string) {
		t.Helper()
		l := datacenter.Listener{Port: 443, Pool: "tg", Allowed: []netip.Prefix{}}
		for _, text := range allowed {
			l.Allowed = append(l.Allowed, netip.MustParsePrefix(text))
		}
		balance(t, d, datacenter.LoadBalancerSpec{ID: id, Name: id + ".example.com", Internal: internal, Listeners: []datacenter.Listener{l}})
	}
	sources := map[string]network.Source{
		"workstation": network.Workstation(), "a": {Address: a.Address.Addr()}, "b": {Address: b.Address.Addr()},
	}
	for name, tt := range map[string]struct {
		internal bool
		allowed  []string
		reach    map[string]bool
	}{
		"no prefix":    {false, nil, nil},
		"the office":   {false, []string{"192.0.2.0/24"}, map[string]bool{"workstation": true}},
		"the network":  {false, []string{"10.0.0.0/16"}, map[string]bool{"a": true}}, // b appears as its gateway
		"the gateway":  {false, []string{"203.0.113.200/32"}, map[string]bool{"b": true}},
		"from inside":  {true, []string{"10.0.0.0/16"}, map[string]bool{"a": true, "b": true}},
		"not from out": {true, []string{"0.0.0.0/0"}, map[string]bool{"a": true, "b": true}},
	} {
		t.Run(name, func(t *testing.T) {
			allow("lb", tt.internal, tt.allowed...)
			defer func() { must(t, d.RemoveLoadBalancer("lb")) }()
			until(t, "the target is healthy", func() bool { return d.Health("tg")[0] == datacenter.HealthHealthy })
			for source, from := range sources {
				if _, err := answer(t, n, from, "lb.example.com:443"); (err == nil) != tt.reach[source] {
					t.Errorf("%s: %v", source, err)
				}
			}
		})
	}
	t.Run("changed later", func(t *testing.T) {
		allow("lb", false, "198.51.100.0/24")
		allow("lb", false, "192.0.2.0/24")
		if _, err := answer(t, n, network.Workstation(), "lb.example.com:443"); err != nil {
			t.Error(err)
		}
	})
}

func TestTargetOfALoadBalancerReachesItself(t *testing.T) {
	n := network.New()
	d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Subnets: privateCloud(), Boot: naming(6443)})
	self := network.Source{Address: powerOn(t, d, in("subnet-a", "a")).Address.Addr()}
	for _, preserve := range []bool{true, false} {
		must(t, d.PutPool(datacenter.Pool{ID: "tg", Targets: targets("a"), PreserveClient: preserve}))
		balance(t, d, datacenter.LoadBalancerSpec{ID: "lb", Name: "lb.example.com", Listeners: listener("tg")})
		until(t, "the target is healthy", func() bool { return d.Health("tg")[0] == datacenter.HealthHealthy })
		if _, err := answer(t, n, self, "lb.example.com:443"); errors.Is(err, syscall.ETIMEDOUT) != preserve {
			t.Errorf("with the client's address kept %v: %v", preserve, err)
		}
	}
}

// TestNoHealthyTarget has targets whose health check fails, though they serve.
func TestNoHealthyTarget(t *testing.T) {
	for _, open := range []bool{true, false} {
		n := network.New()
		d := openCloud(t, n, datacenter.Pool{ID: "tg", Targets: targets("a"), Check: datacenter.HealthCheck{Port: 1}})
		powerOn(t, d, in("subnet-a", "a"))
		balance(t, d, datacenter.LoadBalancerSpec{ID: "lb", Name: "lb.example.com", FailOpen: open, Listeners: listener("tg")})
		until(t, "the target is unhealthy", func() bool { return d.Health("tg")[0] == datacenter.HealthUnhealthy })
		if got := ask(t, n, "lb.example.com:443"); (got == "machine-a") != open {
			t.Errorf("fail open %v: %q answers", open, got)
		}
	}
}

func openCloud(t *testing.T, n *network.Network, p datacenter.Pool) *datacenter.Datacenter {
	t.Helper()
	d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Subnets: privateCloud(), Boot: naming(6443)})
	must(t, d.PutPool(p))
	return d
}

// TestZonesOfALoadBalancer has one machine in zone a and two in zone b.
func TestZonesOfALoadBalancer(t *testing.T) {
	n := network.New()
	d := openCloud(t, n, datacenter.Pool{ID: "tg", Targets: targets("a", "b", "c")})
	powerOn(t, d, in("subnet-a", "a"))
	powerOn(t, d, in("subnet-b", "b"))
	powerOn(t, d, in("subnet-b", "c"))
	for name, tt := range map[string]struct {
		zones []string
		bound bool
		want  map[string]int // answers of 12
	}{
		"across zones": {nil, false, map[string]int{"machine-a": 4, "machine-b": 4, "machine-c": 4}},
		"zone by zone": {[]string{"zone-a", "zone-b"}, true, map[string]int{"machine-a": 6, "machine-b": 3, "machine-c": 3}},
		"in one zone":  {[]string{"zone-a"}, false, map[string]int{"machine-a": 12}},
	} {
		t.Run(name, func(t *testing.T) {
			balance(t, d, datacenter.LoadBalancerSpec{ID: "lb", Name: "lb.example.com", Zones: tt.zones, ZoneBound: tt.bound, Listeners: listener("tg")})
			until(t, "all targets are healthy", func() bool {
				h := d.Health("tg")
				return h[0] == datacenter.HealthHealthy && h[1] == datacenter.HealthHealthy && h[2] == datacenter.HealthHealthy
			})
			got := map[string]int{}
			for range 12 {
				got[ask(t, n, "lb.example.com:443")]++
			}
			for machine, want := range tt.want {
				if got[machine] != want {
					t.Errorf("%v, want %v", got, tt.want)
					break
				}
			}
		})
	}
}

func TestLeasesOfAnAddedSubnetSurviveARestart(t *testing.T) {
	o := datacenter.Options{Dir: t.TempDir(), Network: network.New(), Subnets: map[string]datacenter.Subnet{}, Boot: naming(22)}
	before := open(t, o)
	subnet := datacenter.Subnet{Prefix: netip.MustParsePrefix("10.0.2.0/24"), Zone: "zone-c", Private: true}
	must(t, before.AddSubnet("subnet-c", subnet))
	address := powerOn(t, before, in("subnet-c", "a")).Address
	if err := before.RemoveSubnet("subnet-c"); !errors.Is(err, datacenter.ErrInUse) {
		t.Errorf("remove a subnet with a machine: %v", err)
	}
	before.Close()

	o.Network = network.New()
	after := open(t, o)
	must(t, after.AddSubnet("subnet-c", subnet))
	if m := powerOn(t, after, in("subnet-c", "a")); m.Address != address || m.Zone != "zone-c" {
		t.Errorf("the machine is at %v in %s", m.Address, m.Zone)
	}
	at := netip.AddrPortFrom(address.Addr(), 22).String()
	if _, err := answer(t, o.Network, network.Workstation(), at); !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("private after a restart: %v", err)
	}
	must(t, after.Remove("a"))
	must(t, after.RemoveSubnet("subnet-c"))
	if _, err := after.FreeAddresses("subnet-c"); !errors.Is(err, datacenter.ErrNotFound) {
		t.Errorf("removed: %v", err)
	}
}
