// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

func untilOff(ctx context.Context, _ datacenter.Machine) error {
	<-ctx.Done()
	return nil
}

func subnets() map[string]datacenter.Subnet {
	return map[string]datacenter.Subnet{
		"default/workloads": {Prefix: netip.MustParsePrefix("10.40.0.0/24")},
	}
}

func open(t *testing.T, o datacenter.Options) *datacenter.Datacenter {
	t.Helper()
	if o.Network == nil {
		o.Network = network.New()
	}
	if o.Boot == nil {
		o.Boot = untilOff
	}
	if o.Subnets == nil {
		o.Subnets = subnets()
	}
	d, err := datacenter.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func spec(id string) datacenter.Spec {
	return datacenter.Spec{ID: id, Name: "machine-" + id, Network: "default/workloads", CPU: 2, MemoryMB: 4096, UserData: []byte("#")}
}

func powerOn(t *testing.T, d *datacenter.Datacenter, s datacenter.Spec) datacenter.Machine {
	t.Helper()
	m, err := d.PowerOn(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMachineHasAddressGatewayMACAndDisk(t *testing.T) {
	dir := t.TempDir()
	m := powerOn(t, open(t, datacenter.Options{Dir: dir}), spec("a"))
	if got := m.Address.String(); got != "10.40.0.10/24" {
		t.Errorf("address %s", got)
	}
	if got := m.Gateway.String(); got != "10.40.0.1" {
		t.Errorf("gateway %s", got)
	}
	if len(m.MAC) != len("52:54:00:00:00:00") || m.MAC[:9] != "52:54:00:" {
		t.Errorf("MAC %s", m.MAC)
	}
	if m.StateDir != filepath.Join(dir, "machines", "a") || m.Host.Addr() != m.Address.Addr() {
		t.Errorf("disk %s, host %v", m.StateDir, m.Host.Addr())
	}
	if info, err := os.Stat(m.StateDir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("disk: %v, %v", info, err)
	}
	want := spec("a")
	want.MAC = m.MAC
	if diff := cmp.Diff(want, m.Spec, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Error(diff)
	}
}

func TestGivenMACIsKept(t *testing.T) {
	s := spec("a")
	s.MAC = "02:00:00:00:00:01"
	if m := powerOn(t, open(t, datacenter.Options{Dir: t.TempDir()}), s); m.MAC != s.MAC {
		t.Errorf("MAC %s", m.MAC)
	}
}

func TestSameMachineSameAddress(t *testing.T) {
	dir, boots := t.TempDir(), atomic.Int32{}
	boot := func(ctx context.Context, m datacenter.Machine) error {
		boots.Add(1)
		return untilOff(ctx, m)
	}
	first := open(t, datacenter.Options{Dir: dir, Boot: boot})
	powerOn(t, first, spec("other"))
	m := powerOn(t, first, spec("a"))
	if err := os.WriteFile(filepath.Join(m.StateDir, "disk"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first.PowerOff("a")
	again := powerOn(t, first, spec("a"))
	first.Close()

	second := open(t, datacenter.Options{Dir: dir, Boot: boot})
	if _, on := second.Running("a"); on {
		t.Error("on after a restart of the process")
	}
	after := powerOn(t, second, spec("a"))
	second.Close()
	for _, other := range []datacenter.Machine{again, after} {
		if other.Address != m.Address || other.MAC != m.MAC {
			t.Errorf("%v %s, before %v %s", other.Address, other.MAC, m.Address, m.MAC)
		}
	}
	if _, err := os.Stat(filepath.Join(after.StateDir, "disk")); err != nil {
		t.Errorf("the disk was lost: %v", err)
	}
	if boots.Load() != 4 {
		t.Errorf("%d boots, want 4", boots.Load())
	}
}

func TestTwoPowerOnsAreOneMachine(t *testing.T) {
	var boots atomic.Int32
	d := open(t, datacenter.Options{Dir: t.TempDir(), Boot: func(ctx context.Context, m datacenter.Machine) error {
		boots.Add(1)
		return untilOff(ctx, m)
	}})
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if m, err := d.PowerOn(spec("a")); err != nil || m.Address.String() != "10.40.0.10/24" {
				t.Errorf("%v, %v", m.Address, err)
			}
		})
	}
	wait.Wait()
	d.PowerOff("a")
	if boots.Load() != 1 {
		t.Errorf("%d boots", boots.Load())
	}
}

// TestAddressesAreReportedAlsoWhenTheyAreRefused: a user asked for that one.
func TestAddressesAreReportedAlsoWhenTheyAreRefused(t *testing.T) {
	on := map[string]netip.Addr{}
	var wanted []string
	d := open(t, datacenter.Options{
		Dir: t.TempDir(),
		PoweredOn: func(s datacenter.Spec, a netip.Addr) {
			on[s.ID] = a
			if !slices.Contains(wanted, s.ID+" "+a.String()) {
				wanted = append(wanted, s.ID+" "+a.String())
			}
		},
		PoweredOff: func(id string) { delete(on, id) },
	})
	a := powerOn(t, d, spec("a")).Address.Addr()
	second := spec("b")
	second.Address = a
	if _, err := d.PowerOn(second); err == nil {
		t.Error("two machines have one address")
	}
	if diff := cmp.Diff([]string{"a " + a.String(), "b " + a.String()}, wanted); diff != "" {
		t.Error(diff)
	}
	if len(on) != 1 || on["a"] != a {
		t.Errorf("on: %v", on)
	}
	d.PowerOff("a")
	if len(on) != 0 {
		t.Errorf("on at the end: %v", on)
	}
}

func TestPowerOffWaitsForBoot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := network.New()
		d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Boot: func(ctx context.Context, m datacenter.Machine) error {
			<-ctx.Done()
			time.Sleep(time.Minute)
			return nil
		}})
		m := powerOn(t, d, spec("a"))
		begin := time.Now()
		d.PowerOff("a")
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("returned after %v", took)
		}
		if _, on := d.Running("a"); on {
			t.Error("still on")
		}
		if h, err := n.Attach(m.Address.Addr()); err != nil {
			t.Errorf("still on the network: %v", err)
		} else {
			h.Detach()
		}
		select {
		case id := <-d.Died():
			t.Errorf("%s was switched off, not dead", id)
		default:
		}
		d.PowerOff("a")
		d.PowerOff("unknown")
	})
}

