// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// OSTalos is the operating system that workers have.
const OSTalos = "talos"

// TenantTalosSpec is Talos on the workers of a tenant cluster.
type TenantTalosSpec struct {
	// Version of Talos.
	// +kubebuilder:default="v1.9.3"
	// +kubebuilder:validation:Pattern=`^v[0-9]+\.[0-9]+\.[0-9]+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Version string `json:"version,omitempty"`
	// InstallDisk is the device that Talos is installed to.
	// +kubebuilder:default=/dev/vda
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^/dev/.+`
	// +optional
	InstallDisk string `json:"installDisk,omitempty"`
	// InstallerImage is the image that Talos is installed from; default is that of the
	// schematic, at the version.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	InstallerImage string `json:"installerImage,omitempty"`
}

// TenantOSSpec is the operating system of the workers.
// +kubebuilder:validation:XValidation:rule="!has(self.version) || self.version == self.talos.version",message="os.version must be that of os.talos.version, or left out"
type TenantOSSpec struct {
	// Type of the operating system.
	// +kubebuilder:default=talos
	// +kubebuilder:validation:Enum=rocky;flatcar;talos;kairos;bottlerocket
	// +kubebuilder:validation:XValidation:rule="self == 'talos'",message="os.type must be talos: workers with other operating systems are not served"
	// +optional
	Type string `json:"type,omitempty"`
	// Version is the same as talos.version.
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Version string `json:"version,omitempty"`
	// ImageRef is the image of the root disk, as the platform names it. Without it, that of
	// infrastructureOverride or of the ProviderConfig applies.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	ImageRef string `json:"imageRef,omitempty"`
	// SchematicID is the Talos factory's id of the installer image. No image is uploaded.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[a-z0-9]*$`
	// +optional
	SchematicID string `json:"schematicID,omitempty"`
	// SSHAuthorizedKey must be empty.
	// +kubebuilder:validation:MaxLength=8192
	// +kubebuilder:validation:XValidation:rule="size(self) == 0",message="os.sshAuthorizedKey is not served: Talos has no SSH; see butleradm tenant talosconfig"
	// +optional
	SSHAuthorizedKey string `json:"sshAuthorizedKey,omitempty"`
	// Talos is the configuration of type talos.
	// +kubebuilder:default={}
	// +optional
	Talos TenantTalosSpec `json:"talos,omitempty"`
}

// TenantMachineTemplateSpec is the size and the operating system of the workers. A change
// replaces them one after another.
type TenantMachineTemplateSpec struct {
	// CPU is the number of processors.
	// +kubebuilder:default=4
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=128
	// +optional
	CPU int32 `json:"cpu,omitempty"`
	// Memory of a worker.
	// +kubebuilder:default="16Gi"
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).compareTo(quantity('2Gi')) >= 0",message="memory must be at least 2Gi"
	// +optional
	Memory resource.Quantity `json:"memory,omitempty"`
	// DiskSize of the root disk.
	// +kubebuilder:default="100Gi"
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).compareTo(quantity('20Gi')) >= 0",message="diskSize must be at least 20Gi"
	// +optional
	DiskSize resource.Quantity `json:"diskSize,omitempty"`
	// OS is the operating system.
	// +kubebuilder:default={}
	// +optional
	OS TenantOSSpec `json:"os,omitempty"`
}

// TenantWorkersSpec are the workers of a tenant cluster.
// +kubebuilder:validation:XValidation:rule="has(self.minReplicas) == has(self.maxReplicas)",message="minReplicas and maxReplicas belong together"
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",message="minReplicas must not exceed maxReplicas"
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas > self.maxReplicas || (self.replicas >= self.minReplicas && self.replicas <= self.maxReplicas)",message="replicas must lie between minReplicas and maxReplicas"
type TenantWorkersSpec struct {
	// Replicas is the number of workers. With minReplicas and maxReplicas it is only the
	// initial one: the autoscaler changes the number.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Replicas int32 `json:"replicas"`
	// MinReplicas is the lower bound for the autoscaler.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	MinReplicas int32 `json:"minReplicas,omitempty"`
	// MaxReplicas is the upper bound for the autoscaler.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	MaxReplicas int32 `json:"maxReplicas,omitempty"`
	// MachineTemplate is the size and the operating system of the workers.
	// +kubebuilder:default={}
	// +optional
	MachineTemplate TenantMachineTemplateSpec `json:"machineTemplate,omitempty"`
}

// Autoscaled reports whether the autoscaler decides on the number of workers.
func (w TenantWorkersSpec) Autoscaled() bool { return w.MaxReplicas > 0 }
