// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ProviderType is a kind of platform.
// +kubebuilder:validation:Enum=harvester;nutanix;proxmox;azure;aws;gcp
type ProviderType string

// The platforms that a ProviderConfig can describe.
const (
	ProviderHarvester ProviderType = "harvester"
	ProviderNutanix   ProviderType = "nutanix"
	ProviderProxmox   ProviderType = "proxmox"
	ProviderAzure     ProviderType = "azure"
	ProviderAWS       ProviderType = "aws"
	ProviderGCP       ProviderType = "gcp"
)

// OnPrem reports whether machines of this platform are in the user's own
// network, without a cloud load balancer.
func (p ProviderType) OnPrem() bool {
	return p == ProviderHarvester || p == ProviderNutanix || p == ProviderProxmox
}

// ScopeType selects who may use a ProviderConfig.
// +kubebuilder:validation:Enum=platform;team
type ScopeType string

// The scopes of a ProviderConfig.
const (
	ScopePlatform ScopeType = "platform"
	ScopeTeam     ScopeType = "team"
)

// ProviderScope defines who may use a ProviderConfig.
// +kubebuilder:validation:XValidation:rule="self.type != 'team' || has(self.teamRef)",message="teamRef is required for scope team"
// +kubebuilder:validation:XValidation:rule="self.type == 'team' || !has(self.teamRef)",message="teamRef is for scope team only"
type ProviderScope struct {
	// Type is platform or team.
	// +kubebuilder:default=platform
	// +optional
	Type ScopeType `json:"type,omitempty"`
	// TeamRef names the team of scope team.
	// +optional
	TeamRef *LocalReference `json:"teamRef,omitempty"`
}

// NetworkMode selects where addresses come from: from NetworkPools, or from the platform,
// on-prem by DHCP.
// +kubebuilder:validation:Enum=ipam;cloud
type NetworkMode string

// The network modes.
const (
	NetworkModeIPAM  NetworkMode = "ipam"
	NetworkModeCloud NetworkMode = "cloud"
)

// NetworkPoolReference names a NetworkPool and its rank.
type NetworkPoolReference struct {
	// Name of the NetworkPool.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Priority ranks the pools; the lowest number is used first.
	// +kubebuilder:default=0
	// +optional
	Priority int32 `json:"priority,omitempty"`
}

// AllocationMode selects when a tenant cluster gets the addresses of its load balancers.
// +kubebuilder:validation:Enum=static;elastic
type AllocationMode string

// The allocation modes.
const (
	// AllocationStatic gives each cluster all its addresses at once.
	AllocationStatic AllocationMode = "static"
	// AllocationElastic gives further addresses when a Service has waited for one.
	AllocationElastic AllocationMode = "elastic"
)

// ProviderLoadBalancerSpec configures the addresses of load balancers.
type ProviderLoadBalancerSpec struct {
	// AllocationMode of tenant clusters is static or elastic. Management clusters are static.
	// +kubebuilder:default=static
	// +optional
	AllocationMode AllocationMode `json:"allocationMode,omitempty"`
	// InitialPoolSize is the number of addresses that a tenant cluster begins with, for mode
	// elastic.
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	// +optional
	InitialPoolSize int32 `json:"initialPoolSize,omitempty"`
	// GrowthIncrement is the number of addresses that are added at a time, for mode elastic.
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	// +optional
	GrowthIncrement int32 `json:"growthIncrement,omitempty"`
	// DefaultPoolSize is the number of addresses that a cluster without a range of its own
	// gets from a NetworkPool.
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	// +optional
	DefaultPoolSize int32 `json:"defaultPoolSize,omitempty"`
}

// ProviderNetworkSpec describes the network that machines are attached to.
// +kubebuilder:validation:XValidation:rule="(self.mode == 'ipam') == (has(self.poolRefs) && size(self.poolRefs) > 0)",message="poolRefs are required for mode ipam, and for no other"
// +kubebuilder:validation:XValidation:rule="!has(self.gateway) || !has(self.subnet) || !isIP(self.gateway) || !isCIDR(self.subnet) || cidr(self.subnet).containsIP(self.gateway)",message="gateway must lie within subnet"
// +kubebuilder:validation:XValidation:rule="self.mode == 'ipam' || !has(self.loadBalancer)",message="loadBalancer is for mode ipam only"
// +kubebuilder:validation:XValidation:rule="self.mode == 'ipam' || !has(self.quotaPerTenant)",message="quotaPerTenant is for mode ipam only"
type ProviderNetworkSpec struct {
	// Mode is ipam or cloud. With ipam machines have addresses of NetworkPools; with cloud
	// they have those of the platform, on-prem by DHCP.
	// +kubebuilder:default=cloud
	// +optional
	Mode NetworkMode `json:"mode,omitempty"`
	// PoolRefs are the pools of mode ipam.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +optional
	PoolRefs []NetworkPoolReference `json:"poolRefs,omitempty"`
	// Subnet of the machines, in CIDR form.
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self)",message="subnet must be a CIDR such as 10.40.0.0/24"
	// +optional
	Subnet string `json:"subnet,omitempty"`
	// Gateway of the subnet.
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule="isIP(self)",message="gateway must be an IP address"
	// +optional
	Gateway string `json:"gateway,omitempty"`
	// DNSServers of the machines.
	// +kubebuilder:validation:MaxItems=8
	// +optional
	// +kubebuilder:validation:items:MaxLength=45
	// +kubebuilder:validation:items:XValidation:rule="isIP(self)",message="dnsServers must be IP addresses"
	DNSServers []string `json:"dnsServers,omitempty"`
	// TimeServers of the machines.
	// +kubebuilder:validation:MaxItems=8
	// +optional
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	TimeServers []string `json:"timeServers,omitempty"`
	// LoadBalancer configures the addresses of load balancers, for mode ipam.
	// +optional
	LoadBalancer *ProviderLoadBalancerSpec `json:"loadBalancer,omitempty"`
	// QuotaPerTenant limits the addresses of one tenant cluster, for mode ipam.
	// +optional
	QuotaPerTenant *TenantQuotaSpec `json:"quotaPerTenant,omitempty"`
}

