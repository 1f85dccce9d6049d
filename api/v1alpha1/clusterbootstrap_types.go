// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Topology is the shape of a management cluster.
// +kubebuilder:validation:Enum=single-node;ha
type Topology string

// The topologies.
const (
	TopologySingleNode Topology = "single-node"
	TopologyHA         Topology = "ha"
)

// NodePool is a set of equal machines.
type NodePool struct {
	// Replicas is the number of machines; 1 on a single node. The number of workers can be
	// changed while a cluster with topology ha is Ready.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Replicas int32 `json:"replicas"`
	// CPU is the number of virtual cores of a machine.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=128
	CPU int32 `json:"cpu"`
	// MemoryMB is the memory of a machine in megabytes.
	// +kubebuilder:validation:Minimum=2048
	MemoryMB int32 `json:"memoryMB"`
	// DiskGB is the size of a machine's root disk in gigabytes.
	// +kubebuilder:validation:Minimum=20
	DiskGB int32 `json:"diskGB"`
	// ExtraDisks of each machine.
	// +kubebuilder:validation:MaxItems=16
	// +optional
	ExtraDisks []DiskSpec `json:"extraDisks,omitempty"`
	// Labels of the nodes. ClusterBootstrapSpec.Validate checks them: keys of a
	// map have no maximal length in a schema, so that a rule in CEL costs too much.
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
}

// ClusterSpec is the topology of a management cluster and the size of its nodes.
// +kubebuilder:validation:XValidation:rule="self.name == oldSelf.name",message="cluster name is immutable"
// +kubebuilder:validation:XValidation:rule="self.topology == oldSelf.topology",message="topology is immutable"
type ClusterSpec struct {
	// Name of the cluster.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
	// Topology is ha or single-node.
	// +kubebuilder:default=ha
	// +optional
	Topology Topology `json:"topology,omitempty"`
	// ControlPlane is the pool of control-plane nodes.
	ControlPlane NodePool `json:"controlPlane"`
	// Workers is the pool of workers; ignored on a single node.
	// +optional
	Workers *NodePool `json:"workers,omitempty"`
	// KubernetesVersion of the cluster; default is that of the Talos version.
	// +kubebuilder:validation:Pattern=`^v[0-9]+\.[0-9]+\.[0-9]+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
}

// StatusCredentials selects where the credentials of a new cluster are written.
// +kubebuilder:validation:Enum=Inline;SecretOnly
type StatusCredentials string

// Where the credentials of a new cluster are written.
const (
	// StatusCredentialsInline writes them to the status and to Secrets.
	StatusCredentialsInline StatusCredentials = "Inline"
	// StatusCredentialsSecretOnly writes them to Secrets alone.
	StatusCredentialsSecretOnly StatusCredentials = "SecretOnly"
)

// Remediation selects what happens to a lost machine.
// +kubebuilder:validation:Enum=None;ReplaceWorkers
type Remediation string

// The remediations.
const (
	RemediationNone           Remediation = "None"
	RemediationReplaceWorkers Remediation = "ReplaceWorkers"
)

// ClusterBootstrapSpec is the desired management cluster.
// +kubebuilder:validation:XValidation:rule="self.provider == oldSelf.provider",message="provider is immutable"
// +kubebuilder:validation:XValidation:rule="self.providerRef == oldSelf.providerRef",message="providerRef is immutable"
// +kubebuilder:validation:XValidation:rule="self.provider in ['harvester', 'nutanix', 'proxmox'] || !(has(self.network.loadBalancerPool) || has(self.network.vipInterface))",message="network.loadBalancerPool and network.vipInterface are for harvester, nutanix and proxmox only"
// +kubebuilder:validation:XValidation:rule="!(self.provider in ['harvester', 'nutanix', 'proxmox']) || !(has(self.network.loadBalancer) || has(self.network.nodeAccess))",message="network.loadBalancer and network.nodeAccess are for gcp, aws and azure only"
type ClusterBootstrapSpec struct {
	// Provider is the kind of platform.
	Provider ProviderType `json:"provider"`
	// ProviderRef names the ProviderConfig with the platform's credentials.
	ProviderRef ProviderReference `json:"providerRef"`
	// Cluster is the topology and the size of the nodes.
	Cluster ClusterSpec `json:"cluster"`
	// Network is the network of the cluster.
	Network NetworkSpec `json:"network"`
	// Talos is the operating system of the nodes.
	Talos TalosSpec `json:"talos"`
	// Registries are the container registries for which nodes need credentials or a certificate
	// authority. A node gets them with its configuration; a later change applies to new nodes only.
	// +listType=map
	// +listMapKey=host
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Registries []RegistrySpec `json:"registries,omitempty"`
	// Addons are installed once Kubernetes runs.
	// +kubebuilder:default={}
	// +optional
	Addons AddonsSpec `json:"addons,omitempty"`
	// ControlPlaneExposure is written to the ButlerConfig of the new cluster.
	// +optional
	ControlPlaneExposure *ControlPlaneExposureSpec `json:"controlPlaneExposure,omitempty"`
	// Paused stops the controller from changing anything.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// StatusCredentials is Inline if the status holds kubeconfig and talosconfig too, besides
	// their Secrets. The condition CredentialsAvailable names the Secrets.
	// +kubebuilder:default=SecretOnly
	// +optional
	StatusCredentials StatusCredentials `json:"statusCredentials,omitempty"`
	// Remediation selects what happens to a lost machine.
	// +kubebuilder:default=None
	// +optional
	Remediation Remediation `json:"remediation,omitempty"`
}

