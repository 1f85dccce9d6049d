// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package addressclaim has the claims of addresses, by which the API server decides who has an
// address. It reconciles them: released addresses rest, and then they are free; an address
// that no IPAllocation has any more is released.
package addressclaim

import (
	"context"
	"net/netip"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/lag"
	"github.com/butlerdotdev/butler/internal/ipam"
)

const (
	// orphanAfter is how old a claim without an IPAllocation is before it is released: an operator who
	// restores objects from a backup may restore the claims first.
	orphanAfter = 10 * time.Minute
	// clockSkew is how far the clocks of two controllers may differ.
	clockSkew = time.Minute
)

// Reconciler ends the rest of addresses and releases those that no allocation has.
type Reconciler struct {
	Registry

	Fence Fence
	// Namespace, if set, is that of the allocations whose claims are reconciled.
	Namespace string
}

// Reconcile reconciles an AddressClaim once.
func (r *Reconciler) Reconcile(ctx context.Context, c *v1alpha1.AddressClaim) (result reconcile.Result, err error) {
	if r.Namespace != "" && r.Namespace != c.Spec.AllocationRef.Namespace {
		return result, nil
	}
	if held, err := r.Fence.Holds(ctx, c.Spec.AllocationRef.Namespace); held || err != nil {
		return reconcile.Result{}, err
	}
	if c.Spec.ReleasedAt != nil {
		result.RequeueAfter, err = r.resting(ctx, c)
	} else {
		result.RequeueAfter, err = r.allocated(ctx, c)
	}
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: lag.Again}, nil
	}
	return result, client.IgnoreNotFound(err)
}

// resting deletes a claim that has rested long enough, or returns when it has.
func (r *Reconciler) resting(ctx context.Context, c *v1alpha1.AddressClaim) (time.Duration, error) {
	if left, err := r.left(ctx, c); left > 0 || err != nil {
		return left, err
	}
	return 0, r.remove(ctx, c)
}

// left is how long an address still rests. One that was released at a time to come, by a
// clock that was wrong, rests from now on.
func (r *Reconciler) left(ctx context.Context, c *v1alpha1.AddressClaim) (time.Duration, error) {
	if c.Spec.ReleasedAt.Sub(r.now()) > clockSkew {
		return lag.Again, r.rest(ctx, c)
	}
	after, err := r.reuseAfter(ctx, c)
	return c.Spec.ReleasedAt.Add(after).Sub(r.now()), err
}

// allocated releases an address that its allocation does not have and that nothing uses.
func (r *Reconciler) allocated(ctx context.Context, c *v1alpha1.AddressClaim) (time.Duration, error) {
	a := &v1alpha1.IPAllocation{}
	switch err := r.Client.Get(ctx, AllocationOf(c), a); {
	case apierrors.IsNotFound(err):
		return r.orphan(ctx, c)
	case err != nil || !a.DeletionTimestamp.IsZero() || keeps(a, c):
		return 0, err // one that is being deleted is released together with its allocation
	}
	return r.unused(ctx, c)
}

// orphan releases an address without an allocation.
func (r *Reconciler) orphan(ctx context.Context, c *v1alpha1.AddressClaim) (time.Duration, error) {
	if young := c.CreationTimestamp.Add(orphanAfter).Sub(r.now()); young > 0 {
		return min(young, orphanAfter), nil
	}
	if a, err := r.allocation(ctx, AllocationOf(c)); a != nil || err != nil {
		return lag.Again, err
	}
	return r.unused(ctx, c)
}

// unused releases an address unless what it was for exists: the allocation may have been
// replaced by another one of the same name.
func (r *Reconciler) unused(ctx context.Context, c *v1alpha1.AddressClaim) (time.Duration, error) {
	used, err := r.used(ctx, c)
	if err != nil || used {
		return orphanAfter, err
	}
	return 0, r.release(ctx, c)
}

func (r *Reconciler) release(ctx context.Context, c *v1alpha1.AddressClaim) error {
	address, err := netip.ParseAddr(c.Spec.Address)
	if err != nil {
		return err
	}
	log.FromContext(ctx).Info("release an address that its IPAllocation does not have", "allocation", AllocationOf(c))
	return r.Release(ctx, AllocationOf(c), ipam.Single(address))
}

// used returns whether what the address was for exists.
func (r Registry) used(ctx context.Context, c *v1alpha1.AddressClaim) (bool, error) {
	if c.Spec.UsedBy == nil {
		return false, nil
	}
	return r.Used(ctx, AllocationOf(c), *c.Spec.UsedBy)
}

// Used returns whether what an allocation is for has its addresses. A MachineRequest has them
// as long as it exists. A ClusterBootstrap has those that its status lists; if it is being
// deleted, as long as it has machines. A TenantCluster has those that its status lists, from
// which its controller removes them once the machines are gone.
func (r Registry) Used(ctx context.Context, allocation types.NamespacedName, u v1alpha1.AddressUser) (bool, error) {
	switch u.Kind {
	case "ClusterBootstrap":
		return r.usedByCluster(ctx, allocation, u.Name)
	case kindTenant:
		return r.usedByTenant(ctx, allocation, types.NamespacedName{Namespace: u.Namespace, Name: u.Name})
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(v1alpha1.GroupVersion().WithKind(u.Kind))
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: allocation.Namespace, Name: u.Name}, o)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

func (r Registry) usedByTenant(ctx context.Context, allocation, tenant types.NamespacedName) (bool, error) {
	tc := &v1alpha1.TenantCluster{}
	err := r.Live.Get(ctx, tenant, tc)
	listed := slices.ContainsFunc(tc.Status.Allocations, func(a v1alpha1.TenantAddresses) bool { return a.Name == allocation.Name })
	return listed, client.IgnoreNotFound(err)
}

func (r Registry) usedByCluster(ctx context.Context, allocation types.NamespacedName, name string) (bool, error) {
	cb := &v1alpha1.ClusterBootstrap{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: allocation.Namespace, Name: name}, cb)
	listed := slices.ContainsFunc(cb.Status.Allocations, func(a v1alpha1.BootstrapAllocation) bool { return a.Name == allocation.Name })
	if err != nil || !listed || cb.DeletionTimestamp.IsZero() {
		return listed, client.IgnoreNotFound(err)
	}
	all := &metav1.PartialObjectMetadataList{}
	all.SetGroupVersionKind(v1alpha1.GroupVersion().WithKind("MachineRequestList"))
	err = r.Live.List(ctx, all, client.InNamespace(allocation.Namespace), client.MatchingLabels{v1alpha1.LabelClusterBootstrap: name})
	return len(all.Items) > 0, err
}
