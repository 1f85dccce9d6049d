// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"errors"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/provider"
)

// judged is a finding with what its message and its hint must contain.
type judged struct {
	provider.Finding
	verdict       provider.Verdict
	message, hint string
}

func TestFindings(t *testing.T) {
	subnet := provider.Finding{Check: "subnet a", Verdict: provider.Passed, Message: "zone a"}
	image := provider.Finding{Check: "image a", Verdict: provider.Passed, Message: "a"}
	limit := 10.0
	quota := Quota{Name: "Q", Unit: "vCPUs", Asked: 4, Used: 6, Limit: &limit, Grant: "grant it", Raise: "raise it"}
	over, unread := quota, quota
	over.Used, unread.Limit = 7, nil
	out := Egress{Grant: "grant it", AddNAT: "add NAT", SetPublic: "set public"}
	with := func(change func(*Egress)) provider.Finding { e := out; change(&e); return e.Add(subnet) }
	wanted := Schematic{Wanted: "abc", Hint: "import it", Mark: "its name"}
	needing := func(s Schematic) provider.Finding {
		s.Wanted, s.Needs = "abc", []string{"iscsi-tools", "util-linux-tools"}
		return s.Add(image)
	}
	other := "talos-v1.10.0-" + PlainSchematic + "-amd64"
	for name, c := range map[string]judged{
		"nothing to choose from":     {NotSet("subnets", "spec.x", nil), provider.Refused, "spec.x is empty", "set it"},
		"candidates":                 {NotSet("subnets", "spec.x", []string{"a", "b"}), provider.Refused, "", "for example to a, b"},
		"many candidates":            {NotSet("subnets", "spec.x", strings.Fields("a b c d e f g h i j")), provider.Refused, "", "g, h, and 2 more"},
		"room":                       {Room("a", "zone a", 3, 3, "free some"), provider.Passed, "zone a, 3 addresses are free", ""},
		"no room":                    {Room("a", "zone a", 2, 3, "free some"), provider.Refused, "3 machines are requested, and 2", "free some"},
		"a quota":                    {quota.Finding(), provider.Passed, "4 vCPUs are requested, and 4 of 10 are left", ""},
		"a quota that is used up":    {over.Finding(), provider.Refused, "and 3 of 10 are left", "raise it"},
		"a quota that is not read":   {unread.Finding(), provider.Unknown, "cannot read", "grant it"},
		"a NAT gateway":              {with(func(e *Egress) { e.Way = WayNAT }), provider.Passed, "through a NAT gateway", ""},
		"no route":                   {with(func(*Egress) {}), provider.Unknown, "no route", "add NAT"},
		"a route of public ones":     {with(func(e *Egress) { e.Way = WayInternet }), provider.Unknown, "without a public address", "set public"},
		"public machines":            {with(func(e *Egress) { e.Way, e.Public = WayInternet, true }), provider.Passed, "through an internet gateway", ""},
		"routes that are not read":   {with(func(e *Egress) { e.Unread = true }), provider.Unknown, "cannot read", "grant it"},
		"the schematic is shown":     {Schematic{Wanted: "abc", Shown: "talos abc"}.Add(image), provider.Passed, "a", ""},
		"no schematic is wanted":     {Schematic{}.Add(image), provider.Passed, "a", ""},
		"the schematic is not shown": {wanted.Add(image), provider.Unknown, "does not show", "name the schematic in its name"},
		"a published image":          {Schematic{Wanted: "abc", Published: true, Hint: "import it"}.Add(image), provider.Unknown, "without extensions", "import it"},
		"another schematic":          {Schematic{Wanted: "abc", Shown: other}.Add(image), provider.Unknown, "is of the schematic " + PlainSchematic, "set spec.talos.schematic"},
		"extensions of another one":  {needing(Schematic{Shown: other}), provider.Refused, "the addons need iscsi-tools and util-linux-tools", "use an image of that schematic"},
		"extensions of no image":     {needing(Schematic{Published: true, Hint: "import it"}), provider.Refused, "the addons need iscsi-tools", "import it"},
		"extensions that may be":     {needing(Schematic{Shown: "talos"}), provider.Unknown, "compared once a machine runs", ""},
		"extensions that are there":  {needing(Schematic{Shown: "talos abc"}), provider.Passed, "a", ""},
		"a published image will do":  {Schematic{Wanted: PlainSchematic, Published: true}.Add(image), provider.Passed, "a", ""},
	} {
		if c.Verdict != c.verdict || !strings.Contains(c.Message, c.message) || !strings.Contains(c.Hint, c.hint) || c.verdict == provider.Passed && c.Hint != "" {
			t.Errorf("%s: %+v, want %s %q %q", name, c.Finding, c.verdict, c.message, c.hint)
		}
	}
}