func TestDeadMachineIsReportedOffAndCanBeStartedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, datacenter.Options{Dir: t.TempDir(), Boot: func(ctx context.Context, m datacenter.Machine) error {
			time.Sleep(time.Second)
			return errors.New("kernel panic")
		}})
		m := powerOn(t, d, spec("a"))
		for range 2 {
			if id := <-d.Died(); id != "a" {
				t.Errorf("died: %s", id)
			}
			if _, on := d.Running("a"); on {
				t.Error("dead and on")
			}
			if again := powerOn(t, d, spec("a")); again.Address != m.Address {
				t.Errorf("%v, before %v", again.Address, m.Address)
			}
		}
		<-d.Died()
	})
}

func TestRemoveLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	d := open(t, datacenter.Options{Dir: dir})
	powerOn(t, d, spec("a"))
	for range 2 {
		if err := d.Remove("a"); err != nil {
			t.Fatal(err)
		}
	}
	for _, sub := range []string{"machines", "leases"} {
		if left, err := os.ReadDir(filepath.Join(dir, sub)); err != nil || len(left) != 0 {
			t.Errorf("%s: %v, %v", sub, left, err)
		}
	}
	if _, on := d.Running("a"); on {
		t.Error("still on")
	}
}

func TestReleasedAddressIsNotReusedAtOnce(t *testing.T) {
	d := open(t, datacenter.Options{Dir: t.TempDir()})
	old := powerOn(t, d, spec("a"))
	if err := d.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if m := powerOn(t, d, spec("b")); m.Address == old.Address {
		t.Errorf("%v again", m.Address)
	}
}

