// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"
	"net/netip"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// takenError is the refusal of an address that another allocation has.
type takenError struct{ by *v1alpha1.AddressClaim }

func (e *takenError) Error() string { return describe(e.by) }

// in returns whether the address is one of a range.
func (e *takenError) in(r ipam.Range) bool {
	a, err := netip.ParseAddr(e.by.Spec.Address)
	return err == nil && r.Contains(ipam.Single(a))
}

// claim claims all addresses of a range. If one of them is another's, it returns that address
// and a takenError.
func (r *Reconciler) claim(ctx context.Context, a *v1alpha1.IPAllocation, pool *v1alpha1.NetworkPool, all ipam.Range) (netip.Addr, error) {
	for address := range all.All() {
		if err := r.claimOne(ctx, a, pool.Name, address); err != nil {
			return address, err
		}
	}
	return netip.Addr{}, nil
}

func (r *Reconciler) claimOne(ctx context.Context, a *v1alpha1.IPAllocation, pool string, address netip.Addr) error {
	err := r.Client.Create(ctx, &v1alpha1.AddressClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: v1alpha1.AddressClaimName(address)},
		Spec: v1alpha1.AddressClaimSpec{
			Address: address.String(), PoolRef: v1alpha1.LocalReference{Name: pool}, AllocationRef: v1alpha1.LocalReference{Name: a.Name},
		},
	})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	holder, err := r.holder(ctx, a.Namespace, address)
	switch {
	case err != nil:
		return err
	case holder == nil: // deleted in between
		return apierrors.NewConflict(v1alpha1.GroupVersion().WithResource("addressclaims").GroupResource(), address.String(), nil)
	case holds(a, holder):
		return nil
	}
	return &takenError{holder}
}

// holds returns whether a claim is that of an allocation and not released.
func holds(a *v1alpha1.IPAllocation, c *v1alpha1.AddressClaim) bool {
	return c.Spec.AllocationRef.Name == a.Name && c.Spec.ReleasedAt == nil
}

// unclaim deletes claims of addresses that were never handed out.
func (r *Reconciler) unclaim(ctx context.Context, a *v1alpha1.IPAllocation, all ipam.Range) error {
	return r.eachHeld(ctx, a, all, r.remove)
}

// letGo releases addresses that were handed out: they rest before they are allocated again.
func (r *Reconciler) letGo(ctx context.Context, a *v1alpha1.IPAllocation, all ipam.Range) error {
	return r.eachHeld(ctx, a, all, func(ctx context.Context, c *v1alpha1.AddressClaim) error {
		before := c.DeepCopy()
		c.Spec.ReleasedAt = &metav1.Time{Time: r.now()}
		return r.Client.Patch(ctx, c, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
}

func (r *Reconciler) eachHeld(ctx context.Context, a *v1alpha1.IPAllocation, all ipam.Range, do func(context.Context, *v1alpha1.AddressClaim) error) error {
	for address := range all.All() {
		c, err := r.holder(ctx, a.Namespace, address)
		if err != nil {
			return err
		}
		if c == nil || !holds(a, c) {
			continue
		}
		if err := client.IgnoreNotFound(do(ctx, c)); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) remove(ctx context.Context, c *v1alpha1.AddressClaim) error {
	return r.Client.Delete(ctx, c, client.Preconditions{UID: &c.UID, ResourceVersion: &c.ResourceVersion})
}
