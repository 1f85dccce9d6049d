// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ButlerConfigName is the name of the one ButlerConfig of a management cluster.
const ButlerConfigName = "butler"

// ExposureMode is a way to expose tenant control planes.
// +kubebuilder:validation:Enum=LoadBalancer;Ingress;Gateway
type ExposureMode string

// The exposure modes.
const (
	ExposureLoadBalancer ExposureMode = "LoadBalancer"
	ExposureIngress      ExposureMode = "Ingress"
	ExposureGateway      ExposureMode = "Gateway"
)

// ControlPlaneExposureSpec describes how tenant control planes are exposed.
// +kubebuilder:validation:XValidation:rule="self.mode != 'Ingress' || (has(self.hostname) && size(self.hostname) > 0)",message="hostname is required when controlPlaneExposure.mode is Ingress"
// +kubebuilder:validation:XValidation:rule="self.mode != 'Gateway' || (has(self.hostname) && size(self.hostname) > 0)",message="hostname is required when controlPlaneExposure.mode is Gateway"
// +kubebuilder:validation:XValidation:rule="self.mode != 'Gateway' || (has(self.gatewayRef) && size(self.gatewayRef) > 0)",message="gatewayRef is required when controlPlaneExposure.mode is Gateway"
type ControlPlaneExposureSpec struct {
	// Mode is LoadBalancer, Ingress or Gateway.
	// +kubebuilder:default=LoadBalancer
	// +optional
	Mode ExposureMode `json:"mode,omitempty"`
	// Hostname is the wildcard domain of tenant API servers.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^((\*\.)?[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?)*)?$`
	// +optional
	Hostname string `json:"hostname,omitempty"`
	// IngressClassName is the ingress class of mode Ingress.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	IngressClassName string `json:"ingressClassName,omitempty"`
	// ControllerType is the ingress controller that passes TLS through.
	// +kubebuilder:validation:Enum=haproxy;nginx;traefik;generic
	// +optional
	ControllerType string `json:"controllerType,omitempty"`
	// GatewayRef is the namespace/name of the Gateway of mode Gateway.
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?/[a-z0-9]([-.a-z0-9]*[a-z0-9])?)?$`
	// +optional
	GatewayRef string `json:"gatewayRef,omitempty"`
}

// ButlerConfigSpec is the configuration of the platform.
type ButlerConfigSpec struct {
	// ControlPlaneExposure is inherited by all tenant clusters.
	// +optional
	ControlPlaneExposure *ControlPlaneExposureSpec `json:"controlPlaneExposure,omitempty"`
	// DefaultProviderConfigRef is the default of tenant clusters.
	// +optional
	DefaultProviderConfigRef *LocalReference `json:"defaultProviderConfigRef,omitempty"`
}

// ButlerConfigStatus is the observed state of a ButlerConfig.
type ButlerConfigStatus struct {
	// ControlPlaneExposureMode is the mode in effect.
	// +optional
	ControlPlaneExposureMode ExposureMode `json:"controlPlaneExposureMode,omitempty"`
	// Conditions of the configuration.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// ButlerConfig is the configuration of the platform; there is one, named butler.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=bc
// +kubebuilder:printcolumn:name="Exposure",type=string,JSONPath=`.spec.controlPlaneExposure.mode`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'butler'",message="the only ButlerConfig is named butler"
type ButlerConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ButlerConfigSpec   `json:"spec,omitempty"`
	Status ButlerConfigStatus `json:"status,omitempty"`
}

// ButlerConfigList is a list of ButlerConfigs.
// +kubebuilder:object:root=true
type ButlerConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ButlerConfig `json:"items"`
}
