// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter_test

import (
	"errors"
	"net/netip"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/cloudinit"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// withoutDHCP is a network in which no server answers.
func withoutDHCP() map[string]datacenter.Subnet {
	return map[string]datacenter.Subnet{"default/workloads": {Prefix: netip.MustParsePrefix("10.40.0.0/24"), NoDHCP: true}}
}

// configured is a machine with network data.
func configured(id, data string) datacenter.Spec {
	s := spec(id)
	s.NetworkData = []byte(data)
	return s
}

func static(address, gateway string) string {
	return "version: 2\nethernets: {eth0: {addresses: [" + address + "], gateway4: " + gateway + "}}"
}

func reaches(t *testing.T, n *network.Network, address string) error {
	t.Helper()
	conn, err := n.DialFrom(t.Context(), network.Workstation(), "tcp", address+":50000")
	if err == nil {
		_ = conn.Close()
	}
	return err
}

func awaitReached(t *testing.T, n *network.Network, address string) {
	t.Helper()
	if err := n.AwaitFrom(t.Context(), network.Workstation(), address+":50000"); err != nil {
		t.Fatal(err)
	}
}

func TestNetworkWithoutDHCP(t *testing.T) {
	for name, tt := range map[string]struct {
		data, address string
		unreachable   error // from outside of the subnet
	}{
		"address in network data": {data: static("10.40.0.11/24", "10.40.0.1"), address: "10.40.0.11/24"},
		"wrong gateway":           {data: static("10.40.0.11/24", "10.40.0.254"), address: "10.40.0.11/24", unreachable: syscall.ETIMEDOUT},
		"no gateway":              {data: "version: 2\nethernets: {eth0: {addresses: [10.40.0.11/24]}}", address: "10.40.0.11/24", unreachable: syscall.ETIMEDOUT},
		"gateway out of reach":    {data: static("10.40.0.11/32", "10.40.0.1"), address: "10.40.0.11/32", unreachable: syscall.ETIMEDOUT},
		"another subnet":          {data: static("10.40.9.11/24", "10.40.9.1"), address: "10.40.9.11/24", unreachable: syscall.EHOSTUNREACH},
		"no network data":         {},
		"asks for a lease":        {data: "version: 2\nethernets: {eth0: {dhcp4: true}}"},
		"interface without any":   {data: "version: 2\nethernets: {eth0: {}}"},
		"data that is ignored":    {data: static("10.40.0.11", "10.40.0.1")},
		"data of another machine": {data: "version: 2\nethernets: {x: {match: {macaddress: '52:54:00:00:00:00'}, addresses: [10.40.0.11/24]}}"},
	} {
		t.Run(name, func(t *testing.T) {
			n := network.New()
			d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Boot: answering, Subnets: withoutDHCP()})
			m := powerOn(t, d, configured("a", tt.data))
			switch {
			case tt.address == "" && m.Address.IsValid(), tt.address != "" && m.Address.String() != tt.address:
				t.Fatalf("address %v, want %q", m.Address, tt.address)
			case tt.address == "":
				if _, err := n.Dial(t.Context(), "tcp", "10.40.0.11:50000"); !errors.Is(err, syscall.EHOSTUNREACH) {
					t.Errorf("without an address: %v", err)
				}
				return
			case tt.unreachable == nil:
				awaitReached(t, n, m.Address.Addr().String())
				return
			}
			if err := reaches(t, n, m.Address.Addr().String()); !errors.Is(err, tt.unreachable) {
				t.Errorf("from outside: %v, want %v", err, tt.unreachable)
			}
			if !m.Stranded() {
				t.Error("it gets out")
			}
		})
	}
}

// TestStrandedMachineIsReachedInItsSubnet: a wrong gateway matters to others only.
func TestStrandedMachineIsReachedInItsSubnet(t *testing.T) {
	n := network.New()
	d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Boot: answering, Subnets: withoutDHCP()})
	powerOn(t, d, configured("a", static("10.40.0.11/24", "10.40.0.254")))
	if err := n.AwaitFrom(t.Context(), network.Source{Address: netip.MustParseAddr("10.40.0.12")}, "10.40.0.11:50000"); err != nil {
		t.Error(err)
	}
	if err := reaches(t, n, "10.40.0.11"); !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("from outside: %v", err)
	}
}

func TestAssignedAddressNeedsNoOtherDHCP(t *testing.T) {
	s := spec("a")
	s.Address = netip.MustParseAddr("10.40.0.11")
	n := network.New()
	d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Boot: answering, Subnets: withoutDHCP()})
	if m := powerOn(t, d, s); m.Address.String() != "10.40.0.11/24" || m.Gateway.String() != "10.40.0.1" {
		t.Errorf("address %v, gateway %v", m.Address, m.Gateway)
	}
	awaitReached(t, n, "10.40.0.11")
}

