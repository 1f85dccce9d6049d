// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// HarvesterSpec places machines on a Harvester cluster.
type HarvesterSpec struct {
	// Endpoint of the Harvester API; empty means the one of the kubeconfig.
	// +kubebuilder:validation:Pattern=`^https?://`
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// Namespace that the machines are created in.
	// +kubebuilder:default=default
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="harvester.namespace is immutable: machines created there could no longer be found; create another ProviderConfig"
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// NetworkName is the namespace/name of the VM network.
	// +kubebuilder:validation:Pattern=`^[a-z0-9-]+/[a-z0-9-]+$`
	// +kubebuilder:validation:MaxLength=127
	NetworkName string `json:"networkName"`
	// ImageName is the namespace/name of the VM image.
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([^/\s]+/[^/\s]+)?$`
	// +optional
	ImageName string `json:"imageName,omitempty"`
	// StorageClassName of extra disks that name none.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	StorageClassName string `json:"storageClassName,omitempty"`
	// Firmware that new machines boot with; empty means BIOS.
	// +optional
	Firmware HarvesterFirmware `json:"firmware,omitempty"`
	// ClusterAPIProvider is the provider of Cluster API that creates the workers of tenant
	// clusters: kubevirt or harvester. It must be installed on the management cluster.
	// +kubebuilder:default=kubevirt
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="harvester.clusterAPIProvider is immutable: workers of tenant clusters would be lost; create another ProviderConfig"
	// +optional
	ClusterAPIProvider HarvesterClusterAPIProvider `json:"clusterAPIProvider,omitempty"`
	// SSHKeyPair is the namespace/name of a KeyPair on Harvester. The provider harvester of
	// Cluster API needs one to create machines; it has no effect on workers: Talos has no SSH.
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([^/\s]+/[^/\s]+)?$`
	// +optional
	SSHKeyPair string `json:"sshKeyPair,omitempty"`
}

// HarvesterClusterAPIProvider is a provider of Cluster API for Harvester.
// +kubebuilder:validation:Enum=kubevirt;harvester
type HarvesterClusterAPIProvider string

// The providers of Cluster API for Harvester.
const (
	// ClusterAPIKubevirt is cluster-api-provider-kubevirt.
	ClusterAPIKubevirt HarvesterClusterAPIProvider = "kubevirt"
	// ClusterAPIHarvester is cluster-api-provider-harvester.
	ClusterAPIHarvester HarvesterClusterAPIProvider = "harvester"
)

// HarvesterFirmware is the firmware of a virtual machine on Harvester.
// +kubebuilder:validation:Enum=BIOS;EFI;SecureBoot
type HarvesterFirmware string

// The kinds of firmware. SecureBoot is EFI that starts signed systems only.
const (
	FirmwareBIOS       HarvesterFirmware = "BIOS"
	FirmwareEFI        HarvesterFirmware = "EFI"
	FirmwareSecureBoot HarvesterFirmware = "SecureBoot"
)

