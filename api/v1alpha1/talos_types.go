// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// PatchTarget selects the machines that a patch applies to.
// +kubebuilder:validation:Enum=all;control-plane;worker
type PatchTarget string

// The targets of a patch.
const (
	PatchAll          PatchTarget = "all"
	PatchControlPlane PatchTarget = "control-plane"
	PatchWorker       PatchTarget = "worker"
)

// TalosConfigPatch is one operation of a JSON patch (RFC 6902).
// +kubebuilder:validation:XValidation:rule="self.op == 'remove' || has(self.value)",message="value is required for add and replace"
type TalosConfigPatch struct {
	// Op is add, remove or replace.
	// +kubebuilder:validation:Enum=add;remove;replace
	Op string `json:"op"`
	// Path is a JSON pointer into the machine configuration.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/`
	Path string `json:"path"`
	// Value is parsed as YAML.
	// +optional
	Value *string `json:"value,omitempty"`
	// Target selects the machines that the patch applies to.
	// +kubebuilder:default=all
	// +optional
	Target PatchTarget `json:"target,omitempty"`
}

// TalosStrategicPatch is merged into the machine configuration.
type TalosStrategicPatch struct {
	// Target selects the machines that the patch applies to.
	// +kubebuilder:default=all
	// +optional
	Target PatchTarget `json:"target,omitempty"`
	// Patch is a piece of machine configuration, in YAML.
	// +kubebuilder:validation:MinLength=1
	Patch string `json:"patch"`
}

// TalosSpec is the operating system of the nodes.
type TalosSpec struct {
	// Version of Talos.
	// +kubebuilder:validation:Pattern=`^v[0-9]+\.[0-9]+\.[0-9]+$`
	// +kubebuilder:validation:MaxLength=32
	Version string `json:"version"`
	// Schematic is the Talos factory's id of the image.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:Pattern=`^[a-z0-9]+$`
	// +kubebuilder:validation:MaxLength=128
	Schematic string `json:"schematic"`
	// InstallDisk is the device that Talos is installed to.
	// +kubebuilder:default=/dev/vda
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^/dev/.+`
	// +optional
	InstallDisk string `json:"installDisk,omitempty"`
	// ConfigPatches are JSON patches (RFC 6902) of the machine configuration.
	// +kubebuilder:validation:MaxItems=64
	// +optional
	ConfigPatches []TalosConfigPatch `json:"configPatches,omitempty"`
	// StrategicPatches are merged into the machine configuration.
	// +kubebuilder:validation:MaxItems=64
	// +optional
	StrategicPatches []TalosStrategicPatch `json:"strategicPatches,omitempty"`
}
