// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipam

import (
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"testing"
)

// model is the same as a Space, one address at a time.
type model struct {
	base  netip.Addr
	state []rune // f: free, t: taken, n: never allocated
}

func newModel(s *Space) *model {
	m := &model{base: s.base, state: make([]rune, Of(s.pool.Prefix).Size())}
	for i := range m.state {
		m.state[i] = 'n'
		a := Single(at(m.base, uint64(i)))
		if slices.ContainsFunc(s.pool.ranges(), func(r Range) bool { return r.Contains(a) }) &&
			!slices.ContainsFunc(s.pool.withheld(), func(r Range) bool { return r.Contains(a) }) {
			m.state[i] = 'f'
		}
	}
	return m
}

// best is the start of the smallest run of free addresses that has n.
func (m *model) best(n int) (start int, ok bool) {
	size := len(m.state) + 1
	for i := 0; i < len(m.state); i++ {
		run := 0
		for i+run < len(m.state) && m.state[i+run] == 'f' {
			run++
		}
		if run >= n && run < size {
			start, size, ok = i, run, true
		}
		i += run
	}
	return start, ok
}

func (m *model) free() (n uint64) {
	for _, s := range m.state {
		if s == 'f' {
			n++
		}
	}
	return n
}

// operations runs n random operations on a space and on its model, and compares them after each.
func operations(t *testing.T, random *rand.Rand, n int) {
	s := space(t, "10.0.0.0/25", func(p *Pool) {
		p.Gateway = at(p.Prefix.Addr(), random.Uint64N(128))
		p.Reserved = []Range{Of(netip.PrefixFrom(at(p.Prefix.Addr(), 32), 29))}
		p.Ranges = []Range{{at(p.Prefix.Addr(), 0), at(p.Prefix.Addr(), 60)}, {at(p.Prefix.Addr(), 61+random.Uint64N(9)), at(p.Prefix.Addr(), 100+random.Uint64N(28))}}
	})
	m := newModel(s)
	var taken []Range
	for range n {
		if len(taken) > 0 && random.IntN(5) < 2 {
			i := random.IntN(len(taken))
			release(t, s, m, taken[i])
			taken = slices.Delete(taken, i, i+1)
		} else if r, ok := allocate(t, s, m, 1+random.IntN(9)); ok {
			taken = append(taken, r)
		}
		if got, want := s.Usage().Free, m.free(); got != want {
			t.Fatalf("%d addresses are free, want %d", got, want)
		}
	}
}

func allocate(t *testing.T, s *Space, m *model, n int) (Range, bool) {
	r, ok := s.Find(uint64(n))
	start, want := m.best(n)
	if ok != want || ok && offset(m.base, r.First) != uint64(start) {
		t.Fatalf("%d addresses: %s, %t; want %d, %t", n, r, ok, start, want)
	}
	if !ok {
		return r, false
	}
	if err := s.Take(r); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		m.state[start+i] = 't'
	}
	return r, true
}

func release(t *testing.T, s *Space, m *model, r Range) {
	if err := s.Release(r); err != nil {
		t.Fatal(err)
	}
	for i := offset(m.base, r.First); i <= offset(m.base, r.Last); i++ {
		m.state[i] = 'f'
	}
}

// TestSpaceIsAsItsModel runs many operations if the whole fault matrix is asked for.
func TestSpaceIsAsItsModel(t *testing.T) {
	rounds := 100
	if os.Getenv("BUTLER_TEST_FAULTS") == "all" {
		rounds = 10_000
	}
	for round := range rounds {
		operations(t, rand.New(rand.NewPCG(17, uint64(round))), 1000)
	}
}

func FuzzSpace(f *testing.F) {
	f.Add(uint64(1), uint16(100))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16) {
		operations(t, rand.New(rand.NewPCG(seed, 0)), int(n))
	})
}

func BenchmarkAllocate(b *testing.B) {
	for _, full := range []struct {
		name    string
		percent uint64
	}{{"10", 10}, {"50", 50}, {"99", 99}} {
		b.Run(full.name+"-percent-of-a-16", func(b *testing.B) {
			s := space(b, "10.0.0.0/16", nil)
			random := rand.New(rand.NewPCG(1, 1))
			for s.Usage().Free*100 > s.Usage().Total*(100-full.percent) {
				s.Hold(Single(at(s.base, random.Uint64N(1<<16))))
			}
			for b.Loop() {
				r, _ := s.Find(1)
				if err := s.Take(r); err != nil {
					b.Fatal(err)
				}
				if err := s.Release(r); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "allocations/s")
		})
	}
}
