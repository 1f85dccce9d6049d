// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// IPAllocationType is what addresses are for.
// +kubebuilder:validation:Enum=nodes;loadbalancer
type IPAllocationType string

// The types of IPAllocations.
const (
	IPAllocationNodes        IPAllocationType = "nodes"
	IPAllocationLoadBalancer IPAllocationType = "loadbalancer"
)

// IPAllocationPhase is a phase of an IPAllocation.
// +kubebuilder:validation:Enum=Pending;Allocated;Released;Failed
type IPAllocationPhase string

// The phases of an IPAllocation.
const (
	IPAllocationPending   IPAllocationPhase = "Pending"
	IPAllocationAllocated IPAllocationPhase = "Allocated"
	IPAllocationReleased  IPAllocationPhase = "Released"
	IPAllocationFailed    IPAllocationPhase = "Failed"
)

// PinnedRange is the range of addresses that an allocation must get; it gets no others.
type PinnedRange struct {
	// StartAddress is the first address.
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule="isIP(self)",message="startAddress must be an IP address"
	StartAddress string `json:"startAddress"`
	// EndAddress is the last address.
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule="isIP(self)",message="endAddress must be an IP address"
	EndAddress string `json:"endAddress"`
}

// NamespacedReference names an object in a namespace.
type NamespacedReference struct {
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Namespace of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
}

// IPAllocationSpec describes the requested addresses.
// +kubebuilder:validation:XValidation:rule="[has(self.machineRequestRef), has(self.tenantClusterRef), has(self.clusterBootstrapRef)].filter(x, x).size() == 1",message="exactly one of machineRequestRef, tenantClusterRef and clusterBootstrapRef is required"
// +kubebuilder:validation:XValidation:rule="self.poolRef == oldSelf.poolRef",message="poolRef is immutable: addresses come from one pool; create another IPAllocation"
// +kubebuilder:validation:XValidation:rule="has(self.machineRequestRef) == has(oldSelf.machineRequestRef) && (!has(self.machineRequestRef) || self.machineRequestRef == oldSelf.machineRequestRef) && has(self.tenantClusterRef) == has(oldSelf.tenantClusterRef) && (!has(self.tenantClusterRef) || self.tenantClusterRef == oldSelf.tenantClusterRef) && has(self.clusterBootstrapRef) == has(oldSelf.clusterBootstrapRef) && (!has(self.clusterBootstrapRef) || self.clusterBootstrapRef == oldSelf.clusterBootstrapRef)",message="machineRequestRef, tenantClusterRef and clusterBootstrapRef are immutable: addresses are released when what they are for is gone"
// +kubebuilder:validation:XValidation:rule="self.type == oldSelf.type",message="type is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.pinnedRange) == has(oldSelf.pinnedRange) && (!has(self.pinnedRange) || self.pinnedRange == oldSelf.pinnedRange)",message="pinnedRange is immutable"
// +kubebuilder:validation:XValidation:rule="self.type == 'loadbalancer' || self.count == oldSelf.count",message="count is mutable for type loadbalancer only"
// +kubebuilder:validation:XValidation:rule="!has(self.pinnedRange) || self.count == oldSelf.count",message="count of a pinned range is immutable"
type IPAllocationSpec struct {
	// PoolRef names the NetworkPool, in the namespace of the IPAllocation.
	PoolRef LocalReference `json:"poolRef"`
	// Type is what the addresses are for.
	Type IPAllocationType `json:"type"`
	// Count is the number of contiguous addresses. With a pinned range it must be left out, or
	// be the size of that range.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	// +optional
	Count int32 `json:"count,omitempty"`
	// PinnedRange are the addresses to allocate; no others are allocated.
	// +optional
	PinnedRange *PinnedRange `json:"pinnedRange,omitempty"`
	// MachineRequestRef is the machine that the address is for.
	// +optional
	MachineRequestRef *LocalReference `json:"machineRequestRef,omitempty"`
	// ClusterBootstrapRef is the cluster that the addresses are for.
	// +optional
	ClusterBootstrapRef *LocalReference `json:"clusterBootstrapRef,omitempty"`
	// TenantClusterRef is the tenant cluster that the addresses are for.
	// +optional
	TenantClusterRef *NamespacedReference `json:"tenantClusterRef,omitempty"`
}

// IPAllocationStatus is the observed state of an IPAllocation.
type IPAllocationStatus struct {
	// Phase of the allocation.
	// +optional
	Phase IPAllocationPhase `json:"phase,omitempty"`
	// StartAddress is the first address.
	// +optional
	StartAddress string `json:"startAddress,omitempty"`
	// EndAddress is the last address.
	// +optional
	EndAddress string `json:"endAddress,omitempty"`
	// Addresses lists all addresses of the allocation.
	// +optional
	Addresses []string `json:"addresses,omitempty"`
	// AllocatedCount is the number of addresses.
	// +optional
	AllocatedCount int32 `json:"allocatedCount,omitempty"`
	// CIDR of the network that the addresses are in.
	// +optional
	CIDR string `json:"cidr,omitempty"`
	// AllocatedBy is the controller that has allocated the addresses.
	// +optional
	AllocatedBy string `json:"allocatedBy,omitempty"`
	// AllocatedAt is when the addresses were allocated.
	// +optional
	AllocatedAt *metav1.Time `json:"allocatedAt,omitempty"`
	// ReleasedAt is when the addresses were released.
	// +optional
	ReleasedAt *metav1.Time `json:"releasedAt,omitempty"`
	// Conditions of the allocation.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// IPAllocation is a contiguous block of addresses of a NetworkPool, for one user.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ipa
// +kubebuilder:printcolumn:name="Pool",type=string,JSONPath=`.spec.poolRef.name`
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.tenantClusterRef.name`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Start",type=string,JSONPath=`.status.startAddress`
// +kubebuilder:printcolumn:name="End",type=string,JSONPath=`.status.endAddress`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type IPAllocation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   IPAllocationSpec   `json:"spec"`
	Status IPAllocationStatus `json:"status,omitempty"`
}

// IPAllocationList is a list of IPAllocations.
// +kubebuilder:object:root=true
type IPAllocationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []IPAllocation `json:"items"`
}
