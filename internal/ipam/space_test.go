// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipam

import (
	"math"
	"net/netip"
	"strings"
	"testing"
)

func parse(t testing.TB, text string) Range {
	t.Helper()
	first, last, ok := strings.Cut(text, "-")
	if !ok {
		last = first
	}
	return Range{netip.MustParseAddr(first), netip.MustParseAddr(last)}
}

func space(t testing.TB, prefix string, change func(*Pool)) *Space {
	t.Helper()
	p := Pool{Prefix: netip.MustParsePrefix(prefix)}
	if change != nil {
		change(&p)
	}
	s, err := NewSpace(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatIsNeverAllocated(t *testing.T) {
	for name, c := range map[string]struct {
		prefix string
		change func(*Pool)
		total  uint64
		first  string
	}{
		"network and broadcast":   {prefix: "10.0.0.0/29", total: 6, first: "10.0.0.1"},
		"two addresses":           {prefix: "10.0.0.0/31", total: 2, first: "10.0.0.0"},
		"one address":             {prefix: "10.0.0.7/32", total: 1, first: "10.0.0.7"},
		"anycast address of IPv6": {prefix: "fd00::/126", total: 3, first: "fd00::1"},
		"a /64":                   {prefix: "fd00::/64", total: math.MaxUint64, first: "fd00::1"},
		"gateway":                 {prefix: "10.0.0.0/29", change: func(p *Pool) { p.Gateway = netip.MustParseAddr("10.0.0.1") }, total: 5, first: "10.0.0.2"},
		"reserved":                {prefix: "10.0.0.0/24", change: func(p *Pool) { p.Reserved = []Range{Of(netip.MustParsePrefix("10.0.0.0/25"))} }, total: 127, first: "10.0.0.128"},
		"outside of the ranges":   {prefix: "10.0.0.0/24", change: func(p *Pool) { p.Ranges = []Range{parse(t, "10.0.0.50-10.0.0.59"), parse(t, "10.0.0.10-10.0.0.12")} }, total: 13, first: "10.0.0.10"},
		"a range with the gateway": {prefix: "10.0.0.0/24", change: func(p *Pool) {
			p.Ranges, p.Gateway = []Range{parse(t, "10.0.0.1-10.0.0.4")}, netip.MustParseAddr("10.0.0.1")
		}, total: 3, first: "10.0.0.2"},
	} {
		t.Run(name, func(t *testing.T) {
			s := space(t, c.prefix, c.change)
			if u := s.Usage(); u.Total != c.total || u.Free != c.total {
				t.Errorf("total %d, free %d; want %d", u.Total, u.Free, c.total)
			}
			if r, ok := s.Find(1); !ok || r.String() != c.first {
				t.Errorf("found %s, want %s", r, c.first)
			}
		})
	}
}

func TestPoolsThatAreRefused(t *testing.T) {
	for want, p := range map[string]Pool{
		"the network is 10.0.0.0/24": {Prefix: netip.MustParsePrefix("10.0.0.5/24")},
		"larger than a /64":          {Prefix: netip.MustParsePrefix("fd00::/63")},
		"not a network":              {},
		"write it as IPv4":           {Prefix: netip.MustParsePrefix("::ffff:10.0.0.0/120")},
		"is not in the network":      {Prefix: netip.MustParsePrefix("10.0.0.0/24"), Ranges: []Range{parse(t, "10.0.0.250-10.0.1.2")}},
		"ends before it starts":      {Prefix: netip.MustParsePrefix("10.0.0.0/24"), Ranges: []Range{parse(t, "10.0.0.9-10.0.0.2")}},
		"overlap":                    {Prefix: netip.MustParsePrefix("10.0.0.0/24"), Ranges: []Range{parse(t, "10.0.0.1-10.0.0.9"), parse(t, "10.0.0.9-10.0.0.12")}},
		"reserved range fd00::":      {Prefix: netip.MustParsePrefix("10.0.0.0/24"), Reserved: []Range{parse(t, "fd00::")}},
		"gateway 10.0.1.1 is not in": {Prefix: netip.MustParsePrefix("10.0.0.0/24"), Gateway: netip.MustParseAddr("10.0.1.1")},
		"one end in IPv4":            {Prefix: netip.MustParsePrefix("10.0.0.0/24"), Ranges: []Range{parse(t, "10.0.0.1-fd00::1")}},
		"no valid start and end":     {Prefix: netip.MustParsePrefix("10.0.0.0/24"), Ranges: []Range{{}}},
		"has a zone":                 {Prefix: netip.MustParsePrefix("fd00::/64"), Ranges: []Range{parse(t, "fd00::1%eth0")}},
	} {
		if _, err := NewSpace(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", p, err, want)
		}
	}
}

func TestTheSmallestBlockThatFitsIsUsed(t *testing.T) {
	s := space(t, "10.0.0.0/24", nil)
	s.Hold(parse(t, "10.0.0.1-10.0.0.255"))
	for _, free := range []string{"10.0.0.10-10.0.0.19", "10.0.0.30-10.0.0.33", "10.0.0.50-10.0.0.53"} {
		if err := s.Release(parse(t, free)); err != nil {
			t.Fatal(err)
		}
	}
	for n, want := range map[uint64]string{1: "10.0.0.30", 4: "10.0.0.30-10.0.0.33", 5: "10.0.0.10-10.0.0.14", 11: ""} {
		r, ok := s.Find(n)
		if ok != (want != "") || ok && r.String() != want {
			t.Errorf("%d addresses: %s, want %q", n, r, want)
		}
	}
	if u := s.Usage(); u.LargestFree != 10 || u.Free != 18 || u.Fragmentation != 44 {
		t.Errorf("%+v", u)
	}
	if _, ok := s.Find(0); ok {
		t.Error("found a range of no address")
	}
}

func TestTakeIsAllOrNothing(t *testing.T) {
	s := space(t, "10.0.0.0/29", func(p *Pool) { p.Gateway = netip.MustParseAddr("10.0.0.4") })
	for _, r := range []string{"10.0.0.3-10.0.0.5", "10.0.0.0", "10.0.0.7", "10.0.0.6-10.0.0.9", "10.0.1.1", "fd00::1", "10.0.0.3-10.0.0.2"} {
		if s.Take(parse(t, r)) == nil {
			t.Errorf("%s was taken", r)
		}
	}
	if u := s.Usage(); u.Free != 5 {
		t.Errorf("%+v", u)
	}
	if err := s.Take(parse(t, "10.0.0.1-10.0.0.3")); err != nil {
		t.Error(err)
	}
	if s.Take(parse(t, "10.0.0.3")) == nil {
		t.Error("10.0.0.3 was taken twice")
	}
}

func TestReleaseGivesBackOnlyWhatThePoolAllows(t *testing.T) {
	s := space(t, "10.0.0.0/24", func(p *Pool) {
		p.Ranges, p.Gateway = []Range{parse(t, "10.0.0.10-10.0.0.20")}, netip.MustParseAddr("10.0.0.15")
	})
	s.Hold(parse(t, "10.0.0.0-10.0.0.255"))
	if err := s.Release(parse(t, "10.0.0.0-10.0.0.255")); err != nil {
		t.Fatal(err)
	}
	if u := s.Usage(); u.Free != 10 || u.LargestFree != 5 {
		t.Errorf("%+v", u)
	}
	if err := s.Release(parse(t, "10.0.0.20")); err == nil {
		t.Error("a free address was released")
	}
}

func TestARangeGrowsAtItsEnd(t *testing.T) {
	s := space(t, "10.0.0.0/28", nil)
	mine := parse(t, "10.0.0.2-10.0.0.3")
	for _, r := range []Range{mine, parse(t, "10.0.0.7")} {
		if err := s.Take(r); err != nil {
			t.Fatal(err)
		}
	}
	if r, ok := s.After(mine, 3); !ok || r.String() != "10.0.0.4-10.0.0.6" {
		t.Errorf("%s, %t", r, ok)
	}
	for _, n := range []uint64{0, 4, math.MaxUint64} {
		if r, ok := s.After(mine, n); ok {
			t.Errorf("grew by %d: %s", n, r)
		}
	}
}

func TestThePoolOfTheLowestPriorityInWhichTheBlockFits(t *testing.T) {
	full, small, large, other := space(t, "10.0.0.0/32", nil), space(t, "10.0.1.0/30", nil), space(t, "10.0.2.0/24", nil), space(t, "10.0.3.0/24", nil)
	full.Hold(parse(t, "10.0.0.0"))
	candidates := []Candidate{{Name: "z", Priority: 3, Space: large}, {Name: "a", Priority: 3, Space: other}, {Name: "small", Priority: 2, Space: small}, {Name: "full", Priority: 1, Space: full}}
	for n, want := range map[uint64]string{1: "small", 3: "a", 255: ""} {
		c, _, ok := Choose(candidates, n)
		if c.Name != want || ok != (want != "") {
			t.Errorf("%d addresses: pool %q, want %q", n, c.Name, want)
		}
	}
}

func TestCountsSaturate(t *testing.T) {
	if Int32(math.MaxUint64) != math.MaxInt32 || Int32(7) != 7 {
		t.Error(Int32(math.MaxUint64), Int32(7))
	}
	for text, want := range map[string]uint64{"fd00::-fd00::ffff:ffff:ffff:ffff": math.MaxUint64, "fd00::-fd01::": math.MaxUint64, "fd00::ffff:ffff:ffff:ffff-fd00:0:0:1::": 2, "10.0.0.0-10.0.0.255": 256} {
		if got := parse(t, text).Size(); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
