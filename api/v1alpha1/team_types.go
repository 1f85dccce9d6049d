// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TeamPhase is a phase of a Team.
// +kubebuilder:validation:Enum=Pending;Ready;Terminating;Failed
type TeamPhase string

// The phases of a Team.
const (
	TeamPending     TeamPhase = "Pending"
	TeamReady       TeamPhase = "Ready"
	TeamTerminating TeamPhase = "Terminating"
	TeamFailed      TeamPhase = "Failed"
)

// The conditions of a Team, besides Ready.
const (
	ConditionNamespaceReady = "NamespaceReady"
	ConditionRBACReady      = "RBACReady"
	ConditionQuotaExceeded  = "QuotaExceeded"
)

// TeamRole is the role of a member of a Team.
// +kubebuilder:validation:Enum=admin;operator;viewer
type TeamRole string

// The roles of a Team.
const (
	// TeamAdmin creates and deletes tenant clusters, and reads their credentials.
	TeamAdmin TeamRole = "admin"
	// TeamOperator changes tenant clusters, and reads their credentials.
	TeamOperator TeamRole = "operator"
	// TeamViewer reads tenant clusters, and no credentials.
	TeamViewer TeamRole = "viewer"
)

// QuotaStatus compares the usage of a Team with its limits.
// +kubebuilder:validation:Enum=OK;Warning;Exceeded
type QuotaStatus string

// The states of a quota.
const (
	QuotaOK QuotaStatus = "OK"
	// QuotaWarning: at least 80 percent of a limit are used.
	QuotaWarning QuotaStatus = "Warning"
	// QuotaExceededStatus: a limit was lowered below what is used.
	QuotaExceededStatus QuotaStatus = "Exceeded"
)

// TeamUser is a user of a Team.
type TeamUser struct {
	// Name of the user, as the API server authenticates it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Role of the user.
	// +kubebuilder:default=viewer
	// +optional
	Role TeamRole `json:"role,omitempty"`
}

// TeamGroup is a group of users of a Team.
type TeamGroup struct {
	// Name of the group, as the API server authenticates it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Role of the members.
	// +kubebuilder:default=viewer
	// +optional
	Role TeamRole `json:"role,omitempty"`
	// IdentityProvider must be empty.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="size(self) == 0",message="identityProvider is not served: groups are those that the API server authenticates"
	// +optional
	IdentityProvider string `json:"identityProvider,omitempty"`
}

// TeamAccess lists the members of a Team.
type TeamAccess struct {
	// Users of the team.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=500
	// +optional
	Users []TeamUser `json:"users,omitempty"`
	// Groups of the team.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	// +optional
	Groups []TeamGroup `json:"groups,omitempty"`
}

// TeamResourceLimits limit what a Team may have. A limit that is not set comes from the
// ButlerConfig; if that has none either, there is no limit. A limit of 0 allows none. A lowered
// limit does not affect clusters that run: it refuses growth, never deletion.
type TeamResourceLimits struct {
	// MaxClusters is the number of tenant clusters.
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxClusters *int32 `json:"maxClusters,omitempty"`
	// MaxNodesPerCluster is the number of workers of one cluster.
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxNodesPerCluster *int32 `json:"maxNodesPerCluster,omitempty"`
	// MaxTotalNodes is the number of workers of all clusters.
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxTotalNodes *int32 `json:"maxTotalNodes,omitempty"`
	// MaxCPUCores is the sum of the processors of all workers.
	// +optional
	MaxCPUCores *resource.Quantity `json:"maxCPUCores,omitempty"`
	// MaxMemory is the sum of the memory of all workers.
	// +optional
	MaxMemory *resource.Quantity `json:"maxMemory,omitempty"`
	// MaxStorage is the sum of the root disks of all workers.
	// +optional
	MaxStorage *resource.Quantity `json:"maxStorage,omitempty"`
	// AllowedKubernetesVersions are versions such as v1.32.0, or minor versions such as v1.32;
	// empty allows all.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=32
	// +kubebuilder:validation:items:Pattern=`^v[0-9]+\.[0-9]+(\.[0-9]+)?$`
	// +listType=set
	// +optional
	AllowedKubernetesVersions []string `json:"allowedKubernetesVersions,omitempty"`
	// AllowedProviders are the ProviderConfigs that the team may use, by name; empty allows all.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	AllowedProviders []string `json:"allowedProviders,omitempty"`
	// AllowedAddons are the addons that the team may choose; empty allows all.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +optional
	AllowedAddons []string `json:"allowedAddons,omitempty"`
	// DeniedAddons are the addons that the team may not choose.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +optional
	DeniedAddons []string `json:"deniedAddons,omitempty"`
}

// Unserved is a block that is not supported: an object that has it is refused.
// +kubebuilder:pruning:PreserveUnknownFields
type Unserved struct{}

