// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"
	"net/netip"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/addressclaim"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// wanted is the number of addresses that an allocation asks for, or a refusal.
func wanted(a *v1alpha1.IPAllocation) (uint64, verdict) {
	n := uint64(max(a.Spec.Count, 1))
	if a.Spec.PinnedRange == nil {
		return n, verdict{}
	}
	pinned, err := ipam.NewRange(a.Spec.PinnedRange.StartAddress, a.Spec.PinnedRange.EndAddress)
	switch size := pinned.Size(); {
	case err != nil:
		return 0, failed(reasonRange, "spec.pinnedRange: %s", err)
	case size > addressclaim.MaxAddresses:
		return 0, failed(reasonRange, "spec.pinnedRange: %s has more than %d addresses", pinned, addressclaim.MaxAddresses)
	case n != 1 && n != size:
		return 0, failed(reasonRange, "spec.pinnedRange: %s has %d addresses, and spec.count is %d; leave out the count", pinned, size, n)
	default:
		return size, verdict{}
	}
}

// choose returns the addresses to claim: pinned ones, or the best that are free. The caller
// ends the choice with r.free.done.
func (r *Reconciler) choose(ctx context.Context, a *v1alpha1.IPAllocation, pool *v1alpha1.NetworkPool, size uint64) (ipam.Range, verdict, error) {
	if a.Spec.PinnedRange != nil {
		return r.pinned(ctx, a, pool)
	}
	var u ipam.Usage
	chosen, ok, err := r.use(ctx, pool, func(s *ipam.Space) (ipam.Range, bool) {
		u = s.Usage()
		return s.Find(size)
	})
	if err != nil || ok {
		return chosen, verdict{}, err
	}
	v := pending(reasonExhausted, "NetworkPool %s has no free block of %d contiguous addresses: %d of %d are free, at most %d in one block; release some, or add a range to it", pool.Name, size, u.Free, u.Total, u.LargestFree)
	v.again = r.unsure()
	return chosen, v, nil
}

// unsure is how soon to look again for free addresses without an event; 0 if what is free
// follows from the watch alone.
func (r *Reconciler) unsure() time.Duration {
	if r.free.forget(r.now()) {
		return noticeFor
	}
	return 0
}

// use runs a function on what is free in a pool, as far as is known.
func (r *Reconciler) use(ctx context.Context, pool *v1alpha1.NetworkPool, choose func(*ipam.Space) (ipam.Range, bool)) (ipam.Range, bool, error) {
	p, err := r.describe(ctx, pool)
	if err != nil {
		return ipam.Range{}, false, err
	}
	r.free.forget(r.now())
	return r.free.use(client.ObjectKeyFromObject(pool), p, choose)
}

func (r *Reconciler) describe(ctx context.Context, pool *v1alpha1.NetworkPool) (ipam.Pool, error) {
	configs := &v1alpha1.ProviderConfigList{}
	if err := r.Client.List(ctx, configs, client.InNamespace(pool.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return ipam.Pool{}, err
	}
	return ipam.Describe(pool, configs.Items)
}

// pinnedRange is the range that an allocation must have, if it names one.
func pinnedRange(a *v1alpha1.IPAllocation) (ipam.Range, bool) {
	if a.Spec.PinnedRange == nil {
		return ipam.Range{}, false
	}
	r, err := ipam.NewRange(a.Spec.PinnedRange.StartAddress, a.Spec.PinnedRange.EndAddress)
	return r, err == nil
}

func (r *Reconciler) pinned(ctx context.Context, a *v1alpha1.IPAllocation, pool *v1alpha1.NetworkPool) (ipam.Range, verdict, error) {
	pinned, _ := pinnedRange(a)
	p, err := r.describe(ctx, pool)
	if err != nil {
		return pinned, verdict{}, err
	}
	for address := range pinned.All() {
		if p.Allowed(ipam.Single(address)) == 0 {
			return pinned, pending(reasonNotInPool, "%s cannot be allocated from NetworkPool %s, %s: it is outside of its ranges, reserved, or an address of the network itself; pin other addresses", address, pool.Name, pool.Spec.CIDR), nil
		}
	}
	taken, err := r.taken(ctx, a, pool, pinned)
	if err != nil {
		return pinned, verdict{}, err
	}
	if taken != nil {
		return pinned, pending(reasonTaken, "%s; delete that one, or pin other addresses", taken), nil
	}
	_, _, err = r.use(ctx, pool, func(*ipam.Space) (ipam.Range, bool) { return pinned, true })
	return pinned, verdict{}, err
}

// taken is the first address of a range that an allocation cannot have, nil if there is none.
// It can have those of its own claims, which an earlier one of its name left behind.
func (r *Reconciler) taken(ctx context.Context, a *v1alpha1.IPAllocation, pool *v1alpha1.NetworkPool, all ipam.Range) (*addressclaim.TakenError, error) {
	var claimed []netip.Addr
	_, _, err := r.use(ctx, pool, func(s *ipam.Space) (ipam.Range, bool) {
		for address := range all.All() {
			if !s.Free(ipam.Single(address)) {
				claimed = append(claimed, address)
			}
		}
		return all, false
	})
	for _, address := range claimed {
		holder, err := r.Registry.Holder(ctx, address)
		if err != nil {
			return nil, err
		}
		if holder != nil && !addressclaim.TakesBack(a, holder) {
			return &addressclaim.TakenError{Address: address, By: holder}, nil
		}
	}
	return nil, err
}