// IPAM reports whether addresses come from NetworkPools.
func (n *ProviderNetworkSpec) IPAM() bool { return n != nil && n.Mode == NetworkModeIPAM }

// ProviderConfigSpec describes how to reach a platform and where to create machines.
// +kubebuilder:validation:XValidation:rule="!(self.provider in ['harvester', 'nutanix', 'proxmox']) || has(self.credentialsRef)",message="credentialsRef is required for harvester, nutanix and proxmox"
// +kubebuilder:validation:XValidation:rule="self.provider == oldSelf.provider",message="provider is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.harvester) == (self.provider == 'harvester')",message="block harvester is required for provider harvester, and for no other"
// +kubebuilder:validation:XValidation:rule="has(self.nutanix) == (self.provider == 'nutanix')",message="block nutanix is required for provider nutanix, and for no other"
// +kubebuilder:validation:XValidation:rule="has(self.proxmox) == (self.provider == 'proxmox')",message="block proxmox is required for provider proxmox, and for no other"
// +kubebuilder:validation:XValidation:rule="has(self.aws) == (self.provider == 'aws')",message="block aws is required for provider aws, and for no other"
// +kubebuilder:validation:XValidation:rule="has(self.gcp) == (self.provider == 'gcp')",message="block gcp is required for provider gcp, and for no other"
// +kubebuilder:validation:XValidation:rule="has(self.azure) == (self.provider == 'azure')",message="block azure is required for provider azure, and for no other"
// +kubebuilder:validation:XValidation:rule="self.provider in ['harvester', 'nutanix', 'proxmox'] || !has(self.network) || self.network.mode != 'ipam'",message="network.mode ipam is for harvester, nutanix and proxmox only"
type ProviderConfigSpec struct {
	// Provider is the kind of platform.
	Provider ProviderType `json:"provider"`
	// CredentialsRef names the Secret with the credentials; without it a cloud
	// provider uses the ambient ones.
	// +optional
	CredentialsRef *SecretReference `json:"credentialsRef,omitempty"`
	// Scope defines who may use this ProviderConfig.
	// +kubebuilder:default={type: platform}
	// +optional
	Scope *ProviderScope `json:"scope,omitempty"`
	// Limits of each team on this platform.
	// +optional
	Limits *ProviderLimits `json:"limits,omitempty"`
	// Network describes the network that machines are attached to.
	// +optional
	Network *ProviderNetworkSpec `json:"network,omitempty"`
	// Harvester is set for provider harvester.
	// +optional
	Harvester *HarvesterSpec `json:"harvester,omitempty"`
	// Nutanix is set for provider nutanix.
	// +optional
	Nutanix *NutanixSpec `json:"nutanix,omitempty"`
	// Proxmox is set for provider proxmox.
	// +optional
	Proxmox *ProxmoxSpec `json:"proxmox,omitempty"`
	// AWS is set for provider aws.
	// +optional
	AWS *AWSSpec `json:"aws,omitempty"`
	// GCP is set for provider gcp.
	// +optional
	GCP *GCPSpec `json:"gcp,omitempty"`
	// Azure is set for provider azure.
	// +optional
	Azure *AzureSpec `json:"azure,omitempty"`
}

// Endpoint returns the URL of the platform's API; it is empty where the spec has none.
func (s ProviderConfigSpec) Endpoint() string {
	switch {
	case s.Harvester != nil:
		return s.Harvester.Endpoint
	case s.Nutanix != nil:
		return s.Nutanix.Endpoint
	case s.Proxmox != nil:
		return s.Proxmox.Endpoint
	}
	return ""
}

// Image returns the name of the image that machines are created from; it is empty
// where the spec names none, or names it by an id.
func (s ProviderConfigSpec) Image() string {
	switch {
	case s.Harvester != nil:
		return s.Harvester.ImageName
	case s.Proxmox != nil:
		return s.Proxmox.Template
	case s.GCP != nil:
		return s.GCP.Image
	}
	return ""
}

