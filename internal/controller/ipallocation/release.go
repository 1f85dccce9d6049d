// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/addressclaim"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// release releases the addresses of an allocation that is being deleted, as soon as what it
// is for does not exist any more.
func (r *Reconciler) release(ctx context.Context, a *v1alpha1.IPAllocation) (verdict, error) {
	if !controllerutil.ContainsFinalizer(a, v1alpha1.FinalizerIPAllocation) {
		return verdict{}, nil
	}
	user, err := r.user(ctx, a)
	if err != nil {
		return verdict{}, err
	}
	if user != nil {
		v := pending(reasonInUse, "%s %s has these addresses; they are released when it is gone", user.Kind, user.Name)
		v.again = lookAgain
		return v, nil
	}
	return verdict{phase: v1alpha1.IPAllocationReleased, reason: reasonReleased, message: "the addresses rest", after: r.leave}, nil
}

// user is what has the addresses of an allocation, nil if nothing has.
func (r *Reconciler) user(ctx context.Context, a *v1alpha1.IPAllocation) (*v1alpha1.AddressUser, error) {
	user := addressclaim.UserOf(a)
	if user == nil {
		return nil, nil
	}
	if used, err := r.Registry.Used(ctx, client.ObjectKeyFromObject(a), *user); !used || err != nil {
		return nil, err
	}
	return user, nil
}

// releaseAll releases what the allocation has, had, and was about to claim.
func (r *Reconciler) releaseAll(ctx context.Context, a *v1alpha1.IPAllocation) error {
	var last ipam.Range
	for _, part := range []func(*v1alpha1.IPAllocation) (ipam.Range, bool){addressclaim.HandedOut, addressclaim.Planned, addressclaim.Releasing} {
		these, ok := part(a)
		if !ok || these == last {
			continue
		}
		if err := r.Registry.ReleaseDeleted(ctx, client.ObjectKeyFromObject(a), these); err != nil {
			return err
		}
		last = these
	}
	return nil
}

// leave releases the addresses and lets the allocation go, whose status says so already.
func (r *Reconciler) leave(ctx context.Context, a *v1alpha1.IPAllocation) error {
	if err := r.releaseAll(ctx, a); err != nil {
		return err
	}
	before := a.DeepCopy()
	controllerutil.RemoveFinalizer(a, v1alpha1.FinalizerIPAllocation)
	return r.Client.Patch(ctx, a, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}