// RegistrySpec is how nodes log in to a container registry.
type RegistrySpec struct {
	// Host of the registry as in the names of images, with the port unless it is 443.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?(:[0-9]{1,5})?$`
	Host string `json:"host"`
	// SecretRef names a Secret in the namespace of the ClusterBootstrap. Of its keys, username
	// and password log in, and caBundle is the authority of the registry's certificate in PEM.
	SecretRef LocalReference `json:"secretRef"`
}

// ClusterBootstrapPhase is a phase of a ClusterBootstrap.
// +kubebuilder:validation:Enum=Pending;ProvisioningMachines;ConfiguringTalos;BootstrappingCluster;InstallingAddons;Pivoting;Ready;Failed
type ClusterBootstrapPhase string

// The phases of a ClusterBootstrap.
const (
	BootstrapPending              ClusterBootstrapPhase = "Pending"
	BootstrapProvisioningMachines ClusterBootstrapPhase = "ProvisioningMachines"
	BootstrapConfiguringTalos     ClusterBootstrapPhase = "ConfiguringTalos"
	BootstrapBootstrappingCluster ClusterBootstrapPhase = "BootstrappingCluster"
	BootstrapInstallingAddons     ClusterBootstrapPhase = "InstallingAddons"
	BootstrapPivoting             ClusterBootstrapPhase = "Pivoting"
	BootstrapReady                ClusterBootstrapPhase = "Ready"
	BootstrapFailed               ClusterBootstrapPhase = "Failed"
)

// Conditions of a ClusterBootstrap, besides Ready.
const (
	ConditionProgressing = "Progressing"
	ConditionFailed      = "Failed"
	ConditionAddonsReady = "AddonsReady"
	// ConditionPivoted is true when the cluster manages itself. Until then, the message
	// has the error of the last attempt to pivot.
	ConditionPivoted = "Pivoted"
	// ConditionCredentialsAvailable names the Secrets that hold the credentials of
	// the new cluster.
	ConditionCredentialsAvailable = "CredentialsAvailable"
)

// BootstrapMachineStatus is the observed state of a machine of the cluster.
type BootstrapMachineStatus struct {
	// Name of the MachineRequest.
	Name string `json:"name"`
	// Role is control-plane or worker.
	Role MachineRole `json:"role"`
	// Phase of the MachineRequest.
	Phase MachinePhase `json:"phase"`
	// IPAddress of the machine.
	// +optional
	IPAddress string `json:"ipAddress,omitempty"`
	// TalosConfigured is true once the machine has accepted its configuration.
	// +optional
	TalosConfigured bool `json:"talosConfigured,omitempty"`
	// LoopbackConfigured is true once a control plane has the address of the load balancer
	// on its loopback interface, where the load balancer passes packets on unchanged.
	// +optional
	LoopbackConfigured bool `json:"loopbackConfigured,omitempty"`
	// Ready is true once the node has joined the cluster and is Ready.
	// +optional
	Ready bool `json:"ready,omitempty"`
}