func TestLeasesAvoidWhatIsNotForMachines(t *testing.T) {
	tests := map[string]struct {
		subnet datacenter.Subnet
		held   string // an address that someone has without a lease
		want   []string
	}{
		"from .10 on": {
			subnet: datacenter.Subnet{Prefix: netip.MustParsePrefix("10.40.0.7/24")},
			want:   []string{"10.40.0.10", "10.40.0.11"},
		},
		"reserved addresses, ranges and a gateway in the middle": {
			subnet: datacenter.Subnet{
				Prefix: netip.MustParsePrefix("10.40.0.0/24"), Gateway: netip.MustParseAddr("10.40.0.11"),
				Reserved: []datacenter.Range{
					{From: netip.MustParseAddr("10.40.0.10")},
					{From: netip.MustParseAddr("10.40.0.12"), To: netip.MustParseAddr("10.40.0.200")},
				},
			},
			want: []string{"10.40.0.201", "10.40.0.202"},
		},
		"small subnet without network, gateway and broadcast address": {
			subnet: datacenter.Subnet{Prefix: netip.MustParsePrefix("10.40.0.0/29")},
			want:   []string{"10.40.0.2", "10.40.0.3", "10.40.0.4", "10.40.0.5", "10.40.0.6", ""},
		},
		"goes round to the lowest ones": {
			subnet: datacenter.Subnet{
				Prefix:   netip.MustParsePrefix("10.40.0.0/27"),
				Reserved: []datacenter.Range{{From: netip.MustParseAddr("10.40.0.11"), To: netip.MustParseAddr("10.40.0.30")}},
			},
			want: []string{"10.40.0.10", "10.40.0.2", "10.40.0.3"},
		},
		"an address in use": {
			subnet: datacenter.Subnet{Prefix: netip.MustParsePrefix("10.40.0.0/24")}, held: "10.40.0.10",
			want: []string{"10.40.0.11"},
		},
		"IPv6": {
			subnet: datacenter.Subnet{Prefix: netip.MustParsePrefix("fd00:40::/64")},
			want:   []string{"fd00:40::a", "fd00:40::b"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			n := network.New()
			if tt.held != "" {
				if _, err := n.Attach(netip.MustParseAddr(tt.held)); err != nil {
					t.Fatal(err)
				}
			}
			d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Subnets: map[string]datacenter.Subnet{"": tt.subnet}})
			var got []string
			for i := range tt.want {
				m, err := d.PowerOn(spec(fmt.Sprint(i)))
				if err != nil {
					got = append(got, "")
					continue
				}
				got = append(got, m.Address.Addr().String())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestNetworksHaveTheirOwnSubnets(t *testing.T) {
	d := open(t, datacenter.Options{Dir: t.TempDir(), Subnets: map[string]datacenter.Subnet{
		"default/workloads": {Prefix: netip.MustParsePrefix("10.40.0.0/24")},
		"":                  {Prefix: netip.MustParsePrefix("10.50.0.0/24")},
	}})
	elsewhere := spec("b")
	elsewhere.Network = "default/other"
	if m := powerOn(t, d, spec("a")); m.Address.String() != "10.40.0.10/24" {
		t.Errorf("%v", m.Address)
	}
	if m := powerOn(t, d, elsewhere); m.Address.String() != "10.50.0.10/24" {
		t.Errorf("%v", m.Address)
	}
	d.PowerOff("b")
	if m := powerOn(t, d, spec("b")); m.Address.String() != "10.40.0.11/24" {
		t.Errorf("moved to another network: %v", m.Address)
	}
}

func TestRefusals(t *testing.T) {
	d := open(t, datacenter.Options{Dir: t.TempDir()})
	lost := spec("a")
	lost.Network = "default/unknown"
	tests := map[string]datacenter.Spec{"unknown network": lost, "no ID": spec(""), "ID that is a path": spec("../a"), "hidden ID": spec(".a")}
	for name, s := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := d.PowerOn(s); err == nil {
				t.Error("powered on")
			}
		})
	}
	if err := d.Remove("../.."); err == nil {
		t.Error("removed a path")
	}
	d.Close()
	if _, err := d.PowerOn(spec("late")); err == nil {
		t.Error("powered on in a closed datacenter")
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	good := datacenter.Options{Dir: t.TempDir(), Network: network.New(), Boot: untilOff}
	tests := map[string]func(*datacenter.Options){
		"no directory": func(o *datacenter.Options) { o.Dir = "" },
		"no network":   func(o *datacenter.Options) { o.Network = nil },
		"no boot":      func(o *datacenter.Options) { o.Boot = nil },
		"no prefix":    func(o *datacenter.Options) { o.Subnets = map[string]datacenter.Subnet{"x": {}} },
		"gateway elsewhere": func(o *datacenter.Options) {
			o.Subnets = map[string]datacenter.Subnet{"x": {Prefix: netip.MustParsePrefix("10.0.0.0/24"), Gateway: netip.MustParseAddr("10.0.1.1")}}
		},
		"range backwards": func(o *datacenter.Options) {
			o.Subnets = map[string]datacenter.Subnet{"x": {Prefix: netip.MustParsePrefix("10.0.0.0/24"), Reserved: []datacenter.Range{
				{From: netip.MustParseAddr("10.0.0.9"), To: netip.MustParseAddr("10.0.0.1")},
			}}}
		},
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			o := good
			spoil(&o)
			if _, err := datacenter.New(o); err == nil {
				t.Error("opened")
			}
		})
	}
}

func TestUnreadableLeaseIsAnError(t *testing.T) {
	dir := t.TempDir()
	powerOn(t, open(t, datacenter.Options{Dir: dir}), spec("a"))
	if err := os.WriteFile(filepath.Join(dir, "leases", "a.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := datacenter.New(datacenter.Options{Dir: dir, Network: network.New(), Boot: untilOff, Subnets: subnets()}); err == nil {
		t.Error("a lost lease would give the address away twice")
	}
}
