// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

func targets(machines ...string) (out []datacenter.Target) {
	for _, id := range machines {
		out = append(out, datacenter.Target{Machine: id, Port: 6443})
	}
	return out
}

func listener(pool string) []datacenter.Listener {
	return []datacenter.Listener{{Port: 443, Pool: pool}}
}

func balance(t *testing.T, d *datacenter.Datacenter, s datacenter.LoadBalancerSpec) datacenter.LoadBalancer {
	t.Helper()
	b, err := d.PutLoadBalancer(s)
	must(t, err)
	return b
}

func TestLoadBalancerPassesConnectionsToHealthyTargets(t *testing.T) {
	n := network.New()
	d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Subnets: cloud(), Boot: naming(6443)})
	a := powerOn(t, d, in("subnet-a", "a"))
	must(t, d.PutPool(datacenter.Pool{ID: "tg", Targets: append(targets("a", "b"), datacenter.Target{Address: a.Address.Addr(), Port: 6444})}))
	if got := d.Health("tg"); !slices.Equal(got, []datacenter.Health{"unused", "unused", "unused"}) {
		t.Errorf("without a load balancer: %v", got)
	}
	b := balance(t, d, datacenter.LoadBalancerSpec{ID: "lb", Name: "lb.example.com", Subnet: "subnet-b", Listeners: listener("tg")})
	if !b.Active || !b.Address.IsValid() {
		t.Fatalf("%+v", b)
	}
	until(t, "the health is known", func() bool {
		return slices.Equal(d.Health("tg"), []datacenter.Health{"healthy", "unhealthy", "unhealthy"})
	})
	for _, host := range []string{"lb.example.com", b.Address.String()} {
		if got := ask(t, n, host+":443"); got != "machine-a" {
			t.Errorf("%s is answered by %q", host, got)
		}
	}
	powerOn(t, d, in("subnet-b", "b"))
	d.PowerOff("a")
	until(t, "b answers", func() bool { return ask(t, n, "lb.example.com:443") == "machine-b" })
	if free, _ := d.FreeAddresses("subnet-b"); free != 251 { // of 256: network, gateway, broadcast, lb, b
		t.Errorf("%d addresses are free", free)
	}
}

func TestLoadBalancerTakesItsTimeAndThenChecks(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		n := network.New()
		d := open(t, datacenter.Options{
			Dir: dir, Network: n, Subnets: cloud(), Boot: naming(6443), Profile: datacenter.Profile{LoadBalancer: 20 * time.Second},
		})
		powerOn(t, d, in("subnet-a", "a"))
		must(t, d.PutPool(datacenter.Pool{
			ID: "tg", Targets: targets("a"), Check: datacenter.HealthCheck{Interval: 10 * time.Second, Healthy: 3, Unhealthy: 2},
		}))
		balance(t, d, datacenter.LoadBalancerSpec{ID: "lb", Name: "lb.example.com", Listeners: listener("tg")})
		for _, step := range []struct {
			after  time.Duration
			active bool
			health datacenter.Health
			answer string
		}{
			{19 * time.Second, false, datacenter.HealthUnused, ""},
			{2 * time.Second, true, datacenter.HealthInitial, ""}, // one check of three
			{20 * time.Second, true, datacenter.HealthHealthy, "machine-a"},
		} {
			time.Sleep(step.after)
			synctest.Wait()
			b, _ := d.LoadBalancer("lb")
			if got := d.Health("tg")[0]; b.Active != step.active || got != step.health || ask(t, n, "lb.example.com:443") != step.answer {
				t.Errorf("%s later it is active %v, its target %s", step.after, b.Active, got)
			}
		}
		d.PowerOff("a")
		time.Sleep(11 * time.Second)
		if got := d.Health("tg")[0]; got != datacenter.HealthHealthy {
			t.Errorf("after one failed check it is %s", got)
		}
		time.Sleep(10 * time.Second)
		if got := d.Health("tg")[0]; got != datacenter.HealthUnhealthy {
			t.Errorf("after two it is %s", got)
		}
	})
}

func TestTargetThatIsTakenOutDrains(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := open(t, datacenter.Options{
			Dir: dir, Network: network.New(), Subnets: cloud(), Boot: naming(6443), Profile: datacenter.Profile{LoadBalancer: time.Second},
		})
		pool := datacenter.Pool{ID: "tg", Drain: time.Minute, Targets: targets("a", "b")}
		put := func(machines ...string) {
			t.Helper()
			pool.Targets = targets(machines...)
			must(t, d.PutPool(pool))
		}
		put("a", "b", "c")
		put("a", "b")
		if got := d.Draining("tg"); len(got) != 0 {
			t.Errorf("without a load balancer: %v", got)
		}
		balance(t, d, datacenter.LoadBalancerSpec{ID: "lb", Name: "lb.example.com", Listeners: listener("tg")})
		time.Sleep(2 * time.Second)
		put("a")
		if got := d.Draining("tg"); !slices.Equal(got, targets("b")) || len(d.Health("tg")) != 1 {
			t.Errorf("draining %v, health %v", got, d.Health("tg"))
		}
		put("a", "b")
		if got := d.Draining("tg"); len(got) != 0 {
			t.Errorf("back again: %v", got)
		}
		put()
		time.Sleep(59 * time.Second)
		if got := d.Draining("tg"); !slices.Equal(got, targets("a", "b")) {
			t.Errorf("before the end: %v", got)
		}
		time.Sleep(time.Second)
		if got := d.Draining("tg"); len(got) != 0 {
			t.Errorf("after the end: %v", got)
		}
	})
}

