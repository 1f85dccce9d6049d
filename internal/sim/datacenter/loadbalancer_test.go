// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strconv"
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
	for range 2 {
		must(t, d.RemoveLoadBalancer("lb"))
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

// TestPassthroughReachesTargetsThatHaveTheAddress is how Google's load balancers work.
func TestPassthroughReachesTargetsThatHaveTheAddress(t *testing.T) {
	n := network.New()
	vip := make(chan netip.Addr)
	boot := func(ctx context.Context, m datacenter.Machine) error {
		go func() {
			select {
			case a := <-vip:
				m.Host.Alias(a)
			case <-ctx.Done():
			}
		}()
		return naming(443)(ctx, m)
	}
	d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Subnets: cloud(), Boot: boot})
	powerOn(t, d, in("subnet-a", "a"))
	must(t, d.PutPool(datacenter.Pool{ID: "bs", Targets: []datacenter.Target{{Machine: "a", Port: 443}}}))
	b := balance(t, d, datacenter.LoadBalancerSpec{ID: "fr", Subnet: "subnet-b", Passthrough: true, Listeners: listener("bs")})
	at := netip.AddrPortFrom(b.Address, 443).String()
	until(t, "the target is healthy", func() bool { return d.Health("bs")[0] == datacenter.HealthHealthy })
	if got := ask(t, n, at); got != "" {
		t.Errorf("%q takes packets to an address that it does not have", got)
	}
	vip <- b.Address
	until(t, "the target answers", func() bool { return ask(t, n, at) == "machine-a" })
}
