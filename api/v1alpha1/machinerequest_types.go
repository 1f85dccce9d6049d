// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MachineRole is the role of a machine in its cluster.
// +kubebuilder:validation:Enum=control-plane;worker
type MachineRole string

// The roles of a machine.
const (
	RoleControlPlane MachineRole = "control-plane"
	RoleWorker       MachineRole = "worker"
)

// MachinePhase is a phase of a MachineRequest.
// +kubebuilder:validation:Enum=Pending;Creating;Running;Failed;Deleting;Deleted;Unknown
type MachinePhase string

// The phases of a MachineRequest.
const (
	MachinePending  MachinePhase = "Pending"
	MachineCreating MachinePhase = "Creating"
	MachineRunning  MachinePhase = "Running"
	MachineFailed   MachinePhase = "Failed"
	MachineDeleting MachinePhase = "Deleting"
	MachineDeleted  MachinePhase = "Deleted"
	MachineUnknown  MachinePhase = "Unknown"
)

// DiskSpec is a disk besides the root disk.
type DiskSpec struct {
	// SizeGB is the size in gigabytes.
	// +kubebuilder:validation:Minimum=1
	SizeGB int32 `json:"sizeGB"`
	// StorageClass is the provider's storage class or tier.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	StorageClass string `json:"storageClass,omitempty"`
}

// MachineNetwork is the address that a machine has from its first boot, with gateway and DNS.
// +kubebuilder:validation:XValidation:rule="!has(self.gateway) || !isIP(self.gateway) || !isCIDR(self.address) || (cidr(self.address).containsIP(self.gateway) && !self.address.startsWith(self.gateway + '/'))",message="gateway must be another address of the network of address"
type MachineNetwork struct {
	// Address is the machine's, with the prefix length of its network, such as 10.40.0.11/24.
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self) && cidr(self).ip().isGlobalUnicast()",message="address must be the address of a machine with a prefix length, such as 10.40.0.11/24"
	Address string `json:"address"`
	// Gateway to other networks.
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule="isIP(self)",message="gateway must be an IP address"
	// +optional
	Gateway string `json:"gateway,omitempty"`
	// DNSServers of the machine.
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=45
	// +kubebuilder:validation:items:XValidation:rule="isIP(self)",message="dnsServers must be IP addresses"
	// +optional
	DNSServers []string `json:"dnsServers,omitempty"`
}

// MachineRequestSpec is the desired machine.
// +kubebuilder:validation:XValidation:rule="self.providerRef == oldSelf.providerRef",message="providerRef is immutable"
// +kubebuilder:validation:XValidation:rule="self.machineName == oldSelf.machineName",message="machineName is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.network) == has(oldSelf.network) && (!has(self.network) || self.network.address == oldSelf.network.address)",message="network.address is immutable"
// +kubebuilder:validation:XValidation:rule="!has(self.network) || !has(self.networkData)",message="network or networkData, but not both"
type MachineRequestSpec struct {
	// ProviderRef names the ProviderConfig with the platform's credentials.
	ProviderRef ProviderReference `json:"providerRef"`
	// MachineName is the name of the machine on the platform.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	MachineName string `json:"machineName"`
	// Role is control-plane or worker.
	Role MachineRole `json:"role"`
	// CPU is the number of virtual cores.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=128
	CPU int32 `json:"cpu"`
	// MemoryMB is the memory in megabytes.
	// +kubebuilder:validation:Minimum=1024
	MemoryMB int32 `json:"memoryMB"`
	// DiskGB is the size of the root disk in gigabytes.
	// +kubebuilder:validation:Minimum=10
	DiskGB int32 `json:"diskGB"`
	// ExtraDisks are attached besides the root disk.
	// +kubebuilder:validation:MaxItems=16
	// +optional
	ExtraDisks []DiskSpec `json:"extraDisks,omitempty"`
	// Image overrides the image of the ProviderConfig; the format is the provider's.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Image string `json:"image,omitempty"`
	// UserData is passed to the machine as user data. A platform may accept less than
	// the API. It may be removed once the machine is Running.
	// +kubebuilder:validation:MaxLength=262144
	// +optional
	UserData string `json:"userData,omitempty"`
	// NetworkData is passed to the machine as cloud-init network configuration.
	// +kubebuilder:validation:MaxLength=65536
	// +optional
	NetworkData string `json:"networkData,omitempty"`
	// Network is the address of the machine, which it has from its first boot. If it is left
	// out, the machine gets its address by DHCP or from the platform. A driver refuses it on a
	// platform that cannot set the address of a machine.
	// +optional
	Network *MachineNetwork `json:"network,omitempty"`
	// Labels are applied to the machine on the platform.
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// TalosVersion lets a driver look up its platform's default image.
	// +kubebuilder:validation:Pattern=`^v[0-9]+\.[0-9]+\.[0-9]+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	TalosVersion string `json:"talosVersion,omitempty"`
	// Schematic is the Talos factory's id of the image.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[a-z0-9]*$`
	// +optional
	Schematic string `json:"schematic,omitempty"`
}