func TestHealthIsCheckedAtItsOwnPort(t *testing.T) {
	n := network.New()
	d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Subnets: cloud(), Boot: naming(6443, 10256)})
	powerOn(t, d, in("subnet-a", "a"))
	for port, want := range map[uint16]datacenter.Health{10256: datacenter.HealthHealthy, 10257: datacenter.HealthUnhealthy} {
		id := strconv.Itoa(int(port))
		must(t, d.PutPool(datacenter.Pool{ID: id, Targets: targets("a"), Check: datacenter.HealthCheck{Port: port}}))
		balance(t, d, datacenter.LoadBalancerSpec{ID: id, Name: id + ".example.com", Listeners: listener(id)})
		until(t, id+" is "+string(want), func() bool { return d.Health(id)[0] == want })
	}
}

func TestListenersAndTargetsChange(t *testing.T) {
	n := network.New()
	d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Subnets: cloud(), Boot: naming(6443)})
	powerOn(t, d, in("subnet-a", "a"))
	powerOn(t, d, in("subnet-a", "b"))
	must(t, d.PutPool(datacenter.Pool{ID: "tg", Targets: targets("a")}))
	s := datacenter.LoadBalancerSpec{ID: "lb", Name: "lb.example.com", Listeners: listener("tg")}
	created := balance(t, d, s).Created
	until(t, "a answers", func() bool { return ask(t, n, "lb.example.com:443") == "machine-a" })
	must(t, d.PutPool(datacenter.Pool{ID: "tg", Targets: targets("b")}))
	until(t, "b answers", func() bool { return ask(t, n, "lb.example.com:443") == "machine-b" })
	s.Listeners = []datacenter.Listener{{Port: 6443, Pool: "tg"}}
	if again := balance(t, d, s); !again.Created.Equal(created) {
		t.Error("it was created again")
	}
	if ask(t, n, "lb.example.com:6443") != "machine-b" || ask(t, n, "lb.example.com:443") != "" {
		t.Error("it does not answer at its new port alone")
	}
	if p, known := d.Pool("tg"); !known || len(p.Targets) != 1 || len(d.Pools()) != 1 {
		t.Errorf("the pool is %+v", p)
	}
}

func TestPartsOfALoadBalancerAreRemovedInOrder(t *testing.T) {
	n := network.New()
	d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Subnets: cloud(), Boot: naming(6443)})
	if _, err := d.PutLoadBalancer(datacenter.LoadBalancerSpec{ID: "lb", Name: "x", Listeners: listener("tg")}); !errors.Is(err, datacenter.ErrNotFound) {
		t.Errorf("without its pool: %v", err)
	}
	if _, err := d.PutLoadBalancer(datacenter.LoadBalancerSpec{ID: "lb"}); err == nil {
		t.Error("a load balancer without an endpoint")
	}
	address, err := d.Allocate("ip", "public")
	must(t, err)
	must(t, d.PutPool(datacenter.Pool{ID: "tg"}))
	if b := balance(t, d, datacenter.LoadBalancerSpec{ID: "lb", Static: "ip", Listeners: listener("tg")}); b.Address != address.IP {
		t.Errorf("its address is %v, want %v", b.Address, address.IP)
	}
	for what, err := range map[string]error{"pool": d.RemovePool("tg"), "address": d.Release("ip"), "association": d.Associate("ip", "a")} {
		if !errors.Is(err, datacenter.ErrInUse) {
			t.Errorf("%s in use: %v", what, err)
		}
	}
	fixed := netip.MustParseAddr("10.0.1.200")
	if b := balance(t, d, datacenter.LoadBalancerSpec{ID: "inside", Fixed: fixed, Internal: true, Listeners: listener("tg")}); b.Address != fixed {
		t.Errorf("its address is %v, want %v", b.Address, fixed)
	}
	for range 2 {
		must(t, d.RemoveLoadBalancer("lb"))
		must(t, d.RemoveLoadBalancer("inside"))
		must(t, d.RemovePool("tg"))
		must(t, d.Release("ip"))
	}
	if len(d.LoadBalancers()) != 0 || len(d.Pools()) != 0 || len(d.StaticAddresses()) != 0 {
		t.Error("something is left")
	}
}

