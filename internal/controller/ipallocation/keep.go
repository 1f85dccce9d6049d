// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/addressclaim"
	"github.com/butlerdotdev/butler/internal/controller/lag"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// keep sees that addresses which were handed out stay claimed, and follows a changed count.
func (r *Reconciler) keep(ctx context.Context, a *v1alpha1.IPAllocation, has ipam.Range, size uint64) (verdict, error) {
	if size < has.Size() {
		return r.shrink(ctx, a, has, size)
	}
	planned, ok := addressclaim.Planned(a)
	switch beyond := ok && planned.First == has.First && planned.Size() > has.Size(); {
	case beyond && planned.Size() > size:
		return verdict{again: lag.Again}, r.trim(ctx, a, has, planned, r.Registry.Release)
	case !beyond && (!ok || planned != has):
		return verdict{again: lag.Again}, r.plan(ctx, a, has)
	case beyond:
		v, err := r.extend(ctx, a, has, planned)
		v.again = lag.Again // the count may ask for more than the plan has
		return v, err
	}
	if v, err := r.hold(ctx, a, has); v.phase != v1alpha1.IPAllocationAllocated || size == has.Size() {
		return v, err
	}
	return r.grow(ctx, a, has, size)
}

// hold claims what was handed out, if that was lost: no other address will do.
func (r *Reconciler) hold(ctx context.Context, a *v1alpha1.IPAllocation, has ipam.Range) (verdict, error) {
	err := r.Registry.Claim(ctx, a, has)
	var taken *addressclaim.TakenError
	if !errors.As(err, &taken) {
		return allocated(a, has), err
	}
	r.free.notice(taken.Address, r.now())
	v := failed(reasonTaken, "%s, and to this one; one of them has to be deleted together with what uses the address", taken)
	v.addresses = &has
	return v, nil
}

// shrink hands out fewer addresses, unless they are in use. The plan still has the others, so
// they stay claimed until the status does not have them any more; the next pass releases them.
func (r *Reconciler) shrink(ctx context.Context, a *v1alpha1.IPAllocation, has ipam.Range, size uint64) (verdict, error) {
	user, err := r.user(ctx, a)
	if err != nil {
		return verdict{}, err
	}
	if user == nil {
		v := allocated(a, has.Head(size))
		v.again = lag.Again
		return v, nil
	}
	v, err := r.keep(ctx, a, has, has.Size())
	if v.reason == reasonAllocated {
		v.reason, v.again = reasonInUse, lookAgain
		v.message += fmt.Sprintf(", and not fewer: %s %s uses them; restore spec.count", user.Kind, user.Name)
	}
	return v, err
}

// trim plans no more than what was handed out, and lets the rest of the former plan go.
func (r *Reconciler) trim(ctx context.Context, a *v1alpha1.IPAllocation, has, planned ipam.Range, how func(context.Context, client.ObjectKey, ipam.Range) error) error {
	rest := ipam.Range{First: has.Last.Next(), Last: planned.Last}
	err := r.annotate(ctx, a, map[string]string{v1alpha1.AnnotationPlannedRange: has.String(), v1alpha1.AnnotationReleasingRange: rest.String()})
	if err != nil {
		return err
	}
	return r.letGo(ctx, a, rest, how)
}

// extend claims a plan that is larger than what was handed out.
func (r *Reconciler) extend(ctx context.Context, a *v1alpha1.IPAllocation, has, planned ipam.Range) (verdict, error) {
	err := r.Registry.Claim(ctx, a, planned)
	var taken *addressclaim.TakenError
	if !errors.As(err, &taken) {
		return allocated(a, planned), err
	}
	r.free.notice(taken.Address, r.now())
	if has.Contains(ipam.Single(taken.Address)) {
		return r.hold(ctx, a, has)
	}
	v := allocated(a, has)
	v.reason, v.message = reasonExhausted, v.message+", and no more: "+taken.Error()
	return v, r.trim(ctx, a, has, planned, r.Registry.Remove)
}

// grow plans and claims the addresses after those that were handed out.
func (r *Reconciler) grow(ctx context.Context, a *v1alpha1.IPAllocation, has ipam.Range, size uint64) (verdict, error) {
	v := allocated(a, has)
	pool, refusal, err := r.pool(ctx, a)
	if err != nil {
		return verdict{}, err
	}
	if pool == nil {
		v.reason, v.message = refusal.reason, v.message+", and no more: "+refusal.message
		return v, nil
	}
	more, ok, err := r.use(ctx, pool, func(s *ipam.Space) (ipam.Range, bool) { return s.After(has, size-has.Size()) })
	if err != nil {
		return verdict{}, err
	}
	if !ok {
		v.reason, v.message = reasonExhausted, v.message+": the addresses after them are not free, so there are no more; set spec.count back, or create another IPAllocation"
		v.again = r.unsure()
		return v, nil
	}
	defer r.free.done(more)
	larger := ipam.Range{First: has.First, Last: more.Last}
	if err := r.plan(ctx, a, larger); err != nil {
		return verdict{}, err
	}
	return r.extend(ctx, a, has, larger)
}
