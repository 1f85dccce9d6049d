// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ipRange is from its first to its last address.
type ipRange struct{ first, last netip.Addr }

func (r ipRange) contains(a netip.Addr) bool { return !a.Less(r.first) && !r.last.Less(a) }

// ipSet are the addresses of an InClusterIPPool.
type ipSet struct {
	ranges, excluded []ipRange
	network          netip.Prefix
	gateway          netip.Addr
	reserved         bool // the first and the last address of the network count too
}

// addressesOf reads the spec of a pool: addresses, ranges or CIDRs, all in one network.
func addressesOf(pool *unstructured.Unstructured) (s ipSet, err error) {
	texts, _, _ := unstructured.NestedStringSlice(pool.Object, "spec", "addresses")
	excluded, _, _ := unstructured.NestedStringSlice(pool.Object, "spec", "excludedAddresses")
	if len(texts) == 0 {
		return s, errors.New("spec.addresses: addresses is required")
	}
	var err1, err2 error
	s.ranges, err1 = parseRanges(texts)
	s.excluded, err2 = parseRanges(excluded)
	if err := errors.Join(err1, err2); err != nil {
		return s, err
	}
	slices.SortFunc(s.ranges, func(a, b ipRange) int { return a.first.Compare(b.first) })
	if s.network, err = s.ranges[0].first.Prefix(int(numberOf(pool.Object, "spec", "prefix"))); err != nil {
		return s, fmt.Errorf("spec.prefix: provided prefix is not valid: %w", err)
	}
	for _, r := range s.ranges {
		if !s.network.Contains(r.first) || !s.network.Contains(r.last) {
			return s, fmt.Errorf("spec.addresses: %s-%s: provided address belongs to a different subnet than others", r.first, r.last)
		}
	}
	s.reserved = boolOf(pool.Object, "spec", "allocateReservedIPAddresses")
	if text := textOf(pool.Object, "spec", "gateway"); text != "" {
		s.gateway, err = netip.ParseAddr(text)
	}
	return s, err
}

func parseRanges(texts []string) (out []ipRange, err error) {
	for _, text := range texts {
		r, err := parseRange(text)
		if err != nil || r.last.Less(r.first) {
			return nil, errors.Join(fmt.Errorf("%q: provided address is not a valid IP, range, nor CIDR", text), err)
		}
		out = append(out, r)
	}
	return out, nil
}

func parseRange(text string) (ipRange, error) {
	if prefix, err := netip.ParsePrefix(text); err == nil {
		return ipRange{prefix.Masked().Addr(), last(prefix)}, nil
	}
	first, end, isRange := strings.Cut(text, "-")
	if !isRange {
		end = first
	}
	from, err1 := netip.ParseAddr(first)
	to, err2 := netip.ParseAddr(end)
	return ipRange{from, to}, errors.Join(err1, err2)
}

// last is the last address of a network.
func last(p netip.Prefix) netip.Addr {
	bytes := p.Masked().Addr().AsSlice()
	for bit := p.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 1 << (7 - bit%8)
	}
	a, _ := netip.AddrFromSlice(bytes)
	return a
}

func (s ipSet) contains(a netip.Addr) bool {
	in := func(r ipRange) bool { return r.contains(a) }
	return slices.ContainsFunc(s.ranges, in) && !slices.ContainsFunc(s.excluded, in)
}

// usable are the addresses that are handed out, in order.
func (s ipSet) usable() iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		for _, r := range s.ranges {
			for a := r.first; !r.last.Less(a); a = a.Next() {
				edge := !s.reserved && (a == s.network.Masked().Addr() || a == last(s.network))
				if !edge && a != s.gateway && s.contains(a) && !yield(a) {
					return
				}
			}
		}
	}
}
