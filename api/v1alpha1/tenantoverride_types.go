// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// HarvesterOverride replaces fields of spec.harvester of the ProviderConfig.
type HarvesterOverride struct {
	// Namespace that the machines are created in.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="infrastructureOverride.harvester.namespace is immutable"
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// NetworkName is the namespace/name of the VM network.
	// +kubebuilder:validation:Pattern=`^[a-z0-9-]+/[a-z0-9-]+$`
	// +kubebuilder:validation:MaxLength=127
	// +optional
	NetworkName string `json:"networkName,omitempty"`
	// ImageName is the namespace/name of the VM image.
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^[^/\s]+/[^/\s]+$`
	// +optional
	ImageName string `json:"imageName,omitempty"`
}

// NutanixOverride replaces fields of spec.nutanix of the ProviderConfig.
type NutanixOverride struct {
	// ClusterUUID is the Prism Element cluster that machines run on.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	ClusterUUID string `json:"clusterUUID,omitempty"`
	// SubnetUUID is the subnet that machines are attached to.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	SubnetUUID string `json:"subnetUUID,omitempty"`
	// ImageUUID is the image of the root disk.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	ImageUUID string `json:"imageUUID,omitempty"`
	// StorageContainerUUID must be empty.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="size(self) == 0",message="infrastructureOverride.nutanix.storageContainerUUID is not served: Cluster API's provider creates the root disk in the container of the image"
	// +optional
	StorageContainerUUID string `json:"storageContainerUUID,omitempty"`
}

// ProxmoxOverride replaces fields of spec.proxmox of the ProviderConfig.
type ProxmoxOverride struct {
	// Node that the machines are placed on.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Node string `json:"node,omitempty"`
	// Storage of the disks.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Storage string `json:"storage,omitempty"`
	// TemplateID is the VM id of the template.
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=999999999
	// +optional
	TemplateID int32 `json:"templateID,omitempty"`
}

// AWSOverride replaces fields of spec.aws of the ProviderConfig.
type AWSOverride struct {
	// InstanceType of the machines.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	InstanceType string `json:"instanceType,omitempty"`
	// AMI of the machines.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	AMI string `json:"ami,omitempty"`
	// SubnetID is the subnet of the machines, one of the VPC.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	SubnetID string `json:"subnetID,omitempty"`
}

// GCPOverride replaces fields of spec.gcp of the ProviderConfig.
// +kubebuilder:validation:XValidation:rule="!(has(self.image) && has(self.imageFamily))",message="set infrastructureOverride.gcp.image or imageFamily, not both"
type GCPOverride struct {
	// Zone of the machines.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Zone string `json:"zone,omitempty"`
	// MachineType of the machines.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	MachineType string `json:"machineType,omitempty"`
	// Image of the machines.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Image string `json:"image,omitempty"`
	// ImageFamily of the machines, instead of an image.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ImageFamily string `json:"imageFamily,omitempty"`
	// Subnetwork of the machines.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Subnetwork string `json:"subnetwork,omitempty"`
}

// AzureOverride replaces fields of spec.azure of the ProviderConfig.
type AzureOverride struct {
	// VMSize of the machines.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	VMSize string `json:"vmSize,omitempty"`
	// ImageURN of the machines.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	ImageURN string `json:"imageURN,omitempty"`
	// SubnetName is the subnet of the machines.
	// +kubebuilder:validation:MaxLength=80
	// +optional
	SubnetName string `json:"subnetName,omitempty"`
}

// InfrastructureOverrideSpec replaces fields of the ProviderConfig for one cluster. It has the
// block of the provider of the ProviderConfig, and no other.
// +kubebuilder:validation:XValidation:rule="[has(self.harvester), has(self.nutanix), has(self.proxmox), has(self.aws), has(self.gcp), has(self.azure)].filter(x, x).size() <= 1",message="infrastructureOverride has the block of one provider"
type InfrastructureOverrideSpec struct {
	// Harvester is for provider harvester.
	// +optional
	Harvester *HarvesterOverride `json:"harvester,omitempty"`
	// Nutanix is for provider nutanix.
	// +optional
	Nutanix *NutanixOverride `json:"nutanix,omitempty"`
	// Proxmox is for provider proxmox.
	// +optional
	Proxmox *ProxmoxOverride `json:"proxmox,omitempty"`
	// AWS is for provider aws.
	// +optional
	AWS *AWSOverride `json:"aws,omitempty"`
	// GCP is for provider gcp.
	// +optional
	GCP *GCPOverride `json:"gcp,omitempty"`
	// Azure is for provider azure.
	// +optional
	Azure *AzureOverride `json:"azure,omitempty"`
}
