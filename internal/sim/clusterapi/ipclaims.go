// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// ipClaims plays the controller of IPAddressClaims.
type ipClaims struct{ client.Client }

// errNoAddress is the end of a pool, in the words of the provider.
var errNoAddress = errors.New("failed to find free address: no address available")

// Reconcile gives a claim the lowest free address of its pool, or takes it back.
func (r *ipClaims) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	claim := ipam("IPAddressClaim")
	if err := r.Get(ctx, request.NamespacedName, claim); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if textOf(claim.Object, "spec", "poolRef", "kind") != poolKind {
		return ctrl.Result{}, nil
	}
	if claim.GetDeletionTimestamp() != nil {
		return ctrl.Result{}, r.release(ctx, claim)
	}
	cluster, err := get(ctx, r, coreGroup+"/v1beta2", "Cluster", claim.GetNamespace(), clusterNamed(claim))
	if err != nil || cluster == nil || isPaused(cluster, claim) {
		return ctrl.Result{RequeueAfter: again}, err
	}
	before := claim.DeepCopy()
	if controllerutil.AddFinalizer(claim, releaseAddress) {
		if err := r.Patch(ctx, claim, client.MergeFrom(before)); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, r.bind(ctx, claim)
}

// bind creates the address of a claim.
func (r *ipClaims) bind(ctx context.Context, claim *unstructured.Unstructured) error {
	name := textOf(claim.Object, "spec", "poolRef", "name")
	pool, err := get(ctx, r, ipam(poolKind).GetAPIVersion(), poolKind, claim.GetNamespace(), name)
	if err != nil || pool == nil {
		return err // the watch of pools reports it
	}
	address, err := get(ctx, r, ipam("IPAddress").GetAPIVersion(), "IPAddress", claim.GetNamespace(), claim.GetName())
	if err != nil {
		return err
	}
	if address == nil {
		if address, err = r.newAddress(ctx, claim, pool); err != nil {
			return err
		}
		if err := r.Create(ctx, address); err != nil {
			return fmt.Errorf("failed to create or patch address: %w", err)
		}
	}
	before := claim.DeepCopy()
	_ = unstructured.SetNestedField(claim.Object, address.GetName(), "status", "addressRef", "name")
	return r.Status().Patch(ctx, claim, client.MergeFrom(before))
}

func (r *ipClaims) newAddress(ctx context.Context, claim, pool *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	free, err := freeAddress(ctx, r, pool)
	if err != nil {
		return nil, err
	}
	a := ipam("IPAddress")
	a.SetName(claim.GetName())
	a.SetNamespace(claim.GetNamespace())
	a.SetLabels(map[string]string{coreGroup + "/cluster-name": clusterNamed(claim)})
	a.SetFinalizers([]string{protectAddress})
	a.SetOwnerReferences([]metav1.OwnerReference{owned(claim, true), owned(pool, false)})
	a.Object["spec"] = map[string]any{
		"claimRef": map[string]any{"name": claim.GetName()}, "address": free.String(),
		"poolRef": map[string]any{"apiGroup": ipamGroup, "kind": poolKind, "name": pool.GetName()},
		"prefix":  numberOf(pool.Object, "spec", "prefix"), "gateway": textOf(pool.Object, "spec", "gateway"),
	}
	return a, nil
}

// freeAddress is the lowest address of a pool that no IPAddress has. One that was just
// released is as good as any.
func freeAddress(ctx context.Context, c client.Reader, pool *unstructured.Unstructured) (netip.Addr, error) {
	all, err := addressesOf(pool)
	if err != nil {
		return netip.Addr{}, err
	}
	taken, err := inUse(ctx, c, pool)
	if err != nil {
		return netip.Addr{}, err
	}
	for a := range all.usable() {
		if !taken[a] {
			return a, nil
		}
	}
	return netip.Addr{}, errNoAddress
}

// release deletes the address of a claim, and lets the claim go.
func (r *ipClaims) release(ctx context.Context, claim *unstructured.Unstructured) error {
	address, err := get(ctx, r, ipam("IPAddress").GetAPIVersion(), "IPAddress", claim.GetNamespace(), claim.GetName())
	if err != nil {
		return err
	}
	if address != nil {
		before := address.DeepCopy()
		if controllerutil.RemoveFinalizer(address, protectAddress) {
			if err := client.IgnoreNotFound(r.Patch(ctx, address, client.MergeFrom(before))); err != nil {
				return err
			}
		}
		if err := client.IgnoreNotFound(r.Delete(ctx, address)); err != nil {
			return err
		}
	}
	before := claim.DeepCopy()
	if !controllerutil.RemoveFinalizer(claim, releaseAddress) {
		return nil
	}
	return client.IgnoreNotFound(r.Patch(ctx, claim, client.MergeFrom(before)))
}
