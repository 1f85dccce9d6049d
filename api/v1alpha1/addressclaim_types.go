// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"net/netip"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AddressUser names what uses an address.
type AddressUser struct {
	// Kind of the object.
	// +kubebuilder:validation:Enum=MachineRequest;ClusterBootstrap;TenantCluster
	Kind string `json:"kind"`
	// Namespace of the object; that of the IPAllocation if it is left out.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// AddressClaimSpec describes which IPAllocation has an address.
// +kubebuilder:validation:XValidation:rule="has(self.usedBy) == has(oldSelf.usedBy) && (!has(self.usedBy) || self.usedBy == oldSelf.usedBy)",message="usedBy is immutable"
type AddressClaimSpec struct {
	// Address that is claimed; the name of the object follows from it.
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule="isIP(self)",message="address must be an IP address"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="address is immutable"
	Address string `json:"address"`
	// PoolRef names the NetworkPool that the address was allocated from.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="poolRef is immutable"
	PoolRef NamespacedReference `json:"poolRef"`
	// AllocationRef names the IPAllocation that has the address.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="allocationRef is immutable: an address is released and rests before another IPAllocation gets it"
	AllocationRef NamespacedReference `json:"allocationRef"`
	// UsedBy is what the IPAllocation is for. An address is not released while it exists, not
	// even if the IPAllocation is gone.
	// +optional
	UsedBy *AddressUser `json:"usedBy,omitempty"`
	// ReleasedAt is when the address was released; it rests from then on.
	// +optional
	ReleasedAt *metav1.Time `json:"releasedAt,omitempty"`
	// ReuseAfter is how long the address rests once its pool is gone: the reuseAfter of
	// the pool when the address was released. While the pool exists, its own reuseAfter applies.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('8760h')",message="reuseAfter is at most 8760h"
	// +optional
	ReuseAfter *metav1.Duration `json:"reuseAfter,omitempty"`
}

// AddressClaim is an address that is allocated or rests. Its name is the address and it has no
// namespace, so that the API server holds at most one claim for each address.
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=ac,scope=Cluster
// +kubebuilder:printcolumn:name="Address",type=string,JSONPath=`.spec.address`
// +kubebuilder:printcolumn:name="Namespace",type=string,JSONPath=`.spec.allocationRef.namespace`
// +kubebuilder:printcolumn:name="Pool",type=string,JSONPath=`.spec.poolRef.name`
// +kubebuilder:printcolumn:name="Allocation",type=string,JSONPath=`.spec.allocationRef.name`
// +kubebuilder:printcolumn:name="Released",type=date,JSONPath=`.spec.releasedAt`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name == self.spec.address || self.metadata.name.matches('^[0-9a-f]{4}(-[0-9a-f]{4}){7}$') && isIP(self.spec.address) && cidr(self.spec.address + '/128').containsIP(self.metadata.name.replace('-', ':'))",message="the name must be the address, for IPv6 in full and with dashes"
type AddressClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AddressClaimSpec `json:"spec"`
}

// AddressClaimList is a list of AddressClaims.
// +kubebuilder:object:root=true
type AddressClaimList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []AddressClaim `json:"items"`
}

// AddressClaimName is the name of the claim of an address: the address itself, for IPv6 in
// full and with dashes.
func AddressClaimName(a netip.Addr) string {
	return strings.ReplaceAll(a.StringExpanded(), ":", "-")
}
