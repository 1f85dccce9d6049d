// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TenantClusterPhase is a phase of a TenantCluster.
// +kubebuilder:validation:Enum=Pending;Provisioning;Installing;Ready;Updating;Deleting;Failed
type TenantClusterPhase string

// The phases of a TenantCluster.
const (
	TenantPending      TenantClusterPhase = "Pending"
	TenantProvisioning TenantClusterPhase = "Provisioning"
	TenantInstalling   TenantClusterPhase = "Installing"
	TenantReady        TenantClusterPhase = "Ready"
	TenantUpdating     TenantClusterPhase = "Updating"
	TenantDeleting     TenantClusterPhase = "Deleting"
	// TenantFailed needs a change of the spec, or an operator. What recovers without one is a
	// condition, never this phase.
	TenantFailed TenantClusterPhase = "Failed"
)

// The conditions of a TenantCluster, besides Ready and ConditionAddonsReady.
const (
	// ConditionProviderAccessGranted: the ProviderConfig exists, and its scope admits the cluster.
	ConditionProviderAccessGranted = "ProviderAccessGranted"
	// ConditionQuotaSatisfied: the limits of the team and of the ProviderConfig are kept.
	ConditionQuotaSatisfied = "QuotaSatisfied"
	// ConditionNetworkReady: the cluster has the addresses that it needs.
	ConditionNetworkReady = "NetworkReady"
	// ConditionImageReady: the image of the workers is known.
	ConditionImageReady = "ImageReady"
	// ConditionInfrastructureReady: the infrastructure cluster is ready.
	ConditionInfrastructureReady = "InfrastructureReady"
	// ConditionControlPlaneReady: the hosted control plane serves the requested version.
	ConditionControlPlaneReady = "ControlPlaneReady"
	// ConditionWorkersReady: all workers are Ready nodes of the requested version and size.
	ConditionWorkersReady = "WorkersReady"
	// ConditionFieldsWithoutEffect: fields of the ProviderConfig do not apply to the workers.
	// There is no such condition if all do.
	ConditionFieldsWithoutEffect = "FieldsWithoutEffect"
	// ConditionLeftOnPlatform: what the tenant created on the platform is not deleted with it.
	// Only a cluster that is being deleted has it.
	ConditionLeftOnPlatform = "LeftOnPlatform"
)

// TenantProviderReference names a ProviderConfig.
type TenantProviderReference struct {
	// Name of the ProviderConfig.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Namespace of the ProviderConfig.
	// +kubebuilder:default=butler-system
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// TenantControlPlaneSpec is the hosted control plane of a tenant cluster.
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.dataStoreRef) || has(self.dataStoreRef)",message="dataStoreRef cannot be removed: the data would have no place; name another DataStore to move it"
type TenantControlPlaneSpec struct {
	// Replicas of the control plane's pods.
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// DataStoreRef names the DataStore of the control plane; empty means the default one.
	// +optional
	DataStoreRef *LocalReference `json:"dataStoreRef,omitempty"`
	// ServiceType of the control plane's Service; empty means that the exposure of the
	// ButlerConfig applies. LoadBalancer exposes this control plane by an address of its own,
	// regardless of the ButlerConfig.
	// +kubebuilder:validation:Enum=LoadBalancer;NodePort;ClusterIP
	// +kubebuilder:validation:XValidation:rule="self != 'NodePort'",message="serviceType NodePort is not served: its endpoint would be the address of one node; use LoadBalancer, or leave it out"
	// +optional
	ServiceType string `json:"serviceType,omitempty"`
	// CertSANs are further names and addresses in the certificate of the API server.
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:XValidation:rule="isIP(self) || self.matches('^([*][.])?[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?([.][a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?)*$')",message="certSANs must be IP addresses or DNS names, without a port"
	// +listType=set
	// +optional
	CertSANs []string `json:"certSANs,omitempty"`
	// ExternalCloudProvider runs the kubelets with an external cloud provider, in a cloud.
	// False keeps the cloud controller manager out.
	// +kubebuilder:default=true
	// +optional
	ExternalCloudProvider *bool `json:"externalCloudProvider,omitempty"`
	// Resources of the control plane's containers; those left out come from the ButlerConfig.
	// +optional
	Resources *ControlPlaneResources `json:"resources,omitempty"`
}