// BootstrapAllocation is a block of addresses of a NetworkPool: the address of a machine, the
// VIP, or the range of the cluster's load balancers.
type BootstrapAllocation struct {
	// Name of the IPAllocation; that of a machine has the name of its MachineRequest.
	Name string `json:"name"`
	// Pool is the name of the NetworkPool.
	Pool string `json:"pool"`
	// CIDR of the network that the addresses are in.
	CIDR string `json:"cidr"`
	// StartAddress is the first address.
	StartAddress string `json:"startAddress"`
	// EndAddress is the last address.
	EndAddress string `json:"endAddress"`
}

// AddonPhase is the installation state of an addon.
// +kubebuilder:validation:Enum=Pending;Installing;Waiting;Ready;Failing
type AddonPhase string

// The phases of an addon.
const (
	AddonPending    AddonPhase = "Pending"    // waits for other addons
	AddonInstalling AddonPhase = "Installing" // is fetched and applied
	AddonWaiting    AddonPhase = "Waiting"    // is applied, and not ready
	AddonReady      AddonPhase = "Ready"      // is installed and working
	AddonFailing    AddonPhase = "Failing"    // could not be fetched or applied, and is retried
)

// Reasons of an addon that fails.
const (
	AddonFetchFailed    = "FetchFailed"    // its chart or manifest could not be fetched
	AddonWebhookRefused = "WebhookRefused" // an admission webhook refuses its objects
	AddonHookFailed     = "HookFailed"     // a hook of its chart fails
	AddonApplyFailed    = "ApplyFailed"    // its objects could not be applied for another reason
)

// BootstrapAddonStatus is the observed state of an addon of the cluster.
type BootstrapAddonStatus struct {
	// Name of the addon, as in addonsInstalled.
	Name string `json:"name"`
	// Version is the desired version.
	// +optional
	Version string `json:"version,omitempty"`
	// Phase is the installation state of the addon.
	Phase AddonPhase `json:"phase"`
	// Reason is the machine-readable cause of phase Failing: FetchFailed, WebhookRefused,
	// HookFailed or ApplyFailed.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message is what the addon waits for, or why it could not be installed.
	// +optional
	Message string `json:"message,omitempty"`
	// Digest is the checksum of the chart or manifest that was fetched.
	// +optional
	Digest string `json:"digest,omitempty"`
}

