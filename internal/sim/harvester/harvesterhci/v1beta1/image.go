// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package v1beta1 has the part of Harvester's API group harvesterhci.io that the
// simulator serves. Field names, defaults and limits are those of the platform.
//
// +groupName=harvesterhci.io
// +kubebuilder:object:generate=true
package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Conditions of a VirtualMachineImage.
const (
	ImageInitialized = "Initialized"
	ImageImported    = "Imported"
)

// VirtualMachineImage is a disk image that volumes can be made from. As on the
// platform, its status is not a subresource.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=vmimage;vmimages,scope=Namespaced
// +kubebuilder:printcolumn:name="DISPLAY-NAME",type=string,JSONPath=`.spec.displayName`
// +kubebuilder:printcolumn:name="SIZE",type=integer,JSONPath=`.status.size`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
type VirtualMachineImage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ImageSpec   `json:"spec"`
	Status ImageStatus `json:"status,omitempty"`
}

// ImageSpec says where an image comes from.
type ImageSpec struct {
	// +optional
	// +kubebuilder:default=backingimage
	// +kubebuilder:validation:Enum=backingimage;cdi
	Backend     string `json:"backend,omitempty"`
	Description string `json:"description,omitempty"`
	DisplayName string `json:"displayName"`
	// +kubebuilder:validation:Enum=download;upload;export-from-volume;restore;clone
	SourceType             string            `json:"sourceType"`
	URL                    string            `json:"url,omitempty"`
	Checksum               string            `json:"checksum,omitempty"`
	PVCName                string            `json:"pvcName,omitempty"`
	PVCNamespace           string            `json:"pvcNamespace,omitempty"`
	StorageClassParameters map[string]string `json:"storageClassParameters,omitempty"`
	TargetStorageClassName string            `json:"targetStorageClassName,omitempty"`
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	Retry int `json:"retry,omitempty"`
}

// ImageStatus says how far an import is.
type ImageStatus struct {
	AppliedURL  string `json:"appliedUrl,omitempty"`
	Progress    int    `json:"progress,omitempty"`
	Size        int64  `json:"size,omitempty"`
	VirtualSize int64  `json:"virtualSize,omitempty"`
	// StorageClassName is the class that volumes of this image must use.
	StorageClassName string `json:"storageClassName,omitempty"`
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	Failed     int         `json:"failed"`
	Conditions []Condition `json:"conditions,omitempty"`
}

// Condition is one of an image's conditions; its times are plain text.
type Condition struct {
	Type               string                 `json:"type"`
	Status             corev1.ConditionStatus `json:"status"`
	LastUpdateTime     string                 `json:"lastUpdateTime,omitempty"`
	LastTransitionTime string                 `json:"lastTransitionTime,omitempty"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
}

// VirtualMachineImageList is a list of images.
//
// +kubebuilder:object:root=true
type VirtualMachineImageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []VirtualMachineImage `json:"items"`
}

// GroupVersion is harvesterhci.io/v1beta1.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: "harvesterhci.io", Version: "v1beta1"}
}

// AddToScheme makes the types known to s.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion(), &VirtualMachineImage{}, &VirtualMachineImageList{})
	metav1.AddToGroupVersion(s, GroupVersion())
	return nil
}
