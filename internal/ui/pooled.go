// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// pooled lists the addresses of a cluster that come from NetworkPools, and what they are for.
// Which machine has which is in the table of machines, which has no room for the pool.
func pooled(cb *v1alpha1.ClusterBootstrap) string {
	var out, pools []string
	machines := map[string][]v1alpha1.BootstrapAllocation{}
	for _, a := range cb.Status.Allocations {
		switch a.Name {
		case cb.Name + "-vip":
			out = append(out, fmt.Sprintf("%s for the control plane, of pool %s", span(a.StartAddress, a.EndAddress), a.Pool))
		case cb.Name + "-lb":
			out = append(out, fmt.Sprintf("%s for load balancers, of pool %s", span(a.StartAddress, a.EndAddress), a.Pool))
		default:
			if machines[a.Pool] == nil {
				pools = append(pools, a.Pool)
			}
			machines[a.Pool] = append(machines[a.Pool], a)
		}
	}
	for _, pool := range pools {
		out = append(out, fmt.Sprintf("%s for machines, of pool %s", strings.Join(spans(machines[pool]), ", "), pool))
	}
	return strings.Join(out, "; ")
}

// span is a range as text, or its one address.
func span(first, last string) string {
	if first == last {
		return first
	}
	return first + "-" + last
}

// spans are the addresses of machines as few ranges.
func spans(all []v1alpha1.BootstrapAllocation) (out []string) {
	var addresses []netip.Addr
	for _, a := range all {
		if address, err := netip.ParseAddr(a.StartAddress); err == nil {
			addresses = append(addresses, address)
		}
	}
	slices.SortFunc(addresses, netip.Addr.Compare)
	for i := 0; i < len(addresses); {
		first := i
		for i++; i < len(addresses) && addresses[i] == addresses[i-1].Next(); i++ {
		}
		out = append(out, span(addresses[first].String(), addresses[i-1].String()))
	}
	return out
}
