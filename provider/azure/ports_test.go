// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/provider"
)

// inbound is a rule: priority, access, protocol, source, ports.
func inbound(priority int32, access armnetwork.SecurityRuleAccess, protocol, source, ports string) *armnetwork.SecurityRule {
	return &armnetwork.SecurityRule{Name: new("r"), Properties: &armnetwork.SecurityRulePropertiesFormat{
		Priority: &priority, Access: &access, Direction: new(armnetwork.SecurityRuleDirectionInbound), Protocol: new(armnetwork.SecurityRuleProtocol(protocol)),
		SourceAddressPrefix: &source, DestinationPortRanges: pointers(strings.Split(ports, ",")),
	}}
}

func toward(destination string, r *armnetwork.SecurityRule) *armnetwork.SecurityRule {
	r.Properties.DestinationAddressPrefix = &destination
	return r
}

// TestTheGroupOfASubnetGetsNoRule: what it lacks for clients is named, and not refused.
func TestTheGroupOfASubnetGetsNoRule(t *testing.T) {
	found := firewall(defaults(), []netip.Prefix{netip.MustParsePrefix("10.0.1.0/24")}, false).Missing("group")
	unlessInternal(found, false)
	if len(found) != 2 {
		t.Fatalf("%+v", found)
	}
	for _, f := range found {
		if f.Verdict != provider.Unknown || !strings.Contains(f.Message, fromClients) {
			t.Errorf("%+v", f)
		}
	}
}

func defaults() []*armnetwork.SecurityRule {
	return []*armnetwork.SecurityRule{
		inbound(65000, armnetwork.SecurityRuleAccessAllow, "*", fromNetwork, "*"), inbound(65001, armnetwork.SecurityRuleAccessAllow, "*", fromBalancer, "*"),
		inbound(65500, armnetwork.SecurityRuleAccessDeny, "*", "*", "*"),
	}
}

func TestMissingRulesAreNamed(t *testing.T) {
	const allow, deny = armnetwork.SecurityRuleAccessAllow, armnetwork.SecurityRuleAccessDeny
	machines := []netip.Prefix{netip.MustParsePrefix("10.0.1.0/24")}
	for name, c := range map[string]struct {
		rules []*armnetwork.SecurityRule
		want  []string // a part of each finding
	}{
		"the rules of every group":         {nil, nil},
		"one that refuses all to a port":   {[]*armnetwork.SecurityRule{inbound(100, deny, "Tcp", "*", "6443")}, []string{"probes", "clients", "6443 from the machines"}},
		"one that is behind another":       {[]*armnetwork.SecurityRule{inbound(100, allow, "*", "*", "*"), inbound(200, deny, "*", "*", "*")}, nil},
		"one that refuses some machines":   {[]*armnetwork.SecurityRule{inbound(100, deny, "Tcp", "10.0.1.128/25", "2000-3000")}, []string{"2379-2380"}},
		"one that refuses other addresses": {[]*armnetwork.SecurityRule{inbound(100, deny, "Tcp", "192.168.0.0/16", "*")}, nil},
		"one that allows it to machines":   {[]*armnetwork.SecurityRule{inbound(100, allow, "Tcp", "10.0.0.0/16", "10250"), inbound(200, deny, "Tcp", fromNetwork, "10250")}, nil},
		"one that refuses clients":         {[]*armnetwork.SecurityRule{inbound(300, deny, "Tcp", fromInternet, "50000")}, []string{"50000 from clients"}},
		"one that refuses clients later":   {[]*armnetwork.SecurityRule{inbound(4000, deny, "*", fromInternet, "*")}, nil},
		"one for another load balancer":    {[]*armnetwork.SecurityRule{toward("20.1.2.3", inbound(100, deny, "*", "*", "*"))}, nil},
		"one for Cilium":                   {[]*armnetwork.SecurityRule{inbound(100, deny, "Udp", "*", "8472")}, []string{"8472"}},
	} {
		found := firewall(append(c.rules, defaults()...), machines, true).Missing("group")
		if len(found) != len(c.want) {
			t.Errorf("%s: %+v", name, found)
			continue
		}
		for _, w := range c.want {
			if text := strings.Join(messages(found), "\n"); !strings.Contains(text, w) {
				t.Errorf("%s: %q lacks %q", name, text, w)
			}
		}
	}
}

func messages(all []provider.Finding) (texts []string) {
	for _, f := range all {
		texts = append(texts, f.Message)
	}
	return texts
}

func TestPrioritiesOfRulesAreFreeAndKept(t *testing.T) {
	const allow = armnetwork.SecurityRuleAccessAllow
	if got := freePriority([]*armnetwork.SecurityRule{inbound(2000, allow, "*", "*", "*"), inbound(2003, allow, "*", "*", "*")}, nil); got != 2004 {
		t.Errorf("the next free pair begins at %d", got)
	}
	own := inbound(2222, allow, "*", "*", "*")
	own.Name = new("x" + suffixAllow)
	if got := freePriority([]*armnetwork.SecurityRule{own}, []*armnetwork.SecurityRule{own}); got != 2222 {
		t.Errorf("its own priority is %d, before 2222", got)
	}
	next := inbound(2223, armnetwork.SecurityRuleAccessDeny, "*", "*", "*")
	if got := freePriority([]*armnetwork.SecurityRule{own, next}, []*armnetwork.SecurityRule{own}); got != 2000 {
		t.Errorf("beside the rule of another it begins at %d", got)
	}
	next.Name = new("x" + suffixDeny)
	if got := freePriority([]*armnetwork.SecurityRule{own, next}, []*armnetwork.SecurityRule{own, next}); got != 2222 {
		t.Errorf("with both of its own rules it begins at %d", got)
	}
}