// NutanixSpec places machines on a Nutanix cluster.
// +kubebuilder:validation:XValidation:rule="self.clusterUUID == oldSelf.clusterUUID",message="nutanix.clusterUUID is immutable: machines created there could no longer be found; create another ProviderConfig"
// +kubebuilder:validation:XValidation:rule="has(self.subnetUUID) != has(self.subnetName)",message="set nutanix.subnetUUID or nutanix.subnetName, one of them"
// +kubebuilder:validation:XValidation:rule="!(has(self.imageUUID) && has(self.imageName))",message="set nutanix.imageUUID or nutanix.imageName, not both"
// +kubebuilder:validation:XValidation:rule="!(has(self.storageContainerUUID) && has(self.storageContainerName))",message="set nutanix.storageContainerUUID or nutanix.storageContainerName, not both"
type NutanixSpec struct {
	// Endpoint of Prism Central.
	// +kubebuilder:validation:Pattern=`^https?://`
	// +kubebuilder:validation:MaxLength=2048
	Endpoint string `json:"endpoint"`
	// Port of Prism Central. If the endpoint has a port too, both must be the same.
	// +kubebuilder:default=9440
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port int32 `json:"port,omitempty"`
	// Insecure disables the verification of the server's certificate.
	// +kubebuilder:default=false
	// +optional
	Insecure bool `json:"insecure,omitempty"`
	// ClusterUUID is the Prism Element cluster that machines run on.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	ClusterUUID string `json:"clusterUUID"`
	// SubnetUUID is the subnet that machines are attached to.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	SubnetUUID string `json:"subnetUUID,omitempty"`
	// SubnetName is the name of the subnet, instead of its UUID.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	SubnetName string `json:"subnetName,omitempty"`
	// ImageUUID is the image of the root disk.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	ImageUUID string `json:"imageUUID,omitempty"`
	// ImageName is the name of the image, instead of its UUID. Without both, the driver looks
	// for an image whose name contains the version of Talos.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	ImageName string `json:"imageName,omitempty"`
	// StorageContainerUUID is the storage container of the disks; default is chosen by the
	// platform.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	StorageContainerUUID string `json:"storageContainerUUID,omitempty"`
	// StorageContainerName is the name of the storage container, instead of its UUID.
	// +kubebuilder:validation:MaxLength=75
	// +optional
	StorageContainerName string `json:"storageContainerName,omitempty"`
	// Project of the machines, its UUID or name.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Project string `json:"project,omitempty"`
	// CoresPerSocket of new machines. It must divide their number of processors.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	// +optional
	CoresPerSocket int32 `json:"coresPerSocket,omitempty"`
}

// VMIDRange is a range of Proxmox VM ids, both ends included.
// +kubebuilder:validation:XValidation:rule="self.start <= self.end",message="start must not lie after end"
type VMIDRange struct {
	// Start is the first id.
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=999999999
	Start int32 `json:"start"`
	// End is the last id.
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=999999999
	End int32 `json:"end"`
}

// ProxmoxSpec places machines on a Proxmox VE cluster.
// +kubebuilder:validation:XValidation:rule="!(has(self.templateID) && has(self.template))",message="set templateID or template, not both"
type ProxmoxSpec struct {
	// Endpoint of the API.
	// +kubebuilder:validation:Pattern=`^https?://`
	// +kubebuilder:validation:MaxLength=2048
	Endpoint string `json:"endpoint"`
	// Insecure disables the verification of the server's certificate.
	// +kubebuilder:default=false
	// +optional
	Insecure bool `json:"insecure,omitempty"`
	// Nodes that machines may be placed on.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Nodes []string `json:"nodes"`
	// Storage of the disks.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Storage string `json:"storage"`
	// CPUType is the type of processor that machines see; empty means host.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._-]*$`
	// +optional
	CPUType string `json:"cpuType,omitempty"`
	// TemplateID is the VM id of the template.
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=999999999
	// +optional
	TemplateID int32 `json:"templateID,omitempty"`
	// Template is the name of the template, instead of its id.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Template string `json:"template,omitempty"`
	// VMIDRange is the range that VM ids are allocated from.
	// +optional
	VMIDRange *VMIDRange `json:"vmidRange,omitempty"`
	// Bridge that machines are attached to.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Bridge string `json:"bridge,omitempty"`
	// VLAN tag on the bridge.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4094
	// +optional
	VLAN int32 `json:"vlan,omitempty"`
}

// AWSSpec places machines in an AWS region.
// +kubebuilder:validation:XValidation:rule="self.region == oldSelf.region",message="aws.region is immutable: machines created there could no longer be found; create another ProviderConfig"
type AWSSpec struct {
	// Region of the machines.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Region string `json:"region"`
	// VPCID is the network of the machines.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	VPCID string `json:"vpcID,omitempty"`
	// SubnetIDs that machines are spread over.
	// +kubebuilder:validation:MaxItems=16
	// +optional
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	SubnetIDs []string `json:"subnetIDs,omitempty"`
	// SecurityGroupIDs of the machines.
	// +kubebuilder:validation:MaxItems=16
	// +optional
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	SecurityGroupIDs []string `json:"securityGroupIDs,omitempty"`
	// InstanceType of the machines; default is chosen by cpu and memory.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	InstanceType string `json:"instanceType,omitempty"`
	// AMI of the machines.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	AMI string `json:"ami,omitempty"`
	// PublicIP gives each machine a public address.
	// +optional
	PublicIP bool `json:"publicIP,omitempty"`
	// Endpoint of the API, instead of the region's.
	// +kubebuilder:validation:Pattern=`^https?://`
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// IAMInstanceProfile of the machines.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	IAMInstanceProfile string `json:"iamInstanceProfile,omitempty"`
}

