// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/network"
	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/internal/talos"
)

// withoutDHCP restarts the site in a network without a DHCP server.
func (s *site) withoutDHCP(t *testing.T) {
	t.Helper()
	s.subnet.NoDHCP = true
	s.datacenter.Close()
	s.start(t)
}

func static(id, networkData string) datacenter.Spec {
	return datacenter.Spec{ID: id, Name: id, CPU: 4, MemoryMB: 8192, MAC: "02:00:00:aa:bb:01", NetworkData: []byte(networkData)}
}

const staticData = "version: 1\nconfig: [{type: physical, name: x, mac_address: '02:00:00:AA:BB:01', subnets: [{type: static, address: 10.40.0.11, netmask: 255.255.255.0, gateway: 10.40.0.1}]}]"

// staticConfig is the configuration of a control plane with an address of its own.
func (s *site) staticConfig(t *testing.T, version, gateway string) []byte {
	t.Helper()
	c := testCluster()
	c.TalosVersion = version
	config, err := talos.Config(s.secrets, c, talos.Node{Name: "cp-0", Role: talos.ControlPlane, Static: talos.Static{
		Address: netip.MustParsePrefix("10.40.0.11/24"), Gateway: netip.MustParseAddr(gateway), MAC: "02:00:00:aa:bb:01",
	}})
	check(t, err)
	return config
}

// TestNodeKeepsItsAddressWithoutItsDisk: the address of the configuration is on the disk of the
// node.
func TestNodeKeepsItsAddressWithoutItsDisk(t *testing.T) {
	for _, version := range []string{"v1.9.2", "v1.13.0"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, simtalos.Options{})
			s.withoutDHCP(t)
			m, err := s.datacenter.PowerOn(static("cp-0", staticData))
			check(t, err)
			if m.Address.String() != "10.40.0.11/24" {
				t.Fatalf("address %v", m.Address)
			}
			s.awaitState(t, "10.40.0.11", talos.StateMaintenance)
			check(t, s.client.Apply(t.Context(), "10.40.0.11", s.staticConfig(t, version, "10.40.0.1")))
			s.awaitState(t, "10.40.0.11", talos.StateConfigured)
			s.datacenter.PowerOff("cp-0")
			_, err = s.datacenter.PowerOn(static("cp-0", ""))
			check(t, err)
			s.awaitState(t, "10.40.0.11", talos.StateConfigured)
		})
	}
}

// TestNodeWithoutAddressIsNotReached: it runs, and nothing gets to it.
func TestNodeWithoutAddressIsNotReached(t *testing.T) {
	t.Parallel()
	s := newSite(t, simtalos.Options{})
	s.withoutDHCP(t)
	m, err := s.datacenter.PowerOn(static("cp-0", ""))
	check(t, err)
	eventually(t, func(context.Context) bool { return strings.Contains(s.log.String(), "maintenance mode") }, func() any { return "no maintenance mode" })
	if on, _ := s.datacenter.Running("cp-0"); on.Address.IsValid() || m.Address.IsValid() {
		t.Errorf("address %v", on.Address)
	}
	if state, err := s.client.State(t.Context(), "10.40.0.11"); err == nil {
		t.Errorf("state %s", state)
	}
}

// TestNodeWithAWrongGatewayDoesNotStartEtcd: it has no time, and no images.
func TestNodeWithAWrongGatewayDoesNotStartEtcd(t *testing.T) {
	t.Parallel()
	s := newSite(t, simtalos.Options{})
	s.withoutDHCP(t)
	_, err := s.datacenter.PowerOn(static("cp-0", strings.Replace(staticData, "10.40.0.1}", "10.40.0.254}", 1)))
	check(t, err)
	s.awaitState(t, "10.40.0.11", talos.StateMaintenance) // the simulator itself reaches all nodes
	check(t, s.client.Apply(t.Context(), "10.40.0.11", s.staticConfig(t, "v1.9.2", "10.40.0.254")))
	s.awaitState(t, "10.40.0.11", talos.StateConfigured)
	if _, err := s.client.Bootstrap(t.Context(), "10.40.0.11"); err == nil || !strings.Contains(err.Error(), "time is not in sync yet") {
		t.Errorf("bootstrap: %v", err)
	}
	services, err := s.client.Services(t.Context(), "10.40.0.11")
	check(t, err)
	for _, name := range []string{"etcd", "kubelet"} {
		i := slices.IndexFunc(services, func(one talos.Service) bool { return one.ID == name })
		if i < 0 || services[i].Healthy || services[i].Message != "Waiting for time sync" {
			t.Errorf("%s: %+v", name, services)
		}
	}
	if _, err := s.network.DialFrom(t.Context(), network.Workstation(), "tcp", "10.40.0.11:50000"); err == nil {
		t.Error("the workstation gets an answer")
	}
	check(t, s.client.Update(t.Context(), "10.40.0.11", s.staticConfig(t, "v1.9.2", "10.40.0.1")))
	eventually(t, func(ctx context.Context) bool {
		return s.network.AwaitFrom(ctx, network.Workstation(), "10.40.0.11:50000") == nil
	}, func() any { return "no answer" })
}