func TestErrorsOfLookups(t *testing.T) {
	missing, down := provider.Invalid.New("", provider.ReasonImageNotFound, nil, ""), provider.Unavailable.New("", provider.ReasonPlatformUnavailable, nil, "")
	if Unreported(missing) != nil || Unreported(nil) != nil || Unreported(down) == nil || Unreported(errors.New("x")) == nil {
		t.Error("an error that no finding reports is dropped, or one that does is kept")
	}
	if err := WithOp("plan", missing); !strings.HasPrefix(err.Error(), "plan") || WithOp("plan", nil) != nil {
		t.Errorf("%v", err)
	}
	if err := WithOp("create", missing); !strings.HasPrefix(err.Error(), "plan") {
		t.Errorf("what was tried is replaced: %v", err)
	}
}

func TestSizesThatCannotBeUsed(t *testing.T) {
	c := Catalogue{Noun: "size", Field: "spec.size", Elsewhere: "move", Families: order}
	one := Size{Name: "m1", CPU: 4, MemoryMB: 8192, Architectures: []string{"amd64"}}
	asked := func(cpu int32) provider.MachineSpec { return provider.MachineSpec{CPU: cpu, MemoryMB: 4096} }
	_, none := c.Smallest([]Size{one}, asked(8), "amd64", "a")
	_, fits := c.Smallest([]Size{one}, asked(4), "amd64", "a")
	for name, e := range map[string]struct {
		err    error
		reason string
	}{
		"it fits":        {c.Accept(one, true, asked(4), "amd64", "a"), ""},
		"too small":      {c.Accept(one, true, asked(5), "amd64", "a"), provider.ReasonInstanceTypeTooSmall},
		"another image":  {c.Accept(one, true, asked(4), "arm64", "a"), provider.ReasonInstanceTypeNotFound},
		"not offered":    {c.Accept(one, false, asked(4), "amd64", "a"), provider.ReasonInstanceTypeNotFound},
		"not known":      {c.Unknown("the region", "m2"), provider.ReasonInstanceTypeNotFound},
		"none is chosen": {none, provider.ReasonInstanceTypeNotFound},
		"one is chosen":  {fits, ""},
	} {
		if (e.err == nil) != (e.reason == "") || e.err != nil && provider.ReasonOf(e.err) != e.reason {
			t.Errorf("%s: %v, want %q", name, e.err, e.reason)
		}
	}
	named := provider.MachineSpec{CPU: 4, MemoryMB: 4096, MachineRef: provider.MachineRef{Name: "a"}}
	other := named
	other.Name = "b"
	chosen := []Choice{{named, "a", one, nil}, {named, "b", one, nil}, {other, "a", one, nil}, {other, "b", Size{}, none}}
	found, err := c.Findings(chosen)
	if err != nil || len(found) != 2 || found[0].Message != "m1" {
		t.Errorf("%+v, %v", found, err)
	}
	if got := Processors(chosen, func(s Size) string { return s.Name }); got["m1"] != 8 || len(got) != 1 {
		t.Errorf("the machines count as %v", got)
	}
}