// MachineDisk is a disk of a machine as its operating system sees it.
type MachineDisk struct {
	// Name is root, or disk-1, disk-2 and so on for spec.extraDisks, in their order.
	Name string `json:"name"`
	// Serial is the serial number that the disk reports.
	// +optional
	Serial string `json:"serial,omitempty"`
	// LUN is the logical unit number that the disk is attached at.
	// +kubebuilder:validation:Minimum=0
	// +optional
	LUN *int32 `json:"lun,omitempty"`
}

// MachineRequestStatus is the observed state of a MachineRequest.
type MachineRequestStatus struct {
	// Phase of the request.
	// +optional
	Phase MachinePhase `json:"phase,omitempty"`
	// ProviderID is the platform's identifier of the machine.
	// +optional
	ProviderID string `json:"providerID,omitempty"`
	// NodeProviderID is the provider ID that the kubelet of the machine's node registers
	// with, for example gce://project/zone/name. Empty means that it registers with none.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	NodeProviderID string `json:"nodeProviderID,omitempty"`
	// IPAddress is the primary address, set when the phase reaches Running.
	// +optional
	IPAddress string `json:"ipAddress,omitempty"`
	// IPAddresses are all addresses of the machine.
	// +optional
	IPAddresses []string `json:"ipAddresses,omitempty"`
	// MACAddress is the primary hardware address.
	// +optional
	MACAddress string `json:"macAddress,omitempty"`
	// Disks are those of the machine whose serial numbers the platform reports.
	// +kubebuilder:validation:MaxItems=17
	// +listType=map
	// +listMapKey=name
	// +optional
	Disks []MachineDisk `json:"disks,omitempty"`
	// FailureReason is the machine-readable cause of a failure.
	// +optional
	FailureReason string `json:"failureReason,omitempty"`
	// FailureMessage is the human-readable cause of a failure.
	// +optional
	FailureMessage string `json:"failureMessage,omitempty"`
	// Conditions of the request.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// LastUpdated is the time of the last change of this status.
	// +optional
	LastUpdated *metav1.Time `json:"lastUpdated,omitempty"`
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// MachineRequest requests one machine from a provider.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=mr
// +kubebuilder:printcolumn:name="Machine",type=string,JSONPath=`.spec.machineName`
// +kubebuilder:printcolumn:name="Role",type=string,JSONPath=`.spec.role`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="IP",type=string,JSONPath=`.status.ipAddress`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.spec == oldSelf.spec || !has(oldSelf.status) || (!has(oldSelf.status.providerID) && (!has(oldSelf.status.phase) || oldSelf.status.phase in ['Pending', 'Failed'])) || (has(oldSelf.status.phase) && oldSelf.status.phase == 'Running' && !has(self.spec.userData) && self.spec.providerRef == oldSelf.spec.providerRef && self.spec.machineName == oldSelf.spec.machineName && self.spec.role == oldSelf.spec.role && self.spec.cpu == oldSelf.spec.cpu && self.spec.memoryMB == oldSelf.spec.memoryMB && self.spec.diskGB == oldSelf.spec.diskGB && has(self.spec.networkData) == has(oldSelf.spec.networkData) && (!has(self.spec.networkData) || self.spec.networkData == oldSelf.spec.networkData) && has(self.spec.network) == has(oldSelf.spec.network) && (!has(self.spec.network) || self.spec.network == oldSelf.spec.network) && has(self.spec.extraDisks) == has(oldSelf.spec.extraDisks) && (!has(self.spec.extraDisks) || self.spec.extraDisks == oldSelf.spec.extraDisks) && has(self.spec.image) == has(oldSelf.spec.image) && (!has(self.spec.image) || self.spec.image == oldSelf.spec.image) && has(self.spec.labels) == has(oldSelf.spec.labels) && (!has(self.spec.labels) || self.spec.labels == oldSelf.spec.labels) && has(self.spec.talosVersion) == has(oldSelf.spec.talosVersion) && (!has(self.spec.talosVersion) || self.spec.talosVersion == oldSelf.spec.talosVersion) && has(self.spec.schematic) == has(oldSelf.spec.schematic) && (!has(self.spec.schematic) || self.spec.schematic == oldSelf.spec.schematic))",message="spec is immutable once the machine is being created; delete the request and create a new one"
type MachineRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   MachineRequestSpec   `json:"spec"`
	Status MachineRequestStatus `json:"status,omitempty"`
}

// MachineRequestList is a list of MachineRequests.
// +kubebuilder:object:root=true
type MachineRequestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []MachineRequest `json:"items"`
}
