// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/addressclaim"
	"github.com/butlerdotdev/butler/internal/controller/lag"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// allocate claims addresses. Those that were handed out stay, whatever becomes of the pool.
func (r *Reconciler) allocate(ctx context.Context, a *v1alpha1.IPAllocation) (verdict, error) {
	size, v := wanted(a)
	if v.phase != "" {
		return v, nil
	}
	if rest, ok := addressclaim.Releasing(a); ok {
		return verdict{again: lag.Again}, r.letGo(ctx, a, rest, r.Registry.Release)
	}
	if has, ok := addressclaim.HandedOut(a); ok {
		return r.keep(ctx, a, has, size)
	}
	pool, refusal, err := r.pool(ctx, a)
	if err != nil || pool == nil {
		return refusal, err
	}
	planned, ok := addressclaim.Planned(a)
	if !ok {
		return r.begin(ctx, a, pool, size)
	}
	switch valid, err := r.valid(ctx, a, pool, planned, size); {
	case err != nil:
		return verdict{}, err
	case !valid:
		return verdict{again: lag.Again}, r.giveUp(ctx, a, planned)
	}
	return r.claim(ctx, a, pool, planned)
}

// valid returns whether a plan is still what the allocation asks for and the pool allows.
func (r *Reconciler) valid(ctx context.Context, a *v1alpha1.IPAllocation, pool *v1alpha1.NetworkPool, planned ipam.Range, size uint64) (bool, error) {
	if pinned, ok := pinnedRange(a); ok && pinned != planned {
		return false, nil
	}
	p, err := r.describe(ctx, pool)
	return planned.Size() == size && p.Allowed(planned) == size, err
}

// pool is the NetworkPool if addresses can be allocated from it.
func (r *Reconciler) pool(ctx context.Context, a *v1alpha1.IPAllocation) (*v1alpha1.NetworkPool, verdict, error) {
	pool := &v1alpha1.NetworkPool{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: a.Namespace, Name: a.Spec.PoolRef.Name}, pool)
	switch ready := meta.FindStatusCondition(pool.Status.Conditions, v1alpha1.ConditionReady); {
	case apierrors.IsNotFound(err):
		return nil, pending(reasonPoolMissing, "NetworkPool %s does not exist; create it", a.Spec.PoolRef.Name), nil
	case err != nil:
		return nil, verdict{}, err
	case !pool.DeletionTimestamp.IsZero():
		return nil, pending(reasonPoolDeleting, "NetworkPool %s is being deleted; create another IPAllocation", pool.Name), nil
	case ready == nil || ready.ObservedGeneration != pool.Generation:
		return nil, pending(reasonPoolNotReady, "NetworkPool %s has not been checked yet", pool.Name), nil
	case ready.Status != metav1.ConditionTrue:
		return nil, pending(reasonPoolNotReady, "NetworkPool %s is not ready: %s", pool.Name, ready.Message), nil
	}
	return pool, verdict{}, nil
}

// begin chooses addresses, plans and claims them.
func (r *Reconciler) begin(ctx context.Context, a *v1alpha1.IPAllocation, pool *v1alpha1.NetworkPool, size uint64) (verdict, error) {
	chosen, refusal, err := r.choose(ctx, a, pool, size)
	if err != nil || refusal.phase != "" {
		return refusal, err
	}
	defer r.free.done(chosen)
	if err := r.plan(ctx, a, chosen); err != nil {
		return verdict{}, err
	}
	return r.claim(ctx, a, pool, chosen)
}

// claim claims what is planned, or gives it up: nothing of it was handed out.
func (r *Reconciler) claim(ctx context.Context, a *v1alpha1.IPAllocation, pool *v1alpha1.NetworkPool, planned ipam.Range) (verdict, error) {
	err := r.Registry.Claim(ctx, a, planned)
	if taken, ok := errors.AsType[*addressclaim.TakenError](err); ok {
		r.free.notice(taken.Address, r.now())
		return verdict{again: lag.Again}, r.giveUp(ctx, a, planned)
	}
	v := allocated(a, planned)
	v.network = pool.Spec.CIDR
	return v, err
}

// giveUp replaces a plan that cannot be carried out by the record of its release.
func (r *Reconciler) giveUp(ctx context.Context, a *v1alpha1.IPAllocation, planned ipam.Range) error {
	err := r.annotate(ctx, a, map[string]string{v1alpha1.AnnotationPlannedRange: "", v1alpha1.AnnotationReleasingRange: planned.String()})
	if err != nil {
		return err
	}
	return r.letGo(ctx, a, planned, r.Registry.Remove)
}

// letGo lets addresses go that the plan does not have any more, and removes the record of it.
func (r *Reconciler) letGo(ctx context.Context, a *v1alpha1.IPAllocation, rest ipam.Range, how func(context.Context, client.ObjectKey, ipam.Range) error) error {
	if err := how(ctx, client.ObjectKeyFromObject(a), rest); err != nil {
		return err
	}
	return r.annotate(ctx, a, map[string]string{v1alpha1.AnnotationReleasingRange: ""})
}

// plan records what is about to be claimed.
func (r *Reconciler) plan(ctx context.Context, a *v1alpha1.IPAllocation, planned ipam.Range) error {
	return r.annotate(ctx, a, map[string]string{v1alpha1.AnnotationPlannedRange: planned.String()})
}

// annotate writes annotations, or removes empty ones, unless the allocation has changed. The
// finalizer comes with them: no claim is left behind.
func (r *Reconciler) annotate(ctx context.Context, a *v1alpha1.IPAllocation, with map[string]string) error {
	before := a.DeepCopy()
	controllerutil.AddFinalizer(a, v1alpha1.FinalizerIPAllocation)
	for name, text := range with {
		if text == "" {
			delete(a.Annotations, name)
		} else {
			metav1.SetMetaDataAnnotation(&a.ObjectMeta, name, text)
		}
	}
	if equality.Semantic.DeepEqual(before.ObjectMeta, a.ObjectMeta) {
		return nil
	}
	return r.Client.Patch(ctx, a, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}