// TenantNetworkingSpec is the network of a tenant cluster.
// +kubebuilder:validation:XValidation:rule="self.podCIDR == oldSelf.podCIDR && self.serviceCIDR == oldSelf.serviceCIDR",message="podCIDR and serviceCIDR are immutable"
// +kubebuilder:validation:XValidation:rule="!isCIDR(self.podCIDR) || !isCIDR(self.serviceCIDR) || !(cidr(self.podCIDR).containsCIDR(self.serviceCIDR) || cidr(self.serviceCIDR).containsCIDR(self.podCIDR))",message="podCIDR and serviceCIDR must not overlap"
// +kubebuilder:validation:XValidation:rule="!(has(self.loadBalancerPool) && has(self.lbPoolSize))",message="set loadBalancerPool or lbPoolSize, not both"
type TenantNetworkingSpec struct {
	// PodCIDR is the range of pod addresses.
	// +kubebuilder:default="10.244.0.0/16"
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self)",message="podCIDR must be a CIDR such as 10.244.0.0/16"
	// +optional
	PodCIDR string `json:"podCIDR,omitempty"`
	// ServiceCIDR is the range of service addresses.
	// +kubebuilder:default="10.96.0.0/12"
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self)",message="serviceCIDR must be a CIDR such as 10.96.0.0/12"
	// +optional
	ServiceCIDR string `json:"serviceCIDR,omitempty"`
	// LoadBalancerPool is the range that Services of type LoadBalancer get, on-prem.
	// +optional
	LoadBalancerPool *AddressRange `json:"loadBalancerPool,omitempty"`
	// LBPoolSize is the number of such addresses that come from a NetworkPool instead;
	// default is that of the ProviderConfig.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	// +optional
	LBPoolSize int32 `json:"lbPoolSize,omitempty"`
}

// ManagementPolicySpec selects how the cluster is managed.
type ManagementPolicySpec struct {
	// Mode is Active: Butler reconciles the cluster with its spec.
	// +kubebuilder:default=Active
	// +kubebuilder:validation:Enum=Active;Observe;GitOps
	// +kubebuilder:validation:XValidation:rule="self == 'Active'",message="managementPolicy.mode must be Active: Observe and GitOps are not served"
	// +optional
	Mode string `json:"mode,omitempty"`
}

// TenantWorkspacesSpec is accepted only while it is disabled.
// +kubebuilder:pruning:PreserveUnknownFields
type TenantWorkspacesSpec struct {
	// Enabled must be false.
	// +kubebuilder:validation:XValidation:rule="!self",message="workspaces are not served: remove workspaces, or set workspaces.enabled to false"
	// +optional
	Enabled bool `json:"enabled,omitempty"`
}

// TenantClusterSpec is the requested tenant cluster.
// +kubebuilder:validation:XValidation:rule="has(self.teamRef) == has(oldSelf.teamRef) && (!has(self.teamRef) || self.teamRef == oldSelf.teamRef)",message="teamRef is immutable"
type TenantClusterSpec struct {
	// KubernetesVersion of the control plane and of the workers.
	// +kubebuilder:validation:Pattern=`^v[0-9]+\.[0-9]+\.[0-9]+$`
	// +kubebuilder:validation:MaxLength=32
	KubernetesVersion string `json:"kubernetesVersion"`
	// TeamRef names the Team of the cluster.
	// +optional
	TeamRef *LocalReference `json:"teamRef,omitempty"`
	// ProviderConfigRef names the platform of the workers; default is that of the team, then
	// that of the ButlerConfig.
	// +optional
	ProviderConfigRef *TenantProviderReference `json:"providerConfigRef,omitempty"`
	// TimeServers of the workers; default is those of the ProviderConfig, then of the ButlerConfig.
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +optional
	TimeServers []string `json:"timeServers,omitempty"`
	// ControlPlane is the hosted control plane.
	// +kubebuilder:default={}
	// +optional
	ControlPlane TenantControlPlaneSpec `json:"controlPlane,omitempty"`
	// Workers are the nodes of the cluster.
	Workers TenantWorkersSpec `json:"workers"`
	// Networking is the network of the cluster.
	// +kubebuilder:default={podCIDR: "10.244.0.0/16", serviceCIDR: "10.96.0.0/12"}
	// +optional
	Networking TenantNetworkingSpec `json:"networking,omitempty"`
	// ManagementPolicy selects how the cluster is managed.
	// +optional
	ManagementPolicy *ManagementPolicySpec `json:"managementPolicy,omitempty"`
	// Addons of the cluster.
	// +kubebuilder:default={}
	// +optional
	Addons TenantAddonsSpec `json:"addons,omitempty"`
	// InfrastructureOverride replaces fields of the ProviderConfig for this cluster.
	// +optional
	InfrastructureOverride *InfrastructureOverrideSpec `json:"infrastructureOverride,omitempty"`
	// Workspaces are not supported; the block is accepted only while it is disabled.
	// +optional
	Workspaces *TenantWorkspacesSpec `json:"workspaces,omitempty"`
}

