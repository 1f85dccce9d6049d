// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ButlerConfigName is the name of the one ButlerConfig of a management cluster.
const ButlerConfigName = "butler"

// DefaultTenantsNamespace is the namespace of tenant clusters without a Team, unless the ButlerConfig
// names another.
const DefaultTenantsNamespace = "butler-tenants"

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
	// DefaultProviderConfigRef names the ProviderConfig of tenant clusters that name none.
	// +optional
	DefaultProviderConfigRef *LocalReference `json:"defaultProviderConfigRef,omitempty"`
	// MultiTenancy selects whether tenant clusters belong to Teams.
	// +kubebuilder:default={mode: Disabled}
	// +optional
	MultiTenancy *MultiTenancySpec `json:"multiTenancy,omitempty"`
	// DefaultNamespace is the namespace of tenant clusters without a Team.
	// +kubebuilder:default=butler-tenants
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	DefaultNamespace string `json:"defaultNamespace,omitempty"`
	// DefaultTeamLimits apply to Teams for every limit that they do not set.
	// +optional
	DefaultTeamLimits *DefaultTeamLimits `json:"defaultTeamLimits,omitempty"`
	// DefaultAddonVersions apply to tenant clusters that name none.
	// +optional
	DefaultAddonVersions *DefaultAddonVersions `json:"defaultAddonVersions,omitempty"`
	// DefaultControlPlaneResources apply to tenant clusters that name none.
	// +optional
	DefaultControlPlaneResources *ControlPlaneResources `json:"defaultControlPlaneResources,omitempty"`
	// DefaultTimeServers are those of workers whose TenantCluster and ProviderConfig name none.
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +optional
	DefaultTimeServers []string `json:"defaultTimeServers,omitempty"`
}

// Tenancy returns the tenancy mode in effect; without a ButlerConfig it is Disabled.
func (c *ButlerConfig) Tenancy() TenancyMode {
	if c == nil || c.Spec.MultiTenancy == nil {
		return TenancyDisabled
	}
	return cmp.Or(c.Spec.MultiTenancy.Mode, TenancyDisabled)
}

// TenantsNamespace returns the namespace of tenant clusters without a Team.
func (c *ButlerConfig) TenantsNamespace() string {
	if c == nil {
		return DefaultTenantsNamespace
	}
	return cmp.Or(c.Spec.DefaultNamespace, DefaultTenantsNamespace)
}

// ButlerConfigStatus is the observed state of a ButlerConfig.
type ButlerConfigStatus struct {
	// ControlPlaneExposureMode is the mode in effect.
	// +optional
	ControlPlaneExposureMode ExposureMode `json:"controlPlaneExposureMode,omitempty"`
	// TeamCount is the number of Teams.
	// +optional
	TeamCount int32 `json:"teamCount,omitempty"`
	// ClusterCount is the number of TenantClusters.
	// +optional
	ClusterCount int32 `json:"clusterCount,omitempty"`
	// TCPProxyRequired is true when the exposure needs a proxy in each tenant cluster for the
	// Service kubernetes.
	// +optional
	TCPProxyRequired bool `json:"tcpProxyRequired,omitempty"`
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
