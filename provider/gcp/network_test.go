// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"strings"
	"testing"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider/cloud"
)

// TestFirewallRulesAreRead as Compute Engine writes them.
func TestFirewallRulesAreRead(t *testing.T) {
	allow := func(protocol string, ports ...string) []*computepb.Allowed {
		return []*computepb.Allowed{{IPProtocol: &protocol, Ports: ports}}
	}
	machines := cloud.Source{Ranges: prefixes([]string{"10.0.0.0/16"}), Groups: []string{"tag node"}}
	etcd := cloud.Need{Protocol: "tcp", From: 2379, To: 2380}
	for name, c := range map[string]struct {
		*computepb.Firewall
		want bool
	}{
		"a range of ports":       {&computepb.Firewall{SourceRanges: []string{"10.0.0.0/8"}, Allowed: allow("tcp", "2000-3000")}, true},
		"single ports":           {&computepb.Firewall{SourceRanges: []string{"10.0.0.0/8"}, Allowed: allow("6", "2379", "2380")}, true},
		"one port is missing":    {&computepb.Firewall{SourceRanges: []string{"10.0.0.0/8"}, Allowed: allow("tcp", "2379")}, false},
		"all of a protocol":      {&computepb.Firewall{SourceTags: []string{"node"}, Allowed: allow("tcp")}, true},
		"everything":             {&computepb.Firewall{SourceTags: []string{"node"}, Allowed: allow("all")}, true},
		"another tag":            {&computepb.Firewall{SourceTags: []string{"other"}, Allowed: allow("all")}, false},
		"another protocol":       {&computepb.Firewall{SourceRanges: []string{"0.0.0.0/0"}, Allowed: allow("udp")}, false},
		"a part of the machines": {&computepb.Firewall{SourceRanges: []string{"10.0.1.0/24"}, Allowed: allow("all")}, false},
	} {
		if got := cloud.Allows(rulesOf(c.Firewall), etcd, machines); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	deny := &computepb.Firewall{SourceRanges: []string{"10.0.0.0/8"}, Priority: new(int32(10)), Denied: []*computepb.Denied{{IPProtocol: new("tcp"), Ports: []string{"2379"}}}}
	both := append(rulesOf(&computepb.Firewall{SourceRanges: []string{"0.0.0.0/0"}, Priority: new(int32(1000)), Allowed: allow("all")}), rulesOf(deny)...)
	if cloud.Allows(both, etcd, machines) {
		t.Error("a rule of a lower priority number denies")
	}
}

func TestCloudNATServesASubnetwork(t *testing.T) {
	subnet := &computepb.Subnetwork{SelfLink: new("https://x/compute/v1/projects/p/regions/r/subnetworks/s"), IpCidrRange: new("10.0.0.0/24")}
	list := func(name string) *computepb.RouterNat {
		return &computepb.RouterNat{SourceSubnetworkIpRangesToNat: new("LIST_OF_SUBNETWORKS"), Subnetworks: []*computepb.RouterNatSubnetworkToNat{{Name: &name}}}
	}
	for name, c := range map[string]struct {
		nat  *computepb.RouterNat
		want bool
	}{
		"all":       {&computepb.RouterNat{SourceSubnetworkIpRangesToNat: new("ALL_SUBNETWORKS_ALL_IP_RANGES")}, true},
		"this one":  {list("https://y/compute/v1/projects/p/regions/r/subnetworks/s"), true},
		"other one": {list("https://y/compute/v1/projects/p/regions/r/subnetworks/other"), false},
	} {
		if got := serves(c.nat, subnet); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if capacity(subnet) != 252 || !strings.HasPrefix(subnet.GetIpCidrRange(), rangesOf(subnet)[0].Addr().String()) {
		t.Errorf("a /24 has %d addresses", capacity(subnet))
	}
}