// TenantWorkersStatus counts the workers of a tenant cluster.
type TenantWorkersStatus struct {
	// Desired is the number of workers that the cluster should have.
	Desired int32 `json:"desired"`
	// Ready is the number of Ready nodes.
	Ready int32 `json:"ready"`
	// Nodes are the names of the nodes, at most a hundred of them.
	// +kubebuilder:validation:MaxItems=100
	// +optional
	Nodes []string `json:"nodes,omitempty"`
}

// TenantAddonState is the state of an addon of a tenant cluster.
// +kubebuilder:validation:Enum=Pending;Installing;Healthy;Degraded;Failed
type TenantAddonState string

// The states of an addon of a tenant cluster.
const (
	TenantAddonPending    TenantAddonState = "Pending"
	TenantAddonInstalling TenantAddonState = "Installing"
	TenantAddonHealthy    TenantAddonState = "Healthy"
	TenantAddonDegraded   TenantAddonState = "Degraded"
	TenantAddonFailed     TenantAddonState = "Failed"
)

// TenantAddonStatus is an addon of a tenant cluster.
type TenantAddonStatus struct {
	// Name of the addon.
	Name string `json:"name"`
	// Version that is installed, or being installed.
	// +optional
	Version string `json:"version,omitempty"`
	// Status of the addon.
	Status TenantAddonState `json:"status"`
	// ManagedBy is the program that installs it.
	// +kubebuilder:validation:Enum=butler;flux;argocd;manual
	// +optional
	ManagedBy string `json:"managedBy,omitempty"`
}

// TenantObservedState is the actual state of the cluster, regardless of its spec.
type TenantObservedState struct {
	// KubernetesVersion that the control plane serves.
	// +optional
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// Workers of the cluster.
	// +optional
	Workers *TenantWorkersStatus `json:"workers,omitempty"`
	// Addons of the cluster.
	// +listType=map
	// +listMapKey=name
	// +optional
	Addons []TenantAddonStatus `json:"addons,omitempty"`
}

// TenantAddresses is a block of addresses of a NetworkPool that a cluster has.
type TenantAddresses struct {
	// Name of the IPAllocation, in the namespace of the ProviderConfig.
	Name string `json:"name"`
	// Type is what the addresses are for.
	Type IPAllocationType `json:"type"`
	// Pool is the name of the NetworkPool.
	Pool string `json:"pool"`
	// CIDR of the network that the addresses are in.
	CIDR string `json:"cidr"`
	// StartAddress is the first address.
	StartAddress string `json:"startAddress"`
	// EndAddress is the last address.
	EndAddress string `json:"endAddress"`
}