// GCPSpec places machines in a Google Cloud project.
// +kubebuilder:validation:XValidation:rule="self.projectID == oldSelf.projectID && self.region == oldSelf.region && has(self.zone) == has(oldSelf.zone) && (!has(self.zone) || self.zone == oldSelf.zone)",message="gcp.projectID, gcp.region and gcp.zone are immutable: machines created there could no longer be found; create another ProviderConfig"
type GCPSpec struct {
	// ProjectID of the machines.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	ProjectID string `json:"projectID"`
	// Region of the machines.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Region string `json:"region"`
	// Zone of the machines; empty spreads them over the region.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Zone string `json:"zone,omitempty"`
	// Network of the machines.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Network string `json:"network,omitempty"`
	// Subnetwork of the machines.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Subnetwork string `json:"subnetwork,omitempty"`
	// Image of the machines.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Image string `json:"image,omitempty"`
	// ImageFamily of the machines, instead of an image.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ImageFamily string `json:"imageFamily,omitempty"`
	// ImageProject is the project of the image family.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	ImageProject string `json:"imageProject,omitempty"`
	// MachineType of the machines; default is chosen by cpu and memory.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	MachineType string `json:"machineType,omitempty"`
	// ServiceAccount of the machines.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ServiceAccount string `json:"serviceAccount,omitempty"`
	// Tags are the network tags of the machines.
	// +kubebuilder:validation:MaxItems=64
	// +optional
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	Tags []string `json:"tags,omitempty"`
	// PublicIP gives each machine a public address.
	// +optional
	PublicIP bool `json:"publicIP,omitempty"`
	// Endpoint of the API, instead of Google's.
	// +kubebuilder:validation:Pattern=`^https?://`
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
}

// AzureSpec places machines in an Azure resource group.
// +kubebuilder:validation:XValidation:rule="self.subscriptionID == oldSelf.subscriptionID && self.resourceGroup == oldSelf.resourceGroup",message="azure.subscriptionID and azure.resourceGroup are immutable: machines created there could no longer be found; create another ProviderConfig"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.securityGroupName) || (has(self.securityGroupName) && self.securityGroupName == oldSelf.securityGroupName)",message="azure.securityGroupName is immutable once set: rules of load balancers in it could no longer be found; create another ProviderConfig"
type AzureSpec struct {
	// SubscriptionID of the machines.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	SubscriptionID string `json:"subscriptionID"`
	// ResourceGroup of the machines.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=90
	ResourceGroup string `json:"resourceGroup"`
	// Location of the machines.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Location string `json:"location,omitempty"`
	// VNetName is the network of the machines.
	// +kubebuilder:validation:MaxLength=80
	// +optional
	VNetName string `json:"vnetName,omitempty"`
	// SubnetName is the subnet of the machines.
	// +kubebuilder:validation:MaxLength=80
	// +optional
	SubnetName string `json:"subnetName,omitempty"`
	// VMSize of the machines; default is chosen by cpu and memory.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	VMSize string `json:"vmSize,omitempty"`
	// ImageURN of the machines.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	ImageURN string `json:"imageURN,omitempty"`
	// PublicIP gives each machine a public address.
	// +optional
	PublicIP bool `json:"publicIP,omitempty"`
	// Endpoint of the resource manager, instead of the public cloud's.
	// +kubebuilder:validation:Pattern=`^https?://`
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// AuthorityHost issues tokens, instead of the public cloud's.
	// +kubebuilder:validation:Pattern=`^https?://`
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	AuthorityHost string `json:"authorityHost,omitempty"`
	// SecurityGroupName of the machines.
	// +kubebuilder:validation:MaxLength=80
	// +optional
	SecurityGroupName string `json:"securityGroupName,omitempty"`
}
