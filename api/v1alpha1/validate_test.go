// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"
	"testing"
)

func TestNetworkValidateKnowsTheOrderOfAddresses(t *testing.T) {
	for name, c := range map[string]struct{ vip, start, end, refusal string }{
		"IPv4":                      {"10.40.0.9", "10.40.0.10", "10.40.0.20", ""},
		"a pool of one":             {"10.40.0.9", "10.40.0.10", "10.40.0.10", ""},
		"IPv4, end first":           {"", "10.40.0.20", "10.40.0.10", "must not lie after end"},
		"IPv6":                      {"fd00::9", "fd00::a", "fd00::10", ""},
		"IPv6, end first":           {"", "fd00::10", "fd00::a", "start fd00::10 must not lie after end fd00::a"},
		"IPv6, VIP is the start":    {"fd00::a", "fd00::a", "fd00::10", "spec.network.vip fd00::a must lie outside"},
		"IPv6, VIP within":          {"fd00:0::f", "fd00::a", "fd00::10", "spec.network.vip fd00::f must lie outside"},
		"IPv6, VIP behind":          {"fd00::11", "fd00::a", "fd00::10", ""},
		"VIP of the other family":   {"10.40.0.9", "::", "ffff::", ""},
		"VIP is a name":             {"api.example.com", "10.40.0.10", "10.40.0.20", ""},
		"two families":              {"", "10.40.0.10", "fd00::a", "must both be IPv4 or both be IPv6"},
		"start that is no address":  {"", "10.40.0.300", "10.40.0.20", `start "10.40.0.300" must be an IP address`},
		"end that is not there":     {"", "10.40.0.10", "", `end "" must be an IP address`},
		"octets compare as numbers": {"10.40.0.100", "10.40.0.20", "10.40.0.99", ""},
	} {
		err := NetworkSpec{VIP: c.vip, LoadBalancerPool: &AddressRange{Start: c.start, End: c.end}}.Validate()
		if (err == nil) != (c.refusal == "") || err != nil && !strings.Contains(err.Error(), c.refusal) {
			t.Errorf("%s: got %v, want %q", name, err, c.refusal)
		}
	}
	if err := (NetworkSpec{VIP: "10.40.0.9"}).Validate(); err != nil {
		t.Errorf("without a pool: %v", err)
	}
}

func TestValidateRefusesLabelsThatNoNodeCanHave(t *testing.T) {
	good := map[string]string{"example.com/zone": "a", "plain": ""}
	for refusal, labels := range map[string]map[string]string{
		"":                                   good,
		`labels: key "no spaces"`:            {"no spaces": "a"},
		`labels: key "a/b/c"`:                {"a/b/c": "a"},
		`labels: value "a b" of example.com`: {"example.com": "a b"},
	} {
		for pool, spec := range map[string]ClusterBootstrapSpec{
			"spec.cluster.controlPlane.": {Cluster: ClusterSpec{ControlPlane: NodePool{Labels: labels}}},
			"spec.cluster.workers.":      {Cluster: ClusterSpec{ControlPlane: NodePool{Labels: good}, Workers: &NodePool{Labels: labels}}},
		} {
			err := spec.Validate()
			if (err == nil) != (refusal == "") || err != nil && !strings.Contains(err.Error(), pool+refusal) {
				t.Errorf("%s: got %v, want %q", pool, err, refusal)
			}
		}
	}
}

func TestValidateReportsEverythingAtOnce(t *testing.T) {
	err := ClusterBootstrapSpec{
		Network: NetworkSpec{LoadBalancerPool: &AddressRange{Start: "fd00::2", End: "fd00::1"}},
		Cluster: ClusterSpec{ControlPlane: NodePool{Labels: map[string]string{"no spaces": ""}}},
	}.Validate()
	if err == nil || !strings.Contains(err.Error(), "must not lie after end") || !strings.Contains(err.Error(), "no spaces") {
		t.Errorf("got %v", err)
	}
}
