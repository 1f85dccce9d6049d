// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"net/netip"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AddressClaimSpec says who has an address.
type AddressClaimSpec struct {
	// Address that is claimed; the name of the object follows from it.
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule="isIP(self) && self == oldSelf",message="address is an IP address, and immutable"
	Address string `json:"address"`
	// PoolRef names the NetworkPool that the address was allocated from.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="poolRef is immutable"
	PoolRef LocalReference `json:"poolRef"`
	// AllocationRef names the IPAllocation that has the address.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="allocationRef is immutable: the address is released and rests before it is another's"
	AllocationRef LocalReference `json:"allocationRef"`
	// ReleasedAt is when the address was released; it rests from then on.
	// +optional
	ReleasedAt *metav1.Time `json:"releasedAt,omitempty"`
}

// AddressClaim is an address that is allocated or rests. Its name is the address, so the API
// server has at most one of an address in a namespace: it decides who has it.
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=ac
// +kubebuilder:printcolumn:name="Address",type=string,JSONPath=`.spec.address`
// +kubebuilder:printcolumn:name="Pool",type=string,JSONPath=`.spec.poolRef.name`
// +kubebuilder:printcolumn:name="Allocation",type=string,JSONPath=`.spec.allocationRef.name`
// +kubebuilder:printcolumn:name="Released",type=date,JSONPath=`.spec.releasedAt`
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
