// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/gcp"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

const (
	groups   = "/zones/" + zone + "/instanceGroups"
	region   = "/regions/europe-west3"
	checks   = region + "/healthChecks"
	services = region + "/backendServices"
	rules    = region + "/forwardingRules"
)

func link(path string) string {
	return "https://www.googleapis.com/compute/v1/projects/" + project + path
}

// balance creates all parts of an external load balancer with one instance, and returns its
// address.
func (f *fixture) balance(t *testing.T) string {
	t.Helper()
	f.succeed(t, http.MethodPost, region+"/addresses", object{"name": "lb"})
	address := f.get(t, region+"/addresses/lb")["address"].(string)
	f.Booted = func(m datacenter.Machine) { m.Host.Alias(netip.MustParseAddr(address)) }
	f.succeed(t, http.MethodPost, instances, machine("cp-0"))
	f.succeed(t, http.MethodPost, groups, object{"name": "lb-a"})
	f.succeed(t, http.MethodPost, groups+"/lb-a/addInstances", object{"instances": []any{object{"instance": link(instances + "/cp-0")}}})
	f.succeed(t, http.MethodPost, checks, object{"name": "lb", "type": "TCP", "tcpHealthCheck": object{"port": cloudtest.Port}})
	f.succeed(t, http.MethodPost, services, object{
		"name": "lb", "loadBalancingScheme": "EXTERNAL", "protocol": "TCP", "healthChecks": []any{link(checks + "/lb")},
		"backends": []any{object{"group": link(groups + "/lb-a"), "balancingMode": "CONNECTION"}},
	})
	f.succeed(t, http.MethodPost, "/global/firewalls", object{
		"name": "lb", "sourceRanges": []any{"203.0.113.0/24"}, "destinationRanges": []any{address + "/32"}, "allowed": []any{object{"IPProtocol": "tcp", "ports": []any{"6443"}}},
	})
	f.succeed(t, http.MethodPost, rules, object{
		"name": "lb", "loadBalancingScheme": "EXTERNAL", "IPProtocol": "TCP", "ports": []any{"6443"}, "IPAddress": address, "backendService": link(services + "/lb"),
	})
	return address
}

// health is that of the only instance.
func (f *fixture) health(t *testing.T) string {
	t.Helper()
	_, body := f.call(http.MethodPost, services+"/lb/getHealth", object{"group": link(groups + "/lb-a")})
	all, _ := body["healthStatus"].([]any)
	if len(all) != 1 {
		return ""
	}
	return all[0].(object)["healthState"].(string)
}

func (f *fixture) becomes(t *testing.T, want string) {
	t.Helper()
	for tick, end := time.Tick(10*time.Millisecond), time.Now().Add(10*time.Second); f.health(t) != want; <-tick {
		if time.Now().After(end) {
			t.Fatalf("the instance is %q, not %q", f.health(t), want)
		}
	}
}

// dial connects from an address outside.
func (f *fixture) dial(t *testing.T, from, to string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	conn, err := f.Network.DialFrom(ctx, network.Source{Outside: true, Address: netip.MustParseAddr(from)}, "tcp", to)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

func TestAPassthroughLoadBalancerLivesAndEnds(t *testing.T) {
	f := start(t, gcp.Seed{})
	address := f.balance(t)
	f.becomes(t, "HEALTHY")
	for client, admitted := range map[string]bool{"203.0.113.7": true, "198.51.100.7": false} {
		if err := f.dial(t, client, address+":6443"); err == nil != admitted {
			t.Errorf("from %s: %v", client, err)
		}
	}
	for _, part := range []struct{ path, user string }{
		{region + "/addresses/lb", "/forwardingRules/lb"}, {checks + "/lb", "/backendServices/lb"}, {services + "/lb", "/forwardingRules/lb"}, {groups + "/lb-a", "/backendServices/lb"},
	} {
		if got := reason(f.call(http.MethodDelete, part.path, nil)); !strings.HasPrefix(got, "400 resourceInUseByAnotherResource: ") || !strings.Contains(got, part.user) {
			t.Errorf("delete %s: %s", part.path, got)
		}
	}
	for _, path := range []string{rules + "/lb", "/global/firewalls/lb", services + "/lb", checks + "/lb", groups + "/lb-a", region + "/addresses/lb", instances + "/cp-0"} {
		f.succeed(t, http.MethodDelete, path, nil)
	}
	if f.dial(t, "203.0.113.7", address+":6443") == nil {
		t.Error("it still answers")
	}
}
