// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/internal/talos"
)

const (
	endpointName = "api.dev.example.com"
	balancerIP   = "203.0.113.10"
)

// named is a cluster whose endpoint is a name, with the address of a balancer on the
// control planes.
func named() talos.Cluster {
	c := testCluster()
	c.Endpoint, c.SharedIP, c.LoopbackAddress = endpointName, talos.SharedIP{}, balancerIP
	return c
}

func (s *site) apply(t *testing.T, cluster talos.Cluster, name string, role talos.Role) (address string) {
	t.Helper()
	address = s.powerOn(t, name).Address.Addr().String()
	s.awaitState(t, address, talos.StateMaintenance)
	config, err := talos.Config(s.secrets, cluster, talos.Node{Name: name, Role: role, Loopback: true})
	check(t, err)
	check(t, s.client.Apply(t.Context(), address, config))
	return address
}

func TestNamedEndpoint(t *testing.T) {
	t.Parallel()
	s := newSite(t, simtalos.Options{Executable: planetest.Executable(t), Profile: datacenter.Profile{EtcdHealth: time.Hour}})
	first := s.apply(t, named(), "cp-0", talos.ControlPlane)
	second := s.apply(t, named(), "cp-1", talos.ControlPlane)
	s.awaitState(t, first, talos.StateConfigured)
	if _, err := s.network.Dial(t.Context(), "tcp", endpointName+":6443"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the name before the bootstrap: %v", err)
	}
	s.bootstrap(t, first)
	check(t, s.network.Await(t.Context(), endpointName+":6443"))
	client := s.kubernetes(t, first) // its kubeconfig has the name, and its TLS is verified
	awaitNode(t, client, "cp-0")
	awaitNode(t, client, "cp-1")
	t.Run("a balancer passes through to the address on lo", func(t *testing.T) { passthrough(t, s, first) })
	t.Run("addresses on lo change without a restart", func(t *testing.T) { changeLoopback(t, s, first) })
	t.Run("one that joins learns before it votes", func(t *testing.T) { learner(t, s, first, second) })
	t.Run("a graceful reset leaves etcd", func(t *testing.T) { gracefulReset(t, s, first, second) })
}

func passthrough(t *testing.T, s *site, target string) {
	targets := func() []netip.AddrPort {
		return []netip.AddrPort{netip.AddrPortFrom(netip.MustParseAddr(target), 6443)}
	}
	for at, want := range map[string]error{balancerIP: nil, "203.0.113.11": syscall.ETIMEDOUT} {
		stop, err := s.network.Balance(at+":6443", targets, true)
		check(t, err)
		conn, err := s.network.Dial(t.Context(), "tcp", at+":6443")
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("balancer at %s: %v, want %v", at, err, want)
		}
		if err == nil {
			_ = conn.Close()
		}
		stop()
	}
}

// changeLoopback takes the address from a control plane that runs, and gives it back.
func changeLoopback(t *testing.T, s *site, address string) {
	if ready, err := s.client.APIServerReady(t.Context(), address, "cp-0"); err != nil || !ready {
		t.Errorf("its own API server is ready: %v, %v", ready, err)
	}
	if ready, err := s.client.APIServerReady(t.Context(), address, "cp-1"); err != nil || ready {
		t.Errorf("it has the API server of another: %v, %v", ready, err)
	}
	vip, machine := netip.MustParseAddr(balancerIP), netip.MustParseAddr(address)
	for _, n := range []talos.Node{{Loopback: false}, {Loopback: true}} {
		n.Name, n.Role = "cp-0", talos.ControlPlane
		config, err := talos.Config(s.secrets, named(), n)
		check(t, err)
		check(t, s.client.Update(t.Context(), address, config))
		if got := s.network.HasAlias(machine, vip); got != n.Loopback {
			t.Errorf("it has the address: %v, want %v", got, n.Loopback)
		}
	}
	config, err := talos.Config(s.secrets, named(), talos.Node{Name: "cp-0", Role: talos.ControlPlane, Labels: map[string]string{"a": "b"}})
	check(t, err)
	if err := s.client.Update(t.Context(), address, config); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a change that needs a restart: %v", err)
	}
}

// learner finds that the first etcd was not checked so far, and that the second one
// does not vote: both run, and neither is up.
func learner(t *testing.T, s *site, first, second string) {
	const refusal = "etcdserver: rpc not supported for learner"
	for address, want := range map[string]string{first: "Started task etcd", second: "Health check failed: " + refusal} {
		var etcd talos.Service
		eventually(t, func(ctx context.Context) bool {
			services, err := s.client.Services(ctx, address)
			for _, service := range services {
				if service.ID == "etcd" {
					etcd = service
				}
			}
			return err == nil && etcd.State == "Running"
		}, func() any { return etcd })
		if etcd.Up() || etcd.Message != want {
			t.Errorf("etcd on %s: up %v, %+v; want %q", address, etcd.Up(), etcd, want)
		}
	}
	members, err := s.client.Members(t.Context(), first)
	if err != nil || len(members) != 2 || members[0].Learner || !members[1].Learner {
		t.Errorf("members by the one that votes: %+v, %v", members, err)
	}
	_, err = s.client.Members(t.Context(), second)
	if status.Code(err) != codes.Unknown || !strings.Contains(err.Error(), refusal) {
		t.Errorf("members by the learner: %v", err)
	}
}

func gracefulReset(t *testing.T, s *site, first, second string) {
	check(t, s.client.Reset(t.Context(), second, true))
	s.awaitState(t, second, talos.StateMaintenance)
	var members []talos.Member
	eventually(t, func(ctx context.Context) bool {
		var err error
		members, err = s.client.Members(ctx, first)
		return err == nil && len(members) == 1
	}, func() any { return members })
	if already, err := s.client.Bootstrap(t.Context(), first); err != nil || !already {
		t.Errorf("bootstrap of the one that stays: already %v, %v", already, err)
	}
}
