// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/addressclaim"
)

// release releases the addresses of an allocation that is being deleted, as soon as what it
// is for does not exist any more.
func (r *Reconciler) release(ctx context.Context, a *v1alpha1.IPAllocation) (verdict, error) {
	if !controllerutil.ContainsFinalizer(a, v1alpha1.FinalizerIPAllocation) {
		return verdict{}, nil
	}
	if user := addressclaim.UserOf(a); user != nil {
		used, err := r.Registry.Used(ctx, client.ObjectKeyFromObject(a), *user)
		if err != nil {
			return verdict{}, err
		}
		if used {
			return pending(reasonInUse, "%s %s has these addresses; they are released when it is gone", user.Kind, user.Name), nil
		}
	}
	if err := r.releaseAll(ctx, a); err != nil {
		return verdict{}, err
	}
	return verdict{phase: v1alpha1.IPAllocationReleased, reason: reasonReleased, message: "the addresses rest", after: r.leave}, nil
}

// releaseAll releases what the allocation has and what it was about to claim.
func (r *Reconciler) releaseAll(ctx context.Context, a *v1alpha1.IPAllocation) error {
	key := client.ObjectKeyFromObject(a)
	has, ok := addressclaim.HandedOut(a)
	if ok {
		if err := r.Registry.ReleaseDeleted(ctx, key, has); err != nil {
			return err
		}
	}
	if planned, also := addressclaim.Planned(a); also && (!ok || planned != has) {
		return r.Registry.ReleaseDeleted(ctx, key, planned)
	}
	return nil
}

// leave lets the allocation go.
func (r *Reconciler) leave(ctx context.Context, a *v1alpha1.IPAllocation) error {
	before := a.DeepCopy()
	controllerutil.RemoveFinalizer(a, v1alpha1.FinalizerIPAllocation)
	return r.Client.Patch(ctx, a, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}