func TestTwoMachinesWithOneAddressViolateAnInvariant(t *testing.T) {
	dir, n := t.TempDir(), network.New()
	auditor, err := audit.Open(audit.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	d := open(t, datacenter.Options{
		Dir: filepath.Join(dir, "datacenter"), Network: n, Boot: answering, Subnets: withoutDHCP(), PoweredOff: auditor.PoweredOff,
		PoweredOn: func(s datacenter.Spec, a netip.Addr) { auditor.PoweredOn(s.ID, s.Name, a) },
	})
	powerOn(t, d, configured("a", static("10.40.0.11/24", "10.40.0.1")))
	awaitReached(t, n, "10.40.0.11")
	if m := powerOn(t, d, configured("b", static("10.40.0.11/24", "10.40.0.1"))); m.Address.String() != "10.40.0.11/24" {
		t.Errorf("the second has %v", m.Address)
	}
	if found, err := audit.Violations(dir); err != nil || len(found) != 1 || found[0].Invariant != audit.OneAddress {
		t.Errorf("violations: %v, %v", found, err)
	}
	if !n.InConflict(netip.MustParseAddr("10.40.0.11")) {
		t.Error("no conflict")
	}
	d.PowerOff("a")
	awaitReached(t, n, "10.40.0.11")
}

func TestConflictingHostComesAndGoes(t *testing.T) {
	address := netip.MustParseAddr("10.40.0.11")
	n, faults := network.New(), fault.NewInjector(fault.Plan{})
	d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Boot: answering, Faults: faults, Subnets: withoutDHCP()})
	powerOn(t, d, configured("a", static("10.40.0.11/24", "10.40.0.1")))
	awaitReached(t, n, address.String())
	faults.Replace(fault.Plan{Faults: []fault.Fault{{Kind: fault.ConflictingHost, Address: address.String()}}})
	awaitConflict(t, n, address, true)
	var refused, answered int
	for range 6 {
		switch err := reaches(t, n, address.String()); {
		case err == nil:
			answered++
		case errors.Is(err, syscall.ECONNREFUSED):
			refused++
		}
	}
	if refused != 3 || answered != 3 {
		t.Errorf("%d refused, %d answered", refused, answered)
	}
	faults.Replace(fault.Plan{})
	awaitConflict(t, n, address, false)
	if err := reaches(t, n, address.String()); err != nil {
		t.Errorf("after the conflict: %v", err)
	}
}

// TestMachinesWithoutARouterReachTheirSubnet: those with a lease too.
func TestMachinesWithoutARouterReachTheirSubnet(t *testing.T) {
	n, faults := network.New(), fault.NewInjector(fault.Plan{})
	d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Boot: answering, Faults: faults})
	m := powerOn(t, d, spec("a"))
	awaitReached(t, n, "10.40.0.10")
	faults.Replace(fault.Plan{Faults: []fault.Fault{{Kind: fault.NoGateway}}})
	awaitChange(t, n, m.Stranded)
	if err := reaches(t, n, "10.40.0.10"); !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("from outside: %v", err)
	}
	late := powerOn(t, d, spec("b"))
	if !late.Stranded() {
		t.Error("a new machine gets out")
	}
	if err := n.AwaitFrom(t.Context(), network.Source{Address: late.Address.Addr()}, "10.40.0.10:50000"); err != nil {
		t.Error(err)
	}
	faults.Replace(fault.Plan{})
	awaitReached(t, n, "10.40.0.10")
	awaitReached(t, n, "10.40.0.11")
}

func awaitConflict(t *testing.T, n *network.Network, address netip.Addr, want bool) {
	t.Helper()
	awaitChange(t, n, func() bool { return n.InConflict(address) == want })
}

func awaitChange(t *testing.T, n *network.Network, done func() bool) {
	t.Helper()
	for {
		changed := n.Changed()
		if done() {
			return
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
}

// TestLeasesGoRoundConflictingHosts as those of a server that asks first.
func TestLeasesGoRoundConflictingHosts(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		faults := fault.NewInjector(fault.Plan{Faults: []fault.Fault{{Kind: fault.ConflictingHost, Address: "10.40.0.10"}}})
		d := open(t, datacenter.Options{Dir: dir, Faults: faults})
		synctest.Wait()
		if m := powerOn(t, d, spec("a")); m.Address.String() != "10.40.0.11/24" {
			t.Errorf("address %v", m.Address)
		}
	})
}

func TestGuestConfiguresItsInterface(t *testing.T) {
	n, booted := network.New(), make(chan datacenter.Machine, 1)
	d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Boot: recording(booted), Subnets: withoutDHCP()})
	powerOn(t, d, spec("a"))
	m := <-booted
	select {
	case <-m.Addressed():
		t.Error("addressed without an address")
	default:
	}
	at := cloudinit.Interface{Addresses: []netip.Prefix{netip.MustParsePrefix("10.40.0.11/24")}, Gateway: netip.MustParseAddr("10.40.0.1")}
	m, err := m.Configure(at)
	if err != nil || m.Address.String() != "10.40.0.11/24" {
		t.Fatalf("address %v, %v", m.Address, err)
	}
	if id := <-d.Addressed(); id != "a" {
		t.Errorf("addressed: %s", id)
	}
	<-m.Addressed()
	awaitReached(t, n, "10.40.0.11")
	at.Addresses = append(at.Addresses, netip.MustParsePrefix("10.40.0.12/24"))
	if m, err = m.Configure(at); err != nil || len(m.Further) != 1 {
		t.Errorf("further: %v, %v", m.Further, err)
	}
	awaitReached(t, n, "10.40.0.12")
	if m, err = m.Configure(cloudinit.Interface{DHCP: true}); err != nil || m.Address.IsValid() {
		t.Errorf("address %v, %v", m.Address, err)
	}
	if err := reaches(t, n, "10.40.0.11"); !errors.Is(err, syscall.EHOSTUNREACH) {
		t.Errorf("the old address: %v", err)
	}
	d.PowerOff("a")
	if _, err := m.Configure(at); err == nil {
		t.Error("a machine that is off is configured")
	}
}

func TestMachineWithoutAddressBoots(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		booted := make(chan datacenter.Machine, 1)
		d := open(t, datacenter.Options{Dir: dir, Boot: recording(booted), Subnets: withoutDHCP(), Profile: datacenter.Profile{Boot: 25 * time.Second}})
		powerOn(t, d, spec("a"))
		if m := <-booted; m.Address.IsValid() || m.Host == nil {
			t.Errorf("address %v, host %v", m.Address, m.Host)
		}
		synctest.Wait()
		select {
		case id := <-d.Addressed():
			t.Errorf("%s was announced", id)
		default:
		}
	})
}
