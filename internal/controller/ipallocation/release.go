// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// release lets go of the addresses of an allocation that is being deleted, as soon as what
// it is for does not exist any more.
func (r *Reconciler) release(ctx context.Context, a *v1alpha1.IPAllocation) (verdict, error) {
	if !controllerutil.ContainsFinalizer(a, v1alpha1.FinalizerIPAllocation) {
		return verdict{}, nil
	}
	user, err := r.user(ctx, a)
	if err != nil {
		return verdict{}, err
	}
	if user != "" {
		v := verdict{phase: a.Status.Phase, reason: reasonInUse, message: user + " has these addresses; they are released when it is gone"}
		if has, ok := handedOut(a); ok {
			v.addresses, v.network = &has, a.Status.CIDR
		}
		return v, nil
	}
	if err := r.letGoAll(ctx, a); err != nil {
		return verdict{}, err
	}
	controllerutil.RemoveFinalizer(a, v1alpha1.FinalizerIPAllocation)
	return verdict{}, r.Client.Update(ctx, a)
}

// letGoAll releases what was handed out, and removes the claims of what was not.
func (r *Reconciler) letGoAll(ctx context.Context, a *v1alpha1.IPAllocation) error {
	if has, ok := handedOut(a); ok {
		if err := r.letGo(ctx, a, has); err != nil {
			return err
		}
	}
	planned, err := plannedRange(a)
	if err != nil || planned == nil {
		return err
	}
	return r.unclaim(ctx, a, *planned)
}

// user is what the addresses are for, "" if it does not exist.
func (r *Reconciler) user(ctx context.Context, a *v1alpha1.IPAllocation) (string, error) {
	kind, name := "", ""
	switch {
	case a.Spec.MachineRequestRef != nil:
		kind, name = "MachineRequest", a.Spec.MachineRequestRef.Name
	case a.Spec.ClusterBootstrapRef != nil:
		kind, name = "ClusterBootstrap", a.Spec.ClusterBootstrapRef.Name
	default:
		return "", nil
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(v1alpha1.GroupVersion().WithKind(kind))
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: a.Namespace, Name: name}, o)
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	return kind + " " + name, err
}
