// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "k8s.io/apimachinery/pkg/runtime"

// TenantChartSpec is the chart of an addon of a tenant cluster.
type TenantChartSpec struct {
	// Version of the chart; default is that of the ButlerConfig, then that of the catalogue.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^(v?[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?)?$`
	// +optional
	Version string `json:"version,omitempty"`
	// Values are merged into those that Butler sets.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Values *runtime.RawExtension `json:"values,omitempty"`
}

// TenantCNISpec is the container network of a tenant cluster.
type TenantCNISpec struct {
	// Provider of the container network.
	// +kubebuilder:default=cilium
	// +kubebuilder:validation:Enum=cilium
	// +optional
	Provider        string `json:"provider,omitempty"`
	TenantChartSpec `json:",inline"`
}

// TenantLoadBalancerSpec serves Services of type LoadBalancer, on-prem.
type TenantLoadBalancerSpec struct {
	// Provider of load balancers.
	// +kubebuilder:default=metallb
	// +kubebuilder:validation:Enum=metallb
	// +optional
	Provider        string `json:"provider,omitempty"`
	TenantChartSpec `json:",inline"`
}

// TenantCertManagerSpec installs cert-manager.
type TenantCertManagerSpec struct {
	// Enabled installs it.
	// +kubebuilder:default=true
	// +optional
	Enabled         *bool `json:"enabled,omitempty"`
	TenantChartSpec `json:",inline"`
}

// TenantStorageSpec is the persistent storage of a tenant cluster.
type TenantStorageSpec struct {
	// Provider of the storage.
	// +kubebuilder:default=longhorn
	// +kubebuilder:validation:Enum=longhorn;linstor
	// +kubebuilder:validation:XValidation:rule="self == 'longhorn'",message="storage.provider must be longhorn: linstor is not served"
	// +optional
	Provider        string `json:"provider,omitempty"`
	TenantChartSpec `json:",inline"`
}

// TenantIngressSpec is the ingress controller of a tenant cluster.
type TenantIngressSpec struct {
	// Enabled installs it.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Provider of the ingress controller.
	// +kubebuilder:default=traefik
	// +kubebuilder:validation:Enum=traefik;nginx
	// +optional
	Provider        string `json:"provider,omitempty"`
	TenantChartSpec `json:",inline"`
}

// TenantRepositorySpec is the Git repository of a tenant cluster.
// +kubebuilder:pruning:PreserveUnknownFields
type TenantRepositorySpec struct {
	// URL of the repository.
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url"`
}

// TenantGitOpsSpec is the GitOps controller of a tenant cluster.
// +kubebuilder:validation:XValidation:rule="!has(self.repository)",message="gitops.repository is not served: create the GitRepository and the Kustomization in the tenant cluster"
type TenantGitOpsSpec struct {
	// Provider of the GitOps controller.
	// +kubebuilder:default=fluxcd
	// +kubebuilder:validation:Enum=fluxcd;argocd
	// +kubebuilder:validation:XValidation:rule="self == 'fluxcd'",message="gitops.provider must be fluxcd: argocd is not served"
	// +optional
	Provider        string `json:"provider,omitempty"`
	TenantChartSpec `json:",inline"`
	// Repository must be left out.
	// +optional
	Repository *TenantRepositorySpec `json:"repository,omitempty"`
}

// TenantAddonsSpec are the addons of a tenant cluster. The container network and cert-manager
// are installed unless they are disabled; the others are installed if their block is set.
type TenantAddonsSpec struct {
	// CNI is the container network.
	// +kubebuilder:default={}
	// +optional
	CNI TenantCNISpec `json:"cni,omitempty"`
	// CertManager issues certificates.
	// +kubebuilder:default={}
	// +optional
	CertManager TenantCertManagerSpec `json:"certManager,omitempty"`
	// LoadBalancer serves Services of type LoadBalancer, on-prem.
	// +optional
	LoadBalancer *TenantLoadBalancerSpec `json:"loadBalancer,omitempty"`
	// Storage is the persistent storage.
	// +optional
	Storage *TenantStorageSpec `json:"storage,omitempty"`
	// Ingress is the ingress controller.
	// +optional
	Ingress *TenantIngressSpec `json:"ingress,omitempty"`
	// GitOps is the GitOps controller.
	// +optional
	GitOps *TenantGitOpsSpec `json:"gitops,omitempty"`
}
