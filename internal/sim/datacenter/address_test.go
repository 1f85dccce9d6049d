// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter_test

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// cloud has machines in two zones, and public addresses.
func cloud() map[string]datacenter.Subnet {
	return map[string]datacenter.Subnet{
		"subnet-a": {Prefix: netip.MustParsePrefix("10.0.0.0/28"), Zone: "zone-a"},
		"subnet-b": {Prefix: netip.MustParsePrefix("10.0.1.0/24"), Zone: "zone-b"},
		"public":   {Prefix: netip.MustParsePrefix("203.0.113.0/24")},
	}
}

func in(subnet, id string) datacenter.Spec {
	s := spec(id)
	s.Network = subnet
	return s
}

// naming serves the name of the machine at some ports until it is powered off.
func naming(ports ...uint16) datacenter.Boot {
	return func(ctx context.Context, m datacenter.Machine) error {
		for _, port := range ports {
			l, err := m.Host.Listen(port)
			if err != nil {
				return err
			}
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					_, _ = io.WriteString(conn, m.Name)
					_ = conn.Close()
				}
			}()
		}
		<-ctx.Done()
		return nil
	}
}

// ask returns what answers at an endpoint; empty: nothing does.
func ask(t *testing.T, n *network.Network, endpoint string) string {
	t.Helper()
	conn, err := n.Dial(t.Context(), "tcp", endpoint)
	if err != nil {
		return ""
	}
	defer conn.Close()
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Errorf("read from %s: %v", endpoint, err)
	}
	return string(text)
}

func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestMachineOfARegionalSubnetIsInItsOwnZone(t *testing.T) {
	d := open(t, datacenter.Options{Dir: t.TempDir(), Subnets: cloud()})
	s := in("public", "a")
	s.Zone = "zone-2"
	if m := powerOn(t, d, s); m.Zone != "zone-2" {
		t.Errorf("the machine is in %q", m.Zone)
	}
}

func TestMachineIsInTheZoneOfItsSubnet(t *testing.T) {
	d := open(t, datacenter.Options{Dir: t.TempDir(), Subnets: cloud()})
	must(t, d.AddSubnet("subnet-c", datacenter.Subnet{Prefix: netip.MustParsePrefix("10.0.2.0/29"), Zone: "zone-c"}))
	for subnet, want := range map[string]string{"subnet-a": "zone-a 10.0.0.", "subnet-b": "zone-b 10.0.1.", "subnet-c": "zone-c 10.0.2."} {
		m := powerOn(t, d, in(subnet, "m-"+subnet))
		if got := m.Zone + " " + m.Address.String(); !strings.HasPrefix(got, want) {
			t.Errorf("in %s the machine is in %s", subnet, got)
		}
	}
	if err := d.AddSubnet("subnet-d", datacenter.Subnet{Prefix: netip.MustParsePrefix("10.0.1.128/25")}); err == nil {
		t.Error("a subnet may overlap with another")
	}
}

func TestFreeAddressesOfASubnet(t *testing.T) {
	d := open(t, datacenter.Options{Dir: t.TempDir(), Subnets: cloud()})
	free := func() int {
		t.Helper()
		n, err := d.FreeAddresses("subnet-a")
		must(t, err)
		return n
	}
	if n := free(); n != 13 { // of 16: network, gateway and broadcast
		t.Fatalf("%d free", n)
	}
	for i := range 13 {
		powerOn(t, d, in("subnet-a", string(rune('a'+i))))
	}
	if n := free(); n != 0 {
		t.Errorf("%d free", n)
	}
	if _, err := d.PowerOn(in("subnet-a", "one-more")); !errors.Is(err, datacenter.ErrExhausted) {
		t.Errorf("power on without a free address: %v", err)
	}
	if _, err := d.FreeAddresses("subnet-z"); !errors.Is(err, datacenter.ErrNotFound) {
		t.Errorf("of an unknown subnet: %v", err)
	}
}

func TestStaticAddressReachesItsMachine(t *testing.T) {
	n, dir := network.New(), t.TempDir()
	d := open(t, datacenter.Options{Dir: dir, Network: n, Subnets: cloud(), Boot: naming(22)})
	powerOn(t, d, in("subnet-a", "a"))
	powerOn(t, d, in("subnet-b", "b"))
	address, err := d.Allocate("eip-1", "public")
	must(t, err)
	at := netip.AddrPortFrom(address.IP, 22).String()
	if got := ask(t, n, at); got != "" {
		t.Errorf("before it is associated: %q", got)
	}
	must(t, d.Associate("eip-1", "a"))
	until(t, "it reaches a", func() bool { return ask(t, n, at) == "machine-a" })
	if err := d.Associate("eip-1", "b"); !errors.Is(err, datacenter.ErrInUse) {
		t.Errorf("associate with a second machine: %v", err)
	}
	if err := d.Release("eip-1"); !errors.Is(err, datacenter.ErrInUse) {
		t.Errorf("release what is in use: %v", err)
	}
	must(t, d.Associate("eip-1", ""))
	must(t, d.Associate("eip-1", "b"))
	until(t, "it reaches b", func() bool { return ask(t, n, at) == "machine-b" })
	must(t, d.Remove("b"))
	if seen, _ := d.StaticAddress("eip-1"); seen.Machine != "" || ask(t, n, at) != "" {
		t.Errorf("after the machine was removed: %+v", seen)
	}
	must(t, d.Release("eip-1"))
	if _, known := d.StaticAddress("eip-1"); known || len(d.StaticAddresses()) != 0 {
		t.Error("still there")
	}
	if err := d.Associate("eip-1", "a"); !errors.Is(err, datacenter.ErrNotFound) {
		t.Errorf("associate what was released: %v", err)
	}
}

func TestStaticAddressSurvivesARestart(t *testing.T) {
	n, dir := network.New(), t.TempDir()
	o := datacenter.Options{Dir: dir, Network: n, Subnets: cloud(), Boot: naming(22)}
	before := open(t, o)
	address, err := before.Allocate("eip-1", "public")
	must(t, err)
	must(t, before.Associate("eip-1", "a"))
	before.Close()

	o.Network = network.New()
	after := open(t, o)
	if again, err := after.Allocate("eip-1", "public"); err != nil || again.IP != address.IP || again.Machine != "a" {
		t.Errorf("%+v, %v; before %+v", again, err, address)
	}
	if other, err := after.Allocate("eip-2", "public"); err != nil || other.IP == address.IP {
		t.Errorf("%+v, %v", other, err)
	}
	powerOn(t, after, in("subnet-a", "a"))
	until(t, "it reaches the machine", func() bool {
		return ask(t, o.Network, netip.AddrPortFrom(address.IP, 22).String()) == "machine-a"
	})
}
