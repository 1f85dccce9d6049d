// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// TenancyMode selects whether tenant clusters belong to Teams.
// +kubebuilder:validation:Enum=Enforced;Optional;Disabled
type TenancyMode string

// The tenancy modes.
const (
	// TenancyEnforced: every tenant cluster belongs to a Team.
	TenancyEnforced TenancyMode = "Enforced"
	// TenancyOptional: a tenant cluster belongs to a Team, or is in the default namespace.
	TenancyOptional TenancyMode = "Optional"
	// TenancyDisabled: all tenant clusters are in the default namespace.
	TenancyDisabled TenancyMode = "Disabled"
)

// MultiTenancySpec selects whether tenant clusters belong to Teams.
type MultiTenancySpec struct {
	// Mode is Enforced, Optional or Disabled.
	// +kubebuilder:default=Disabled
	// +optional
	Mode TenancyMode `json:"mode,omitempty"`
}

// DefaultTeamLimits apply to a Team for every limit that the Team does not set.
type DefaultTeamLimits struct {
	// MaxClusters of a team.
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxClusters *int32 `json:"maxClusters,omitempty"`
	// MaxWorkersPerCluster of a team's clusters.
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxWorkersPerCluster *int32 `json:"maxWorkersPerCluster,omitempty"`
	// MaxTotalCPU is the sum of all processors of a team's workers.
	// +optional
	MaxTotalCPU *resource.Quantity `json:"maxTotalCPU,omitempty"`
	// MaxTotalMemory is the sum of all memory of a team's workers.
	// +optional
	MaxTotalMemory *resource.Quantity `json:"maxTotalMemory,omitempty"`
	// MaxTotalStorage is the sum of all root disks of a team's workers.
	// +optional
	MaxTotalStorage *resource.Quantity `json:"maxTotalStorage,omitempty"`
}

// DefaultAddonVersions are the versions of addons whose TenantCluster names none.
type DefaultAddonVersions struct {
	// Cilium is the version of Cilium's chart.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^(v?[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?)?$`
	// +optional
	Cilium string `json:"cilium,omitempty"`
	// MetalLB is the version of MetalLB's chart.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^(v?[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?)?$`
	// +optional
	MetalLB string `json:"metallb,omitempty"`
	// CertManager is the version of cert-manager's chart.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^(v?[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?)?$`
	// +optional
	CertManager string `json:"certManager,omitempty"`
	// Longhorn is the version of Longhorn's chart.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^(v?[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?)?$`
	// +optional
	Longhorn string `json:"longhorn,omitempty"`
	// Traefik is the version of Traefik's chart.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^(v?[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?)?$`
	// +optional
	Traefik string `json:"traefik,omitempty"`
	// FluxCD is the version of Flux' chart.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^(v?[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?)?$`
	// +optional
	FluxCD string `json:"fluxcd,omitempty"`
}

// ComputeResources are processors and memory.
type ComputeResources struct {
	// CPU is the number of processors, such as 500m.
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty"`
	// Memory such as 512Mi.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
}

// ComponentResources are the resources of a container of a control plane.
type ComponentResources struct {
	// Requests are reserved for the container.
	// +optional
	Requests *ComputeResources `json:"requests,omitempty"`
	// Limits are what the container gets at most.
	// +optional
	Limits *ComputeResources `json:"limits,omitempty"`
}

// ControlPlaneResources are the resources of the containers of a hosted control plane.
type ControlPlaneResources struct {
	// APIServer is the container of the API server.
	// +optional
	APIServer *ComponentResources `json:"apiServer,omitempty"`
	// ControllerManager is the container of the controller manager.
	// +optional
	ControllerManager *ComponentResources `json:"controllerManager,omitempty"`
	// Scheduler is the container of the scheduler.
	// +optional
	Scheduler *ComponentResources `json:"scheduler,omitempty"`
	// Konnectivity is the container of the konnectivity server.
	// +optional
	Konnectivity *ComponentResources `json:"konnectivity,omitempty"`
}

// ProviderLimits are the limits of a ProviderConfig, for each team.
type ProviderLimits struct {
	// MaxClustersPerTeam is the number of clusters that a team may have on the platform.
	// Clusters without a team count as those of one team.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MaxClustersPerTeam *int32 `json:"maxClustersPerTeam,omitempty"`
	// MaxNodesPerTeam is the number of machines that a team may have on the platform.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MaxNodesPerTeam *int32 `json:"maxNodesPerTeam,omitempty"`
}

// TenantQuotaSpec limits the addresses of one tenant cluster.
type TenantQuotaSpec struct {
	// MaxNodeIPs is the number of addresses of nodes.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MaxNodeIPs *int32 `json:"maxNodeIPs,omitempty"`
	// MaxLoadBalancerIPs is the number of addresses of load balancers.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MaxLoadBalancerIPs *int32 `json:"maxLoadBalancerIPs,omitempty"`
}
