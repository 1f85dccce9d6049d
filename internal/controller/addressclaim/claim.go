// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addressclaim

import (
	"context"
	"fmt"
	"net/netip"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// confirmed is the annotation of a claim that was found by its own allocation: the version of
// the allocation that counts on it. It changes the version of the claim, so that a release
// which was decided before fails.
const confirmed = v1alpha1.Group + "/confirmed"

// createdFor is the annotation of a claim with the UID of the allocation that created it. One
// of the same name that was created again, or on another plane, has another UID.
const createdFor = v1alpha1.Group + "/created-for"

// TakenError is the refusal of an address that another allocation has, or that rests.
type TakenError struct {
	Address netip.Addr
	By      *v1alpha1.AddressClaim
}

// Error names the address and its holder.
func (e *TakenError) Error() string {
	by := e.By.Spec.AllocationRef.Namespace + "/" + e.By.Spec.AllocationRef.Name
	if e.By.Spec.ReleasedAt != nil {
		return fmt.Sprintf("%s was released by IPAllocation %s and cannot be reused yet", e.Address, by)
	}
	return fmt.Sprintf("%s is allocated to IPAllocation %s", e.Address, by)
}

// Claim claims all addresses of a range for an allocation whose plan has them. It returns a
// TakenError for the first that it cannot get.
func (r Registry) Claim(ctx context.Context, a *v1alpha1.IPAllocation, all ipam.Range) error {
	for address := range all.All() {
		if err := r.claim(ctx, a, address); err != nil {
			return err
		}
	}
	return nil
}

func (r Registry) claim(ctx context.Context, a *v1alpha1.IPAllocation, address netip.Addr) error {
	if r.known(ctx, a, address) {
		return nil
	}
	err := r.Client.Create(ctx, newClaim(a, address))
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	holder, err := r.Holder(ctx, address)
	switch {
	case err != nil:
		return err
	case holder == nil: // deleted in between
		return apierrors.NewConflict(v1alpha1.GroupVersion().WithResource("addressclaims").GroupResource(), address.String(), nil)
	case Holds(a, holder):
		return r.confirm(ctx, a, holder)
	}
	return &TakenError{address, holder}
}

// known returns whether an address that was handed out is claimed as far as the cache says.
func (r Registry) known(ctx context.Context, a *v1alpha1.IPAllocation, address netip.Addr) bool {
	if has, ok := HandedOut(a); !ok || !has.Contains(ipam.Single(address)) {
		return false
	}
	c := &v1alpha1.AddressClaim{}
	return r.Client.Get(ctx, client.ObjectKey{Name: v1alpha1.AddressClaimName(address)}, c) == nil && Holds(a, c)
}

// confirm records that an allocation counts on a claim that it did not create just now.
func (r Registry) confirm(ctx context.Context, a *v1alpha1.IPAllocation, c *v1alpha1.AddressClaim) error {
	before := c.DeepCopy()
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[confirmed] = a.ResourceVersion
	return r.Client.Patch(ctx, c, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// newClaim is the claim of an address. It has the marks by which a move of the cluster finds it.
func newClaim(a *v1alpha1.IPAllocation, address netip.Addr) *v1alpha1.AddressClaim {
	c := &v1alpha1.AddressClaim{
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.AddressClaimName(address), Annotations: map[string]string{createdFor: string(a.UID)}},
		Spec: v1alpha1.AddressClaimSpec{
			Address: address.String(), PoolRef: v1alpha1.NamespacedReference{Namespace: a.Namespace, Name: a.Spec.PoolRef.Name},
			AllocationRef: reference(a), UsedBy: UserOf(a),
		},
	}
	if name := a.Labels[v1alpha1.LabelClusterBootstrap]; name != "" {
		c.Labels = map[string]string{v1alpha1.LabelClusterBootstrap: name}
	}
	if id := a.Annotations[v1alpha1.AnnotationClusterID]; id != "" {
		c.Annotations[v1alpha1.AnnotationClusterID] = id
	}
	return c
}
