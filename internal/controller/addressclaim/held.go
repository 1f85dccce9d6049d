// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addressclaim

import (
	"net/netip"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// MaxAddresses is the largest number of addresses of one IPAllocation.
const MaxAddresses = 4096

// Planned returns the range that an allocation is about to claim, or has claimed.
func Planned(a *v1alpha1.IPAllocation) (ipam.Range, bool) {
	return annotated(a, v1alpha1.AnnotationPlannedRange)
}

// Releasing returns the range whose release is not complete.
func Releasing(a *v1alpha1.IPAllocation) (ipam.Range, bool) {
	return annotated(a, v1alpha1.AnnotationReleasingRange)
}

func annotated(a *v1alpha1.IPAllocation, name string) (ipam.Range, bool) {
	r, err := ipam.ParseRange(a.Annotations[name])
	return r, err == nil && r.Size() <= MaxAddresses
}

// HandedOut returns the range in the status of an allocation.
func HandedOut(a *v1alpha1.IPAllocation) (ipam.Range, bool) {
	r, err := ipam.NewRange(a.Status.StartAddress, a.Status.EndAddress)
	return r, err == nil && r.Size() <= MaxAddresses
}

// Has returns whether an allocation has an address or is about to claim it.
func Has(a *v1alpha1.IPAllocation, address netip.Addr) bool {
	for _, part := range []func(*v1alpha1.IPAllocation) (ipam.Range, bool){Planned, HandedOut} {
		if r, ok := part(a); ok && r.Contains(ipam.Single(address)) {
			return true
		}
	}
	return false
}

// Holds returns whether an address is claimed for an allocation and not released.
func Holds(a *v1alpha1.IPAllocation, c *v1alpha1.AddressClaim) bool {
	return c.Spec.AllocationRef == reference(a) && c.Spec.ReleasedAt == nil
}

// TakesBack returns whether an allocation that was created again can have an address that is
// still claimed in its name: nothing else may use it.
func TakesBack(a *v1alpha1.IPAllocation, c *v1alpha1.AddressClaim) bool {
	return Holds(a, c) && equality.Semantic.DeepEqual(c.Spec.UsedBy, UserOf(a))
}

func reference(a *v1alpha1.IPAllocation) v1alpha1.NamespacedReference {
	return v1alpha1.NamespacedReference{Namespace: a.Namespace, Name: a.Name}
}

// kindTenant is the kind of a user that may be in another namespace than its allocation.
const kindTenant = "TenantCluster"

// UserOf returns what an allocation is for, nil if that cannot be read.
func UserOf(a *v1alpha1.IPAllocation) *v1alpha1.AddressUser {
	switch {
	case a.Spec.MachineRequestRef != nil:
		return &v1alpha1.AddressUser{Kind: "MachineRequest", Name: a.Spec.MachineRequestRef.Name}
	case a.Spec.ClusterBootstrapRef != nil:
		return &v1alpha1.AddressUser{Kind: "ClusterBootstrap", Name: a.Spec.ClusterBootstrapRef.Name}
	case a.Spec.TenantClusterRef != nil:
		return &v1alpha1.AddressUser{Kind: kindTenant, Namespace: a.Spec.TenantClusterRef.Namespace, Name: a.Spec.TenantClusterRef.Name}
	}
	return nil
}
