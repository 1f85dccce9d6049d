// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// AddonsSpec lists the addons of a management cluster. Every block that is left
// out takes its defaults.
type AddonsSpec struct {
	// CNI is the container network.
	// +kubebuilder:default={}
	// +optional
	CNI CNIAddonSpec `json:"cni,omitempty"`
	// Storage is the persistent storage.
	// +kubebuilder:default={}
	// +optional
	Storage StorageAddonSpec `json:"storage,omitempty"`
	// LoadBalancer serves Services of type LoadBalancer.
	// +kubebuilder:default={}
	// +optional
	LoadBalancer LoadBalancerAddonSpec `json:"loadBalancer,omitempty"`
	// ControlPlaneHA announces the virtual IP of the control plane, on-prem only.
	// +kubebuilder:default={}
	// +optional
	ControlPlaneHA ControlPlaneHAAddonSpec `json:"controlPlaneHA,omitempty"`
	// CertManager issues certificates.
	// +kubebuilder:default={}
	// +optional
	CertManager CertManagerAddonSpec `json:"certManager,omitempty"`
	// Ingress is the ingress controller.
	// +kubebuilder:default={}
	// +optional
	Ingress IngressAddonSpec `json:"ingress,omitempty"`
	// ControlPlaneProvider hosts tenant control planes.
	// +kubebuilder:default={}
	// +optional
	ControlPlaneProvider ControlPlaneProviderAddonSpec `json:"controlPlaneProvider,omitempty"`
	// CAPI is Cluster API with its infrastructure providers.
	// +kubebuilder:default={}
	// +optional
	CAPI CAPIAddonSpec `json:"capi,omitempty"`
	// ButlerController is the controller of the platform.
	// +kubebuilder:default={}
	// +optional
	ButlerController ButlerControllerAddonSpec `json:"butlerController,omitempty"`
	// GitOps is the GitOps controller.
	// +kubebuilder:default={}
	// +optional
	GitOps GitOpsAddonSpec `json:"gitOps,omitempty"`
	// Console is the web console.
	// +kubebuilder:default={}
	// +optional
	Console ConsoleAddonSpec `json:"console,omitempty"`
}

// CNIAddonSpec chooses the container network.
type CNIAddonSpec struct {
	// Type is cilium or none.
	// +kubebuilder:validation:Enum=cilium;none
	// +kubebuilder:default=cilium
	// +optional
	Type string `json:"type,omitempty"`
	// Version overrides the chart's version.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Version string `json:"version,omitempty"`
	// HubbleEnabled switches Hubble on, with Cilium.
	// +kubebuilder:default=true
	// +optional
	HubbleEnabled *bool `json:"hubbleEnabled,omitempty"`
}

// StorageAddonSpec chooses the persistent storage.
type StorageAddonSpec struct {
	// Type is longhorn or none.
	// +kubebuilder:validation:Enum=longhorn;none
	// +kubebuilder:default=longhorn
	// +optional
	Type string `json:"type,omitempty"`
	// Version overrides the chart's version.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Version string `json:"version,omitempty"`
	// ReplicaCount of a volume; 1 on a single node.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:default=3
	// +optional
	ReplicaCount *int32 `json:"replicaCount,omitempty"`
}

// LoadBalancerAddonSpec chooses what serves Services of type LoadBalancer.
type LoadBalancerAddonSpec struct {
	// Enabled installs it.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Type is metallb or none.
	// +kubebuilder:validation:Enum=metallb;none
	// +kubebuilder:default=metallb
	// +optional
	Type string `json:"type,omitempty"`
	// Version overrides the chart's version.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Version string `json:"version,omitempty"`
	// AddressPool is deprecated; network.loadBalancerPool takes precedence.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	AddressPool string `json:"addressPool,omitempty"`
}

