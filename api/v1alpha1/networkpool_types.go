// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ReservedRange is a part of a NetworkPool that is never allocated.
type ReservedRange struct {
	// CIDR of the addresses; a single one is a /32 or a /128.
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self)",message="reserved cidr must be a CIDR such as 10.40.0.0/28"
	CIDR string `json:"cidr"`
	// Description of what uses them.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Description string `json:"description,omitempty"`
}

// TenantAllocation is the part of a NetworkPool that addresses are allocated from.
// +kubebuilder:validation:XValidation:rule="has(self.start) == has(self.end)",message="start and end belong together"
// +kubebuilder:validation:XValidation:rule="!has(self.start) || !has(self.ranges) || size(self.ranges) == 0",message="start and end, or ranges, but not both"
type TenantAllocation struct {
	// Start is the first address, where there is one range.
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule="isIP(self)",message="start must be an IP address"
	// +optional
	Start string `json:"start,omitempty"`
	// End is the last address, where there is one range.
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule="isIP(self)",message="end must be an IP address"
	// +optional
	End string `json:"end,omitempty"`
	// Ranges of addresses.
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Ranges []AddressRange `json:"ranges,omitempty"`
}

// NetworkPoolSpec describes a network whose addresses are allocated.
// +kubebuilder:validation:XValidation:rule="self.cidr == oldSelf.cidr",message="cidr is immutable: allocations are addresses of it; create another NetworkPool"
type NetworkPoolSpec struct {
	// CIDR of the network.
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self)",message="cidr must be a CIDR such as 10.40.0.0/24"
	CIDR string `json:"cidr"`
	// Reserved addresses are never allocated.
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Reserved []ReservedRange `json:"reserved,omitempty"`
	// TenantAllocation is the part that addresses are allocated from; default is the whole network.
	// +optional
	TenantAllocation *TenantAllocation `json:"tenantAllocation,omitempty"`
	// ReuseAfter is how long a released address rests, that is, is not allocated again.
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('8760h')",message="reuseAfter is at most 8760h"
	// +optional
	ReuseAfter *metav1.Duration `json:"reuseAfter,omitempty"`
}

// NetworkPoolStatus is the observed state of a NetworkPool. A count that is too large for its
// field is shown as the largest number of the field.
type NetworkPoolStatus struct {
	// TotalIPs is the number of addresses that can be allocated.
	// +optional
	TotalIPs int32 `json:"totalIPs"`
	// AvailableIPs is the number of those that are free.
	// +optional
	AvailableIPs int32 `json:"availableIPs"`
	// AllocatedIPs is the number of those that are allocated.
	// +optional
	AllocatedIPs int32 `json:"allocatedIPs"`
	// RestingIPs is the number of those that were released and are not allocated again yet.
	// +optional
	RestingIPs int32 `json:"restingIPs,omitempty"`
	// ReservedIPs is the number of reserved addresses within the part that addresses are
	// allocated from.
	// +optional
	ReservedIPs int32 `json:"reservedIPs,omitempty"`
	// AllocationCount is the number of IPAllocations.
	// +optional
	AllocationCount int32 `json:"allocationCount,omitempty"`
	// FragmentationPercent is the share of free addresses outside of the largest free block.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	FragmentationPercent int32 `json:"fragmentationPercent,omitempty"`
	// LargestFreeBlock is the number of addresses of the largest free block.
	// +optional
	LargestFreeBlock int32 `json:"largestFreeBlock,omitempty"`
	// Conditions of the pool.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// NetworkPool is a network whose addresses machines, virtual IPs and load balancers get.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=np
// +kubebuilder:printcolumn:name="CIDR",type=string,JSONPath=`.spec.cidr`
// +kubebuilder:printcolumn:name="Available",type=integer,JSONPath=`.status.availableIPs`
// +kubebuilder:printcolumn:name="Allocated",type=integer,JSONPath=`.status.allocatedIPs`
// +kubebuilder:printcolumn:name="Total",type=integer,JSONPath=`.status.totalIPs`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type NetworkPool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NetworkPoolSpec   `json:"spec"`
	Status NetworkPoolStatus `json:"status,omitempty"`
}

// NetworkPoolList is a list of NetworkPools.
// +kubebuilder:object:root=true
type NetworkPoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []NetworkPool `json:"items"`
}