// ClusterBootstrapStatus is the observed state of a ClusterBootstrap.
type ClusterBootstrapStatus struct {
	// Phase of the bootstrap.
	// +optional
	Phase ClusterBootstrapPhase `json:"phase,omitempty"`
	// ControlPlaneEndpoint is the address or name of the new cluster's API.
	// +optional
	ControlPlaneEndpoint string `json:"controlPlaneEndpoint,omitempty"`
	// Kubeconfig of the new cluster's administrator, base64-encoded; empty unless
	// spec.statusCredentials is Inline.
	// +optional
	Kubeconfig string `json:"kubeconfig,omitempty"`
	// Talosconfig of the new cluster's administrator, base64-encoded; empty unless
	// spec.statusCredentials is Inline.
	// +optional
	Talosconfig string `json:"talosconfig,omitempty"`
	// ConsoleURL is the URL of the console, if it is installed.
	// +optional
	ConsoleURL string `json:"consoleURL,omitempty"`
	// Machines of the cluster.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	// +optional
	Machines []BootstrapMachineStatus `json:"machines,omitempty"`
	// Allocations are the addresses that come from NetworkPools, where the network of the
	// ProviderConfig is of mode ipam. They do not change; the allocation of a worker is removed with the worker.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=22
	// +optional
	Allocations []BootstrapAllocation `json:"allocations,omitempty"`
	// FailureReason is the machine-readable cause of a failure.
	// +optional
	FailureReason string `json:"failureReason,omitempty"`
	// FailureMessage is the human-readable cause of a failure.
	// +optional
	FailureMessage string `json:"failureMessage,omitempty"`
	// AddonsInstalled has an entry for each addon: true once it is installed and ready.
	// +optional
	AddonsInstalled map[string]bool `json:"addonsInstalled,omitempty"`
	// Addons of the cluster, in the order in which they depend on each other.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=40
	// +optional
	Addons []BootstrapAddonStatus `json:"addons,omitempty"`
	// Conditions of the bootstrap.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// LastUpdated is the time of the last change of this status.
	// +optional
	LastUpdated *metav1.Time `json:"lastUpdated,omitempty"`
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// ClusterBootstrap creates a management cluster, from its machines to its addons.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=cb
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.cluster.name`
// +kubebuilder:printcolumn:name="Topology",type=string,JSONPath=`.spec.cluster.topology`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.controlPlaneEndpoint`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="metadata.name must have at most 63 characters"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.machines) || size(oldSelf.status.machines) == 0 || (self.spec.cluster.controlPlane == oldSelf.spec.cluster.controlPlane && has(self.spec.cluster.kubernetesVersion) == has(oldSelf.spec.cluster.kubernetesVersion) && (!has(self.spec.cluster.kubernetesVersion) || self.spec.cluster.kubernetesVersion == oldSelf.spec.cluster.kubernetesVersion) && has(self.spec.cluster.workers) == has(oldSelf.spec.cluster.workers) && (!has(self.spec.cluster.workers) || self.spec.cluster.workers.cpu == oldSelf.spec.cluster.workers.cpu && self.spec.cluster.workers.memoryMB == oldSelf.spec.cluster.workers.memoryMB && self.spec.cluster.workers.diskGB == oldSelf.spec.cluster.workers.diskGB && has(self.spec.cluster.workers.extraDisks) == has(oldSelf.spec.cluster.workers.extraDisks) && (!has(self.spec.cluster.workers.extraDisks) || self.spec.cluster.workers.extraDisks == oldSelf.spec.cluster.workers.extraDisks) && has(self.spec.cluster.workers.labels) == has(oldSelf.spec.cluster.workers.labels) && (!has(self.spec.cluster.workers.labels) || self.spec.cluster.workers.labels == oldSelf.spec.cluster.workers.labels) && (self.spec.cluster.workers.replicas == oldSelf.spec.cluster.workers.replicas || has(oldSelf.status.phase) && oldSelf.status.phase == 'Ready' && self.spec.cluster.topology == 'ha')))",message="spec.cluster is immutable once machines are requested, but for workers.replicas of a Ready cluster with topology ha"
// +kubebuilder:validation:XValidation:rule="(self.spec.talos == oldSelf.spec.talos && self.spec.network.podCIDR == oldSelf.spec.network.podCIDR && self.spec.network.serviceCIDR == oldSelf.spec.network.serviceCIDR && has(self.spec.network.vip) == has(oldSelf.spec.network.vip) && (!has(self.spec.network.vip) || self.spec.network.vip == oldSelf.spec.network.vip) && has(self.spec.network.vipInterface) == has(oldSelf.spec.network.vipInterface) && (!has(self.spec.network.vipInterface) || self.spec.network.vipInterface == oldSelf.spec.network.vipInterface)) || !has(oldSelf.status) || !has(oldSelf.status.machines) || !oldSelf.status.machines.exists(m, (has(m.talosConfigured) && m.talosConfigured) || oldSelf.spec.provider in ['gcp', 'aws', 'azure'])",message="spec.talos and podCIDR, serviceCIDR, vip and vipInterface of spec.network are immutable once a machine is configured, in a cloud once machines are requested"
// +kubebuilder:validation:XValidation:rule="(self.spec.addons.controlPlaneHA.type == oldSelf.spec.addons.controlPlaneHA.type && self.spec.addons.controlPlaneHA.enabled == oldSelf.spec.addons.controlPlaneHA.enabled) || !has(oldSelf.status) || !has(oldSelf.status.machines) || !oldSelf.status.machines.exists(m, (has(m.talosConfigured) && m.talosConfigured) || oldSelf.spec.provider in ['gcp', 'aws', 'azure'])",message="type and enabled of spec.addons.controlPlaneHA are immutable once a machine is configured, in a cloud once machines are requested"
// +kubebuilder:validation:XValidation:rule="(self.spec.addons.cni.type == oldSelf.spec.addons.cni.type && (self.spec.addons.storage.type == oldSelf.spec.addons.storage.type || self.spec.addons.storage.type == 'none')) || !has(oldSelf.status) || !has(oldSelf.status.machines) || !oldSelf.status.machines.exists(m, (has(m.talosConfigured) && m.talosConfigured) || oldSelf.spec.provider in ['gcp', 'aws', 'azure'])",message="type of spec.addons.cni and of spec.addons.storage is immutable once a machine is configured, in a cloud once machines are requested"
type ClusterBootstrap struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ClusterBootstrapSpec   `json:"spec"`
	Status ClusterBootstrapStatus `json:"status,omitempty"`
}

// ClusterBootstrapList is a list of ClusterBootstraps.
// +kubebuilder:object:root=true
type ClusterBootstrapList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ClusterBootstrap `json:"items"`
}
