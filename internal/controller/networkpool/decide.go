// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package networkpool

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// Reasons of the condition Ready.
const (
	reasonReady   = "Ready"
	reasonInvalid = "Invalid"
	reasonOverlap = "Overlap"
	reasonOutside = "AllocationsOutside"
	reasonInUse   = "InUse"
)

// verdict is what becomes of a pool.
type verdict struct {
	usage           usage
	reason, message string
}

// decide compares a pool with what else is there.
func decide(pool *v1alpha1.NetworkPool, f facts) verdict {
	v := verdict{usage: f.usage(pool), reason: reasonReady}
	p, err := ipam.Describe(pool, f.configs)
	if err != nil {
		v.reason, v.message = reasonInvalid, err.Error()
		return v
	}
	if other := overlapping(pool, p, f); other != nil {
		v.reason = reasonOverlap
		v.message = fmt.Sprintf("the addresses of NetworkPool %s/%s, %s, overlap with these; delete one of the pools, or limit them by spec.tenantAllocation.ranges", other.Namespace, other.Name, other.Spec.CIDR)
		return v
	}
	if outside := outside(p, f.allocated()); len(outside) > 0 {
		v.reason = reasonOutside
		v.message = "addresses are allocated that the pool no longer allows, to " + named(holders(outside)) + "; set the ranges back, or delete these IPAllocations"
		return v
	}
	v.message = fmt.Sprintf("%d of %d addresses are free", v.usage.Free, v.usage.Total)
	return v
}

// overlapping is another pool with an address that this one would allocate, if it was first.
func overlapping(pool *v1alpha1.NetworkPool, p ipam.Pool, f facts) *v1alpha1.NetworkPool {
	mine := rival{*pool, len(f.claims) > 0}
	for i := range f.others {
		other, err := ipam.Describe(&f.others[i].NetworkPool, nil)
		if err == nil && p.Overlaps(other) && first(f.others[i], mine) {
			return &f.others[i].NetworkPool
		}
	}
	return nil
}

// first returns whether a pool may allocate addresses that another one has too: the one that
// is in use, then the older one.
func first(a, b rival) bool {
	if a.used != b.used {
		return a.used
	}
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace)) < 0
}

// outside are the claims of addresses that the pool would not allocate.
func outside(p ipam.Pool, claims []v1alpha1.AddressClaim) (out []v1alpha1.AddressClaim) {
	for _, c := range claims {
		a, err := netip.ParseAddr(c.Spec.Address)
		if err != nil || !p.Allows(a) {
			out = append(out, c)
		}
	}
	return out
}

// named lists names, but not endlessly many.
func named(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