// PublicIP reports whether machines have public addresses besides their private ones.
func (s ProviderConfigSpec) PublicIP() bool {
	return s.AWS != nil && s.AWS.PublicIP || s.GCP != nil && s.GCP.PublicIP || s.Azure != nil && s.Azure.PublicIP
}

// NetworkName returns the name of the network that machines are attached to; it is
// empty where the spec names none, or names it by an id.
func (s ProviderConfigSpec) NetworkName() string {
	switch {
	case s.Harvester != nil:
		return s.Harvester.NetworkName
	case s.Proxmox != nil:
		return s.Proxmox.Bridge
	case s.GCP != nil:
		return s.GCP.Network
	case s.Azure != nil:
		return s.Azure.VNetName
	}
	return ""
}

// ProviderCapacity is the free capacity of a platform.
type ProviderCapacity struct {
	// AvailableIPs counts free addresses.
	// +optional
	AvailableIPs int32 `json:"availableIPs,omitempty"`
	// EstimatedTenants is the number of tenants that still fit.
	// +optional
	EstimatedTenants int32 `json:"estimatedTenants,omitempty"`
}

// OrphanKind is the kind of an orphan on a platform.
// +kubebuilder:validation:Enum=machine;loadBalancer;copy
type OrphanKind string

// The kinds of orphans.
const (
	OrphanMachine      OrphanKind = "machine"
	OrphanLoadBalancer OrphanKind = "loadBalancer"
	// OrphanCopy is a copy that the platform's own clone or restore created, with
	// the tags of the machine. It is never deleted.
	OrphanCopy OrphanKind = "copy"
)

// Orphan is an object on the platform with the id of a cluster that this plane is in
// charge of. No request owns it.
type Orphan struct {
	// Kind is machine, loadBalancer or copy. A copy was created by the platform's own clone
	// or restore, and is never deleted.
	Kind OrphanKind `json:"kind"`
	// ID is the owner id: that of the request that the object was created for.
	// +kubebuilder:validation:MinLength=1
	ID string `json:"id"`
	// Name on the platform.
	// +optional
	Name string `json:"name,omitempty"`
	// ClusterID is the id of its cluster.
	ClusterID string `json:"clusterID"`
	// Cluster is the name of its cluster.
	// +optional
	Cluster string `json:"cluster,omitempty"`
	// Parts counts the objects that it consists of.
	// +optional
	Parts int32 `json:"parts,omitempty"`
	// FirstSeen is when it was first seen without a request.
	FirstSeen metav1.Time `json:"firstSeen"`
}

// MaxOrphans is the maximum number of orphans in a status.
const MaxOrphans = 50

// ProviderConfigStatus is the observed state of a ProviderConfig.
type ProviderConfigStatus struct {
	// Validated is true when the platform has accepted the credentials.
	// +optional
	Validated bool `json:"validated,omitempty"`
	// Ready is true when machines can be requested.
	// +optional
	Ready bool `json:"ready,omitempty"`
	// Platform identifies the installation that the requests of this ProviderConfig
	// are on. It does not change while a request is on another installation than the
	// one that answers.
	// +optional
	Platform string `json:"platform,omitempty"`
	// CredentialsTemporary is true for credentials that expire, such as a session
	// token. Replace them in the Secret before they expire.
	// +optional
	CredentialsTemporary bool `json:"credentialsTemporary,omitempty"`
	// CredentialsExpire is when temporary credentials expire, if that is known.
	// +optional
	CredentialsExpire *metav1.Time `json:"credentialsExpire,omitempty"`
	// ProviderVersion is the platform's version.
	// +optional
	ProviderVersion string `json:"providerVersion,omitempty"`
	// Capacity is the free capacity of the platform.
	// +optional
	Capacity *ProviderCapacity `json:"capacity,omitempty"`
	// LastValidationTime is when the credentials were last accepted or refused.
	// +optional
	LastValidationTime *metav1.Time `json:"lastValidationTime,omitempty"`
	// LastProbeTime is when the platform was last probed.
	// +optional
	LastProbeTime *metav1.Time `json:"lastProbeTime,omitempty"`
	// Orphans are on the platform without a request, at most fifty of them.
	// +listType=map
	// +listMapKey=kind
	// +listMapKey=id
	// +kubebuilder:validation:MaxItems=50
	// +optional
	Orphans []Orphan `json:"orphans,omitempty"`
	// Conditions of the ProviderConfig.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ProviderConfig describes how to reach a platform and where to create machines.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=pc;pcfg
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`.spec.provider`
// +kubebuilder:printcolumn:name="Scope",type=string,JSONPath=`.spec.scope.type`
// +kubebuilder:printcolumn:name="Ready",type=boolean,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="Validated",type=boolean,JSONPath=`.status.validated`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ProviderConfigSpec   `json:"spec"`
	Status ProviderConfigStatus `json:"status,omitempty"`
}

// ProviderConfigList is a list of ProviderConfigs.
// +kubebuilder:object:root=true
type ProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ProviderConfig `json:"items"`
}
