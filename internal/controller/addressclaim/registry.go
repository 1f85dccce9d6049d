// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addressclaim

import (
	"context"
	"net/netip"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// Registry holds the claims of all addresses. Four rules make sure that no address is handed
// out twice, whatever a cache says and however many controllers there are:
//
//  1. An allocation plans an address, claims it, and hands it out in its status, in this order.
//     The status is written only if the allocation is unchanged since the plan was read.
//  2. A claim that exists already for the allocation itself is confirmed by a write.
//  3. A claim is released only if it is unchanged since before its allocation was read without
//     the address.
//  4. A claim that an earlier allocation of the same name created is not released while what
//     that was for exists, and not removed without a rest.
type Registry struct {
	Client client.Client
	Live   client.Reader
	// Clock is the time; nil: the present one.
	Clock func() time.Time
}

func (r Registry) now() time.Time {
	if r.Clock != nil {
		return r.Clock()
	}
	return time.Now()
}

// Holder returns the claim of an address, nil if there is none.
func (r Registry) Holder(ctx context.Context, address netip.Addr) (*v1alpha1.AddressClaim, error) {
	c := &v1alpha1.AddressClaim{}
	err := r.Live.Get(ctx, client.ObjectKey{Name: v1alpha1.AddressClaimName(address)}, c)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return c, err
}

// Release releases the addresses of a range that an allocation held and does not have any
// more: they rest before they are allocated again.
func (r Registry) Release(ctx context.Context, allocation types.NamespacedName, all ipam.Range) error {
	return r.drop(ctx, allocation, all, keeps, r.rest)
}

// ReleaseDeleted releases the addresses of a range that an allocation had which is being
// deleted, and whose user does not exist any more.
func (r Registry) ReleaseDeleted(ctx context.Context, allocation types.NamespacedName, all ipam.Range) error {
	return r.drop(ctx, allocation, all, keepsAlive, r.rest)
}

// Remove deletes the claims of addresses that an allocation did not hand out.
func (r Registry) Remove(ctx context.Context, allocation types.NamespacedName, all ipam.Range) error {
	return r.drop(ctx, allocation, all, keeps, r.remove)
}

// keeper returns whether an allocation still has the address of a claim.
type keeper func(*v1alpha1.IPAllocation, *v1alpha1.AddressClaim) bool

// drop reads the claims before the allocation, and changes only those that did not change since.
func (r Registry) drop(ctx context.Context, allocation types.NamespacedName, all ipam.Range, keeps keeper, do func(context.Context, *v1alpha1.AddressClaim) error) error {
	held, err := r.held(ctx, allocation, all)
	if err != nil || len(held) == 0 {
		return err
	}
	now, err := r.allocation(ctx, allocation)
	if err != nil {
		return err
	}
	for _, c := range held {
		if keeps(now, c) {
			continue
		}
		letGo := do
		if !created(now, c) {
			letGo = r.restUnlessUsed
		}
		if err := client.IgnoreNotFound(letGo(ctx, c)); err != nil {
			return err
		}
	}
	return nil
}

// created returns whether a claim was created by this very allocation.
func created(by *v1alpha1.IPAllocation, c *v1alpha1.AddressClaim) bool {
	return by != nil && c.Annotations[createdFor] == string(by.UID)
}

// restUnlessUsed releases an address that an earlier allocation of the same name left behind,
// unless what that was for exists: it uses the address, whatever the present one is about to claim.
func (r Registry) restUnlessUsed(ctx context.Context, c *v1alpha1.AddressClaim) error {
	if used, err := r.used(ctx, c); used || err != nil {
		return err
	}
	return r.rest(ctx, c)
}

// held are the claims of a range that are those of an allocation.
func (r Registry) held(ctx context.Context, allocation types.NamespacedName, all ipam.Range) (out []*v1alpha1.AddressClaim, err error) {
	for address := range all.All() {
		c, err := r.Holder(ctx, address)
		if err != nil {
			return nil, err
		}
		if c != nil && c.Spec.ReleasedAt == nil && AllocationOf(c) == allocation {
			out = append(out, c)
		}
	}
	return out, nil
}

// AllocationOf names the allocation of a claim.
func AllocationOf(c *v1alpha1.AddressClaim) types.NamespacedName {
	return types.NamespacedName{Namespace: c.Spec.AllocationRef.Namespace, Name: c.Spec.AllocationRef.Name}
}

// allocation is the present one, nil if it does not exist.
func (r Registry) allocation(ctx context.Context, name types.NamespacedName) (*v1alpha1.IPAllocation, error) {
	a := &v1alpha1.IPAllocation{}
	err := r.Live.Get(ctx, name, a)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return a, err
}

func keeps(a *v1alpha1.IPAllocation, c *v1alpha1.AddressClaim) bool {
	address, err := netip.ParseAddr(c.Spec.Address)
	return a != nil && err == nil && Has(a, address)
}

func keepsAlive(a *v1alpha1.IPAllocation, c *v1alpha1.AddressClaim) bool {
	return keeps(a, c) && a.DeletionTimestamp.IsZero()
}

// rest records that an address is released, and how long it rests if its pool is deleted
// meanwhile.
func (r Registry) rest(ctx context.Context, c *v1alpha1.AddressClaim) error {
	before := c.DeepCopy()
	after, err := r.reuseAfter(ctx, c)
	if err != nil {
		return err
	}
	c.Spec.ReleasedAt, c.Spec.ReuseAfter = &metav1.Time{Time: r.now()}, &metav1.Duration{Duration: after}
	return r.Client.Patch(ctx, c, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// reuseAfter is how long an address rests: as its pool says, or said when that is gone.
func (r Registry) reuseAfter(ctx context.Context, c *v1alpha1.AddressClaim) (time.Duration, error) {
	pool := &v1alpha1.NetworkPool{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: c.Spec.PoolRef.Namespace, Name: c.Spec.PoolRef.Name}, pool)
	if apierrors.IsNotFound(err) && c.Spec.ReuseAfter != nil {
		return c.Spec.ReuseAfter.Duration, nil
	}
	return ipam.ReuseAfter(pool), client.IgnoreNotFound(err)
}

func (r Registry) remove(ctx context.Context, c *v1alpha1.AddressClaim) error {
	return r.Client.Delete(ctx, c, client.Preconditions{UID: &c.UID, ResourceVersion: &c.ResourceVersion})
}
