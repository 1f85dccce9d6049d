// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"
	"errors"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// follow claims what is planned, and what a larger count asks for at its end. Addresses that
// a smaller count does without are released once the status no longer has them.
func (r *Reconciler) follow(ctx context.Context, a *v1alpha1.IPAllocation, pool *v1alpha1.NetworkPool, planned ipam.Range) (verdict, error) {
	n := uint64(max(a.Spec.Count, 1))
	if a.Spec.PinnedRange == nil && n < planned.Size() {
		return r.shrink(ctx, a, pool, planned, n)
	}
	if _, err := r.claim(ctx, a, pool, planned); err != nil {
		return r.taken(ctx, a, pool, planned, err)
	}
	if a.Spec.PinnedRange == nil && n > planned.Size() {
		return r.grow(ctx, a, pool, planned, n)
	}
	return allocated(planned, pool), nil
}

// taken handles a planned address that is another's. What the status has was handed out, so
// no other address will do. The rest of a plan is given up.
func (r *Reconciler) taken(ctx context.Context, a *v1alpha1.IPAllocation, pool *v1alpha1.NetworkPool, planned ipam.Range, err error) (verdict, error) {
	var other *takenError
	if !errors.As(err, &other) {
		return verdict{}, err
	}
	has, ok := handedOut(a)
	switch {
	case !ok:
		if err := r.unclaim(ctx, a, planned); err != nil {
			return verdict{}, err
		}
		return verdict{again: cacheLag}, r.forget(ctx, a)
	case other.in(has):
		v := failed(reasonTaken, "%s, and to this one; one of both has to be deleted together with what uses the address", other)
		v.addresses, v.network = &has, pool.Spec.CIDR
		return v, nil
	}
	v := allocated(has, pool)
	v.reason, v.message = reasonExhausted, v.message+", and no more: "+other.Error()
	if err := r.unclaim(ctx, a, ipam.Range{First: has.Last.Next(), Last: planned.Last}); err != nil {
		return verdict{}, err
	}
	return v, r.plan(ctx, a, has)
}

// handedOut is what the status has.
func handedOut(a *v1alpha1.IPAllocation) (ipam.Range, bool) {
	if a.Status.StartAddress == "" {
		return ipam.Range{}, false
	}
	r, err := ipam.NewRange(a.Status.StartAddress, a.Status.EndAddress)
	return r, err == nil
}

func (r *Reconciler) grow(ctx context.Context, a *v1alpha1.IPAllocation, pool *v1alpha1.NetworkPool, is ipam.Range, n uint64) (verdict, error) {
	v := allocated(is, pool)
	space, refused, err := r.space(ctx, pool)
	if err != nil {
		return verdict{}, err
	}
	if space == nil {
		v.reason, v.message = refused.reason, refused.message
		return v, nil
	}
	more, ok := space.After(is, n-is.Size())
	if !ok {
		v.reason, v.message = reasonExhausted, v.message+": the addresses after them are not free, so there are no more; set spec.count back, or create another IPAllocation"
		return v, nil
	}
	larger := ipam.Range{First: is.First, Last: more.Last}
	if err := r.plan(ctx, a, larger); err != nil {
		return verdict{}, err
	}
	if _, err := r.claim(ctx, a, pool, more); err != nil {
		return r.taken(ctx, a, pool, larger, err)
	}
	return allocated(larger, pool), nil
}

func (r *Reconciler) shrink(ctx context.Context, a *v1alpha1.IPAllocation, pool *v1alpha1.NetworkPool, is ipam.Range, n uint64) (verdict, error) {
	smaller := is.Head(n)
	if _, err := r.claim(ctx, a, pool, smaller); err != nil {
		return r.taken(ctx, a, pool, is, err)
	}
	v := allocated(smaller, pool)
	v.after = func(ctx context.Context) error {
		if err := r.letGo(ctx, a, ipam.Range{First: smaller.Last.Next(), Last: is.Last}); err != nil {
			return err
		}
		return r.plan(ctx, a, smaller)
	}
	return v, nil
}
