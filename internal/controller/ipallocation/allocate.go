// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// allocate claims the addresses of the recorded plan, or makes one.
func (r *Reconciler) allocate(ctx context.Context, a *v1alpha1.IPAllocation) (verdict, error) {
	pool := &v1alpha1.NetworkPool{}
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: a.Namespace, Name: a.Spec.PoolRef.Name}, pool); err != nil {
		if apierrors.IsNotFound(err) {
			return pending(reasonPoolMissing, "NetworkPool %s does not exist; create it", a.Spec.PoolRef.Name), nil
		}
		return verdict{}, err
	}
	planned, err := plannedRange(a)
	if err != nil {
		return failed(reasonRange, "%s", err), nil
	}
	if planned == nil {
		return r.begin(ctx, a, pool)
	}
	return r.follow(ctx, a, pool, *planned)
}

// plannedRange is what the allocation is about to claim, or has: nil before that is decided.
func plannedRange(a *v1alpha1.IPAllocation) (*ipam.Range, error) {
	text := a.Annotations[v1alpha1.AnnotationPlannedRange]
	if text == "" && a.Status.StartAddress != "" {
		text = a.Status.StartAddress + "-" + a.Status.EndAddress
	}
	if text == "" {
		return nil, nil
	}
	r, err := ipam.ParseRange(text)
	if err != nil {
		return nil, fmt.Errorf("annotation %s: %w", v1alpha1.AnnotationPlannedRange, err)
	}
	return &r, nil
}

// begin chooses addresses and claims them.
func (r *Reconciler) begin(ctx context.Context, a *v1alpha1.IPAllocation, pool *v1alpha1.NetworkPool) (verdict, error) {
	if !pool.DeletionTimestamp.IsZero() {
		return pending(reasonPoolDeleting, "NetworkPool %s is being deleted; create another IPAllocation", pool.Name), nil
	}
	space, v, err := r.space(ctx, pool)
	if err != nil || space == nil {
		return v, err
	}
	for {
		chosen, v, err := r.choose(ctx, a, pool, space)
		if err != nil || chosen == nil {
			return v, err
		}
		if err := r.plan(ctx, a, *chosen); err != nil {
			return verdict{}, err
		}
		lost, err := r.claim(ctx, a, pool, *chosen)
		var other *takenError
		if !errors.As(err, &other) {
			return allocated(*chosen, pool), err
		}
		if err := r.unclaim(ctx, a, *chosen); err != nil {
			return verdict{}, err
		}
		space.Hold(ipam.Single(lost))
	}
}

// space is what is free in the pool, as far as the cache has heard of it.
func (r *Reconciler) space(ctx context.Context, pool *v1alpha1.NetworkPool) (*ipam.Space, verdict, error) {
	configs, claims := &v1alpha1.ProviderConfigList{}, &v1alpha1.AddressClaimList{}
	for _, list := range []client.ObjectList{configs, claims} {
		if err := r.Client.List(ctx, list, client.InNamespace(pool.Namespace)); err != nil {
			return nil, verdict{}, err
		}
	}
	p, err := ipam.Describe(pool, configs.Items)
	if err != nil {
		return nil, pending(reasonPoolInvalid, "NetworkPool %s: %s", pool.Name, err), nil
	}
	space, err := ipam.SpaceOf(p, claims.Items)
	return space, verdict{}, err
}

// choose returns the addresses to claim: pinned ones, or the best that are free.
func (r *Reconciler) choose(ctx context.Context, a *v1alpha1.IPAllocation, pool *v1alpha1.NetworkPool, space *ipam.Space) (*ipam.Range, verdict, error) {
	if a.Spec.PinnedRange != nil {
		return r.pinned(ctx, a, pool, space)
	}
	n := uint64(max(a.Spec.Count, 1))
	chosen, ok := space.Find(n)
	if !ok {
		u := space.Usage()
		return nil, pending(reasonExhausted, "NetworkPool %s has no %d contiguous addresses free: %d of %d are free, at most %d in one block; release some, or add a range to it", pool.Name, n, u.Free, u.Total, u.LargestFree), nil
	}
	return &chosen, verdict{}, nil
}

func (r *Reconciler) pinned(ctx context.Context, a *v1alpha1.IPAllocation, pool *v1alpha1.NetworkPool, space *ipam.Space) (*ipam.Range, verdict, error) {
	wanted, err := ipam.NewRange(a.Spec.PinnedRange.StartAddress, a.Spec.PinnedRange.EndAddress)
	if err != nil {
		return nil, failed(reasonRange, "spec.pinnedRange: %s", err), nil
	}
	if space.Free(wanted) {
		return &wanted, verdict{}, nil
	}
	for address := range wanted.All() {
		if space.Free(ipam.Single(address)) {
			continue
		}
		holder, err := r.holder(ctx, a.Namespace, address)
		if err != nil {
			return nil, verdict{}, err
		}
		if holder != nil {
			return nil, pending(reasonTaken, "%s; delete that one, or pin other addresses", describe(holder)), nil
		}
		return nil, pending(reasonNotInPool, "%s cannot be allocated from NetworkPool %s, %s: it is outside of its ranges, reserved, or an address of the network itself; pin other addresses", address, pool.Name, pool.Spec.CIDR), nil
	}
	return nil, verdict{again: cacheLag}, nil
}

// holder is the claim of an address, nil if there is none.
func (r *Reconciler) holder(ctx context.Context, namespace string, address netip.Addr) (*v1alpha1.AddressClaim, error) {
	c := &v1alpha1.AddressClaim{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: v1alpha1.AddressClaimName(address)}, c)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return c, err
}

func describe(c *v1alpha1.AddressClaim) string {
	if c.Spec.ReleasedAt != nil {
		return fmt.Sprintf("%s was released by IPAllocation %s and rests", c.Spec.Address, c.Spec.AllocationRef.Name)
	}
	return fmt.Sprintf("%s is allocated to IPAllocation %s", c.Spec.Address, c.Spec.AllocationRef.Name)
}

// plan records what is about to be claimed.
func (r *Reconciler) plan(ctx context.Context, a *v1alpha1.IPAllocation, planned ipam.Range) error {
	if a.Annotations[v1alpha1.AnnotationPlannedRange] == planned.String() {
		return nil
	}
	before := a.DeepCopy()
	if a.Annotations == nil {
		a.Annotations = map[string]string{}
	}
	a.Annotations[v1alpha1.AnnotationPlannedRange] = planned.String()
	return r.Client.Patch(ctx, a, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// forget removes the record of a plan that cannot be carried out.
func (r *Reconciler) forget(ctx context.Context, a *v1alpha1.IPAllocation) error {
	before := a.DeepCopy()
	delete(a.Annotations, v1alpha1.AnnotationPlannedRange)
	return r.Client.Patch(ctx, a, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

func allocated(is ipam.Range, pool *v1alpha1.NetworkPool) verdict {
	return verdict{
		phase: v1alpha1.IPAllocationAllocated, reason: reasonAllocated, addresses: &is, network: pool.Spec.CIDR,
		message: fmt.Sprintf("%s of NetworkPool %s", is, pool.Name),
	}
}
