// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/provider"
)

func ranges(texts ...string) (all []netip.Prefix) {
	for _, t := range texts {
		all = append(all, netip.MustParsePrefix(t))
	}
	return all
}

// tcp is a rule for a port of TCP.
func tcp(port int32, r Rule) Rule {
	r.Protocol, r.From, r.To = "tcp", port, port
	return r
}

func TestRulesDecideByPriorityRangeAndGroup(t *testing.T) {
	etcd := Need{Protocol: "tcp", From: 2379, To: 2380}
	machines := Source{Ranges: ranges("10.0.1.0/24", "10.0.2.0/24"), Groups: []string{"node"}}
	all := Rule{Ranges: ranges("10.0.0.0/16")}
	for name, c := range map[string]struct {
		rules  []Rule
		source Source
		want   bool
	}{
		"nothing":                        {nil, machines, false},
		"everything":                     {[]Rule{all}, machines, true},
		"a group":                        {[]Rule{{Groups: []string{"node"}}}, machines, true},
		"another group":                  {[]Rule{{Groups: []string{"web"}}}, machines, false},
		"a group without ranges":         {[]Rule{{Groups: []string{"node"}}}, Source{Groups: []string{"node"}}, true},
		"a range for a group only":       {[]Rule{all}, Source{Groups: []string{"node"}}, false},
		"a rule that cannot be read":     {[]Rule{{Opaque: true}}, machines, true},
		"two rules, a port each":         {[]Rule{tcp(2379, all), tcp(2380, all)}, machines, true},
		"one of two ports":               {[]Rule{tcp(2379, all)}, machines, false},
		"two rules, a subnet each":       {[]Rule{{Ranges: ranges("10.0.1.0/24")}, {Ranges: ranges("10.0.2.0/24")}}, machines, true},
		"a part of a subnet":             {[]Rule{{Ranges: ranges("10.0.1.0/25", "10.0.2.0/24")}}, machines, false},
		"another protocol":               {[]Rule{{Protocol: "udp", From: 0, To: 65535, Ranges: all.Ranges}}, machines, false},
		"denied first":                   {[]Rule{{Priority: 200, Ranges: all.Ranges}, {Priority: 100, Deny: true, Ranges: all.Ranges}}, machines, false},
		"denied after it is allowed":     {[]Rule{{Priority: 200, Deny: true, Ranges: all.Ranges}, {Priority: 100, Ranges: all.Ranges}}, machines, true},
		"denied at the same priority":    {[]Rule{all, {Deny: true, Ranges: all.Ranges}}, machines, false},
		"denied for a part of it":        {[]Rule{{Priority: 1, Ranges: all.Ranges}, {Deny: true, Ranges: ranges("10.0.2.128/25")}}, machines, false},
		"denied for others":              {[]Rule{{Priority: 1, Ranges: all.Ranges}, {Deny: true, Ranges: ranges("10.9.0.0/16")}}, machines, true},
		"everyone, of whom some are let": {[]Rule{all}, Source{Ranges: ranges("0.0.0.0/0")}, false},
	} {
		if got := Allows(c.rules, etcd, c.source); got != c.want {
			t.Errorf("%s: allowed is %v", name, got)
		}
	}
}

func TestEveryMissingRuleIsNamed(t *testing.T) {
	w := Firewall{
		Rules:    []Rule{{Groups: []string{"node"}}, tcp(6443, Rule{Ranges: ranges("35.191.0.0/16")})},
		Machines: Source{Name: "the machines", Groups: []string{"node"}},
		Balancer: []Source{{Name: "clients", Ranges: ranges("0.0.0.0/0")}, {Name: "health checks", Ranges: ranges("35.191.0.0/16")}},
		Hint:     "add a rule",
	}
	var got []string
	for _, f := range w.Missing("firewall") {
		if f.Verdict != provider.Refused || f.Hint != "add a rule" || f.Check != "firewall" {
			t.Errorf("%+v", f)
		}
		got = append(got, strings.TrimPrefix(f.Message, "no rule allows "))
	}
	want := "tcp 6443 from clients, for the Kubernetes API\ntcp 50000 from clients, for the Talos API\ntcp 50000 from health checks, for the Talos API"
	if strings.Join(got, "\n") != want {
		t.Errorf("missing are\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	w.Rules = []Rule{tcp(6443, w.Rules[0]), tcp(50000, w.Rules[0])}
	unknown := 0
	for _, f := range w.Missing("firewall") {
		if f.Verdict == provider.Unknown {
			unknown++
		}
	}
	if unknown != 2 {
		t.Errorf("%d rules are only needed by an addon, want 2", unknown)
	}
}
