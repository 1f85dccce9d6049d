// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"net/netip"
	"slices"
	"strings"
)

// Addresses parses what a platform reports as the addresses of a machine: each once,
// IPv4 first, without zones and prefix lengths. What other machines cannot reach is left
// out: link-local, loopback, multicast and unspecified addresses. Interfaces that belong
// to the guest, for example to its pod network, are the driver's to leave out: nothing in
// an address shows that.
func Addresses(texts ...string) (all []netip.Addr) {
	for _, t := range texts {
		t, _, _ = strings.Cut(t, "/")
		a, err := netip.ParseAddr(t)
		if err != nil || a.IsLinkLocalUnicast() || a.IsLoopback() || a.IsUnspecified() || a.IsMulticast() {
			continue
		}
		if a = a.Unmap().WithZone(""); !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	return all
}