// TeamSpec is the requested Team.
// +kubebuilder:validation:XValidation:rule="!has(self.clusterDefaults)",message="clusterDefaults are not served: a TenantCluster has its own values"
// +kubebuilder:validation:XValidation:rule="!has(self.environments) || size(self.environments) == 0",message="environments are not served: use several Teams"
type TeamSpec struct {
	// DisplayName of the team.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	DisplayName string `json:"displayName,omitempty"`
	// Description of the team.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Description string `json:"description,omitempty"`
	// Access lists the members.
	// +optional
	Access TeamAccess `json:"access,omitempty"`
	// ResourceLimits limit what the team may have.
	// +optional
	ResourceLimits *TeamResourceLimits `json:"resourceLimits,omitempty"`
	// ProviderConfigRef names a ProviderConfig in butler-system, for the clusters of the team
	// that name none.
	// +optional
	ProviderConfigRef *LocalReference `json:"providerConfigRef,omitempty"`
	// ClusterDefaults must be left out.
	// +optional
	ClusterDefaults *Unserved `json:"clusterDefaults,omitempty"`
	// Environments must be empty.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Environments []Unserved `json:"environments,omitempty"`
}

// TeamResourceUsage is what the clusters of a Team use, including what is being created.
type TeamResourceUsage struct {
	// Clusters counts the tenant clusters.
	Clusters int32 `json:"clusters"`
	// TotalNodes counts the workers.
	TotalNodes int32 `json:"totalNodes"`
	// TotalCPU is the sum of the processors of all workers.
	// +optional
	TotalCPU *resource.Quantity `json:"totalCPU,omitempty"`
	// TotalMemory is the sum of the memory of all workers.
	// +optional
	TotalMemory *resource.Quantity `json:"totalMemory,omitempty"`
	// TotalStorage is the sum of the root disks of all workers.
	// +optional
	TotalStorage *resource.Quantity `json:"totalStorage,omitempty"`
	// ClusterUtilization is the share of maxClusters that is used, in percent.
	// +optional
	ClusterUtilization int32 `json:"clusterUtilization,omitempty"`
	// NodeUtilization is the share of maxTotalNodes that is used, in percent.
	// +optional
	NodeUtilization int32 `json:"nodeUtilization,omitempty"`
	// CPUUtilization is the share of maxCPUCores that is used, in percent.
	// +optional
	CPUUtilization int32 `json:"cpuUtilization,omitempty"`
	// MemoryUtilization is the share of maxMemory that is used, in percent.
	// +optional
	MemoryUtilization int32 `json:"memoryUtilization,omitempty"`
}

// QuotaReservation is the share of a tenant cluster in the quotas of its Team. It is written
// before anything of the cluster is created, in one place, so that two clusters cannot both get
// the last share.
type QuotaReservation struct {
	// Cluster is the namespace/name of the TenantCluster.
	Cluster string `json:"cluster"`
	// UID of the TenantCluster.
	UID string `json:"uid"`
	// ProviderConfig is the namespace/name of the platform.
	ProviderConfig string `json:"providerConfig"`
	// Nodes is the number of workers, with autoscaling the largest one.
	Nodes int32 `json:"nodes"`
	// CPU is the sum of the processors of the workers.
	CPU resource.Quantity `json:"cpu"`
	// Memory is the sum of the memory of the workers.
	Memory resource.Quantity `json:"memory"`
	// Storage is the sum of the root disks of the workers.
	Storage resource.Quantity `json:"storage"`
}

// TeamStatus is the observed state of a Team.
type TeamStatus struct {
	// Phase of the team.
	// +optional
	Phase TeamPhase `json:"phase,omitempty"`
	// Namespace of the team.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// ClusterCount is the number of tenant clusters.
	// +optional
	ClusterCount int32 `json:"clusterCount,omitempty"`
	// MemberCount is the number of users and groups.
	// +optional
	MemberCount int32 `json:"memberCount,omitempty"`
	// QuotaStatus compares the usage with the limits.
	// +optional
	QuotaStatus QuotaStatus `json:"quotaStatus,omitempty"`
	// QuotaMessage names the limit that is nearly or completely used.
	// +optional
	QuotaMessage string `json:"quotaMessage,omitempty"`
	// ResourceUsage is what the clusters have.
	// +optional
	ResourceUsage *TeamResourceUsage `json:"resourceUsage,omitempty"`
	// Reservations are the shares of the clusters in the quotas.
	// +listType=map
	// +listMapKey=cluster
	// +kubebuilder:validation:MaxItems=1000
	// +optional
	Reservations []QuotaReservation `json:"reservations,omitempty"`
	// Conditions of the team.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// Team is a group of people with tenant clusters of their own, in a namespace that has the name
// of the Team.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=tm
// +kubebuilder:printcolumn:name="Display Name",type=string,JSONPath=`.spec.displayName`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Namespace",type=string,JSONPath=`.status.namespace`
// +kubebuilder:printcolumn:name="Clusters",type=integer,JSONPath=`.status.clusterCount`
// +kubebuilder:printcolumn:name="Quota",type=string,JSONPath=`.status.quotaStatus`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name is that of the namespace: at most 63 lower case letters, digits and dashes"
// +kubebuilder:validation:XValidation:rule="!(self.metadata.name in ['default', 'butler-system', 'butler-tenants']) && !self.metadata.name.startsWith('kube-')",message="metadata.name must not be a namespace of the platform"
type Team struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TeamSpec   `json:"spec"`
	Status TeamStatus `json:"status,omitempty"`
}

// TeamList is a list of Teams.
// +kubebuilder:object:root=true
type TeamList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Team `json:"items"`
}