// TenantClusterStatus is the observed state of a TenantCluster.
type TenantClusterStatus struct {
	// Phase of the cluster.
	// +optional
	Phase TenantClusterPhase `json:"phase,omitempty"`
	// TenantNamespace is the namespace of the cluster's Cluster API objects.
	// +optional
	TenantNamespace string `json:"tenantNamespace,omitempty"`
	// ControlPlaneEndpoint is the host and port of the API server.
	// +optional
	ControlPlaneEndpoint string `json:"controlPlaneEndpoint,omitempty"`
	// ControlPlaneHost is the program that hosts the control plane, steward or kamaji. It does not
	// change: a control plane cannot move to another host.
	// +optional
	ControlPlaneHost string `json:"controlPlaneHost,omitempty"`
	// KubeconfigSecretRef names the Secret with the kubeconfig, in the tenant namespace.
	// +optional
	KubeconfigSecretRef *LocalReference `json:"kubeconfigSecretRef,omitempty"`
	// ProviderConfigRef is the ProviderConfig that the cluster was created with.
	// +optional
	ProviderConfigRef *NamespacedReference `json:"providerConfigRef,omitempty"`
	// Reservation is the share of the cluster in quotas: what it may have. A change of the spec
	// that exceeds a quota does not change it.
	// +optional
	Reservation *QuotaReservation `json:"reservation,omitempty"`
	// WorkerNodesReady is the number of Ready nodes.
	// +optional
	WorkerNodesReady int32 `json:"workerNodesReady,omitempty"`
	// WorkerNodesDesired is the number of workers that the cluster should have.
	// +optional
	WorkerNodesDesired int32 `json:"workerNodesDesired,omitempty"`
	// ObservedState is the actual state of the cluster.
	// +optional
	ObservedState *TenantObservedState `json:"observedState,omitempty"`
	// Allocations are the addresses that the cluster has of NetworkPools. They are not released
	// while they are listed here.
	// +listType=map
	// +listMapKey=name
	// +optional
	Allocations []TenantAddresses `json:"allocations,omitempty"`
	// IPAllocationRef is the first IPAllocation of the nodes' addresses.
	// +optional
	IPAllocationRef *NamespacedReference `json:"ipAllocationRef,omitempty"`
	// LBAllocationRef is the first IPAllocation of the load balancers' addresses.
	// +optional
	LBAllocationRef *NamespacedReference `json:"lbAllocationRef,omitempty"`
	// LastTransitionTime is when the phase last changed.
	// +optional
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
	// Conditions of the cluster.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// TenantCluster is a Kubernetes cluster for users of the platform: a control plane hosted on
// the management cluster, and workers on a platform.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=tc
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="K8s Version",type=string,JSONPath=`.spec.kubernetesVersion`
// +kubebuilder:printcolumn:name="Workers",type=integer,JSONPath=`.status.observedState.workers.ready`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.controlPlaneEndpoint`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 40 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must begin with a letter, and have at most 40 characters: lower case letters, digits and dashes"
// +kubebuilder:validation:XValidation:rule="has(self.spec.controlPlane.serviceType) == has(oldSelf.spec.controlPlane.serviceType) && (!has(self.spec.controlPlane.serviceType) || self.spec.controlPlane.serviceType == oldSelf.spec.controlPlane.serviceType) || !has(self.status) || !has(self.status.controlPlaneEndpoint)",message="controlPlane.serviceType cannot be changed once the cluster has an endpoint, which workers and kubeconfigs have: create another cluster"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.spec.providerConfigRef) || (has(self.spec.providerConfigRef) && self.spec.providerConfigRef == oldSelf.spec.providerConfigRef) || !has(self.status) || !has(self.status.providerConfigRef)",message="providerConfigRef is immutable once it was found: machines do not move between platforms; create another cluster"
// +kubebuilder:validation:XValidation:rule="self.spec.kubernetesVersion == oldSelf.spec.kubernetesVersion || [oldSelf.spec.kubernetesVersion, self.spec.kubernetesVersion].map(v, v.substring(1).split('.')).map(p, int(p[0]) * 1000000 + int(p[1]) * 1000 + int(p[2])).isSorted() || !has(self.status) || !has(self.status.observedState) || !has(self.status.observedState.kubernetesVersion) || !self.status.observedState.kubernetesVersion.matches('^v[0-9]+[.][0-9]+[.][0-9]+$') || [self.status.observedState.kubernetesVersion, self.spec.kubernetesVersion].map(v, v.substring(1).split('.')).map(p, int(p[0]) * 1000000 + int(p[1]) * 1000 + int(p[2])).isSorted()",message="kubernetesVersion must not be lower than that of the control plane: Kubernetes cannot be downgraded"
// +kubebuilder:validation:XValidation:rule="self.spec.kubernetesVersion == oldSelf.spec.kubernetesVersion || !has(self.status) || !has(self.status.observedState) || !has(self.status.observedState.kubernetesVersion) || !self.status.observedState.kubernetesVersion.matches('^v[0-9]+[.][0-9]+[.][0-9]+$') || int(self.spec.kubernetesVersion.substring(1).split('.')[1]) <= int(self.status.observedState.kubernetesVersion.substring(1).split('.')[1]) + 1",message="kubernetesVersion must be at most one minor version above that of the control plane: upgrade one minor version at a time"
type TenantCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TenantClusterSpec   `json:"spec"`
	Status TenantClusterStatus `json:"status,omitempty"`
}

// TenantClusterList is a list of TenantClusters.
// +kubebuilder:object:root=true
type TenantClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []TenantCluster `json:"items"`
}