func TestLoadBalancerSurvivesARestart(t *testing.T) {
	o := datacenter.Options{Dir: t.TempDir(), Network: network.New(), Subnets: cloud(), Boot: naming(6443)}
	before := open(t, o)
	must(t, before.PutPool(datacenter.Pool{ID: "tg", Targets: targets("a")}))
	address := balance(t, before, datacenter.LoadBalancerSpec{ID: "lb", Name: "lb.example.com", Subnet: "subnet-b", Listeners: listener("tg")}).Address
	before.Close()

	o.Network = network.New()
	after := open(t, o)
	if all := after.LoadBalancers(); len(all) != 1 || all[0].Address != address || !all[0].Active {
		t.Errorf("%+v, want the address %v", all, address)
	}
	powerOn(t, after, in("subnet-a", "a"))
	for _, host := range []string{"lb.example.com", address.String()} {
		until(t, host+" answers", func() bool { return ask(t, o.Network, host+":443") == "machine-a" })
	}
}

// passed is a machine behind a load balancer that gets the load balancer's address later.
type passed struct {
	*datacenter.Datacenter
	network *network.Network
	machine netip.Addr
	at      netip.AddrPort
	alias   func()
}

func passThrough(t *testing.T, s datacenter.LoadBalancerSpec, pool datacenter.Pool) passed {
	t.Helper()
	hosts := make(chan *network.Host, 1)
	boot := func(ctx context.Context, m datacenter.Machine) error {
		hosts <- m.Host
		return naming(443)(ctx, m)
	}
	p := passed{network: network.New()}
	p.Datacenter = open(t, datacenter.Options{Dir: t.TempDir(), Network: p.network, Subnets: cloud(), Boot: boot})
	p.machine = powerOn(t, p.Datacenter, in("subnet-a", "a")).Address.Addr()
	pool.ID, pool.Targets = "bs", []datacenter.Target{{Machine: "a", Port: 443}}
	must(t, p.PutPool(pool))
	s.ID, s.Subnet, s.Listeners = "fr", "subnet-b", listener("bs")
	p.at = netip.AddrPortFrom(balance(t, p.Datacenter, s).Address, 443)
	host := <-hosts
	p.alias = func() { host.Alias(p.at.Addr()) }
	return p
}

func (p passed) health(t *testing.T, want datacenter.Health) {
	t.Helper()
	until(t, "the target is "+string(want), func() bool { return p.Health("bs")[0] == want })
}

// dial connects from a machine of the network, or with no address from the simulator.
func (p passed) dial(t *testing.T, from netip.Addr) error {
	conn, err := p.network.DialFrom(t.Context(), network.Source{Address: from}, "tcp", p.at.String())
	if err == nil {
		_ = conn.Close()
	}
	return err
}

// TestPassthroughReachesTargetsThatHaveTheAddress is how load balancers of Google work, which
// check the health of targets at their own address, and those of Azure with floating IP.
func TestPassthroughReachesTargetsThatHaveTheAddress(t *testing.T) {
	for platform, before := range map[string]datacenter.Health{"gcp": datacenter.HealthUnhealthy, "azure": datacenter.HealthHealthy} {
		t.Run(platform, func(t *testing.T) {
			gcp := platform == "gcp"
			p := passThrough(t, datacenter.LoadBalancerSpec{Passthrough: true, ProbesAddress: gcp, FailOpen: gcp}, datacenter.Pool{})
			p.health(t, before)
			if err := p.dial(t, netip.Addr{}); !errors.Is(err, syscall.ETIMEDOUT) {
				t.Errorf("a target without the address: %v", err)
			}
			p.alias()
			p.health(t, datacenter.HealthHealthy)
			until(t, "the target answers", func() bool { return ask(t, p.network, p.at.String()) == "machine-a" })
			must(t, p.PutPool(datacenter.Pool{ID: "bs"}))
			if err := p.dial(t, p.machine); err != nil {
				t.Errorf("a machine with the address does not reach itself: %v", err)
			}
			if err := p.dial(t, netip.Addr{}); !errors.Is(err, syscall.ETIMEDOUT) {
				t.Errorf("without targets: %v", err)
			}
		})
	}
}

// TestTargetOfAnInternalLoadBalancerDoesNotReachItself is how Azure works without floating
// IP.
func TestTargetOfAnInternalLoadBalancerDoesNotReachItself(t *testing.T) {
	for _, internal := range []bool{true, false} {
		p := passThrough(t, datacenter.LoadBalancerSpec{Silent: true, Internal: internal}, datacenter.Pool{PreserveClient: internal})
		p.health(t, datacenter.HealthHealthy)
		if err := p.dial(t, netip.MustParseAddr("10.1.0.200")); err != nil {
			t.Errorf("internal %v, from another machine: %v", internal, err)
		}
		if err := p.dial(t, p.machine); (err != nil) != internal || err != nil && !errors.Is(err, syscall.ETIMEDOUT) {
			t.Errorf("internal %v, from the target itself: %v", internal, err)
		}
		p.PowerOff("a")
		until(t, "packets are lost", func() bool { return errors.Is(p.dial(t, netip.Addr{}), syscall.ETIMEDOUT) })
	}
}