// ControlPlaneHAAddonSpec chooses what announces the virtual IP of the control plane.
type ControlPlaneHAAddonSpec struct {
	// Enabled installs it.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Type is kube-vip or none.
	// +kubebuilder:validation:Enum=kube-vip;none
	// +kubebuilder:default=kube-vip
	// +optional
	Type string `json:"type,omitempty"`
	// Version overrides the image's version.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Version string `json:"version,omitempty"`
}

// CertManagerAddonSpec installs cert-manager.
type CertManagerAddonSpec struct {
	// Enabled installs it.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Version overrides the chart's version.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Version string `json:"version,omitempty"`
}

// IngressAddonSpec chooses the ingress controller.
type IngressAddonSpec struct {
	// Enabled installs it.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Type is traefik, nginx or none.
	// +kubebuilder:validation:Enum=traefik;nginx;none
	// +kubebuilder:default=traefik
	// +optional
	Type string `json:"type,omitempty"`
	// Version overrides the chart's version.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Version string `json:"version,omitempty"`
}

// ControlPlaneProviderAddonSpec chooses what hosts tenant control planes.
type ControlPlaneProviderAddonSpec struct {
	// Enabled installs it.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Type is steward, kamaji or none.
	// +kubebuilder:validation:Enum=steward;kamaji;none
	// +kubebuilder:default=steward
	// +optional
	Type string `json:"type,omitempty"`
	// Version overrides the chart's version.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Version string `json:"version,omitempty"`
}

// CAPIInfraProviderSpec is a further infrastructure provider of Cluster API.
type CAPIInfraProviderSpec struct {
	// Name of the provider.
	Name ProviderType `json:"name"`
	// Version overrides the provider's version.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Version string `json:"version,omitempty"`
	// CredentialsSecretRef names the credentials of a provider that is not the
	// management cluster's own.
	// +optional
	CredentialsSecretRef *SecretReference `json:"credentialsSecretRef,omitempty"`
}

// CAPIAddonSpec installs Cluster API.
type CAPIAddonSpec struct {
	// Enabled installs it.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Version of the core.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:default="v1.9.4"
	// +optional
	Version string `json:"version,omitempty"`
	// InfrastructureProviders besides the management cluster's own.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=6
	// +optional
	InfrastructureProviders []CAPIInfraProviderSpec `json:"infrastructureProviders,omitempty"`
}

// ButlerControllerAddonSpec installs the controller of the platform.
type ButlerControllerAddonSpec struct {
	// Enabled installs it.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Image without its tag.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:default="ghcr.io/butlerdotdev/butler-controller"
	// +optional
	Image string `json:"image,omitempty"`
	// Version of the image; empty means the version of the program that installs it.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Version string `json:"version,omitempty"`
}

// GitOpsAddonSpec chooses the GitOps controller.
type GitOpsAddonSpec struct {
	// Enabled installs it.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Type is flux or none.
	// +kubebuilder:validation:Enum=flux;none
	// +kubebuilder:default=flux
	// +optional
	Type string `json:"type,omitempty"`
	// Version overrides the chart's version.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Version string `json:"version,omitempty"`
}

// ConsoleAddonSpec installs the web console.
type ConsoleAddonSpec struct {
	// Enabled installs it.
	// +kubebuilder:default=false
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Version of the image.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:default=latest
	// +optional
	Version string `json:"version,omitempty"`
	// Ingress of the console.
	// +optional
	Ingress *ConsoleIngressSpec `json:"ingress,omitempty"`
}

// ConsoleIngressSpec exposes the console.
type ConsoleIngressSpec struct {
	// Enabled creates the Ingress.
	// +kubebuilder:default=false
	// +optional
	Enabled bool `json:"enabled,omitempty"`
	// Host of the console; default is butler.<cluster>.local.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Host string `json:"host,omitempty"`
	// ClassName is the ingress class.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ClassName string `json:"className,omitempty"`
	// TLS terminates TLS at the ingress.
	// +kubebuilder:default=false
	// +optional
	TLS bool `json:"tls,omitempty"`
	// TLSSecretName is the Secret with the certificate.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	TLSSecretName string `json:"tlsSecretName,omitempty"`
}
