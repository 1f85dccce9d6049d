// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// ipPools plays the controller and the webhook of InClusterIPPools.
type ipPools struct{ client.Client }

// Reconcile counts the addresses of a pool, and keeps it as long as some are in use.
func (r *ipPools) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	pool := ipam(poolKind)
	if err := r.Get(ctx, request.NamespacedName, pool); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	taken, err := inUse(ctx, r, pool)
	if err != nil {
		return ctrl.Result{}, err
	}
	before := pool.DeepCopy()
	if pool.GetDeletionTimestamp() != nil {
		if len(taken) == 0 && controllerutil.RemoveFinalizer(pool, protectPool) {
			return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, pool, client.MergeFrom(before)))
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(pool, protectPool) {
		if err := r.Patch(ctx, pool, client.MergeFrom(before)); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, r.count(ctx, pool, taken)
}

func (r *ipPools) count(ctx context.Context, pool *unstructured.Unstructured, taken map[netip.Addr]bool) error {
	all, err := addressesOf(pool)
	if err != nil {
		return err
	}
	total, within := int64(0), int64(0)
	for a := range all.usable() {
		total++
		if taken[a] {
			within++
		}
	}
	used := int64(len(taken))
	before := pool.DeepCopy()
	_ = unstructured.SetNestedMap(pool.Object, map[string]any{"total": total, "used": used, "free": total - used, "outOfRange": used - within}, "status", "ipAddresses")
	return r.Status().Patch(ctx, pool, client.MergeFrom(before))
}

// inUse are the addresses of a pool that an IPAddress has.
func inUse(ctx context.Context, c client.Reader, pool *unstructured.Unstructured) (map[netip.Addr]bool, error) {
	all, err := listIPAM(ctx, c, "IPAddress", pool.GetNamespace())
	out := map[netip.Addr]bool{}
	for i := range all {
		a, wrong := netip.ParseAddr(textOf(all[i].Object, "spec", "address"))
		if wrong == nil && textOf(all[i].Object, "spec", "poolRef", "name") == pool.GetName() {
			out[a] = true
		}
	}
	return out, err
}

// validate is the webhook: addresses of one network, none of those in use is removed, and a
// pool with addresses in use is not deleted.
func (r *ipPools) validate(ctx context.Context, request admission.Request) admission.Response {
	pool := ipam(poolKind)
	raw := request.Object.Raw
	if request.Operation == admissionv1.Delete {
		raw = request.OldObject.Raw
	}
	if err := json.Unmarshal(raw, &pool.Object); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	taken, err := inUse(ctx, r, pool)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if request.Operation == admissionv1.Delete {
		if len(taken) > 0 {
			return admission.Denied("Pool has IPAddresses allocated. Cannot delete Pool until all IPAddresses have been removed.")
		}
		return admission.Allowed("")
	}
	if pool.GetDeletionTimestamp() != nil {
		taken = nil
	}
	if err := checkAddresses(pool, taken); err != nil {
		return admission.Denied(err.Error())
	}
	return admission.Allowed("")
}

func checkAddresses(pool *unstructured.Unstructured, taken map[netip.Addr]bool) error {
	all, err := addressesOf(pool)
	if err != nil {
		return err
	}
	for a := range taken {
		if !all.contains(a) {
			return fmt.Errorf("pool addresses do not contain allocated addresses: %s", a)
		}
	}
	return nil
}
