// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

// Role is what a node does in its cluster.
type Role string

// The roles of nodes, spelled as in a MachineRequest.
const (
	ControlPlane Role = "control-plane"
	Worker       Role = "worker"
)

// CNI names who provides the pod network.
type CNI string

// The pod networks. With both, Talos installs none; Cilium also replaces
// kube-proxy, with CNINone kube-proxy stays.
const (
	CNINone   CNI = "none"
	CNICilium CNI = "cilium"
)

// Cluster is all that the configurations of a cluster's nodes share.
type Cluster struct {
	Name              string
	Endpoint          string // host name or address of the Kubernetes API, without port
	TalosVersion      string
	KubernetesVersion string // empty: the one that Talos was released with
	Schematic         string
	Platform          string // a cloud; empty: metal
	Installer         string // environment of the install image; empty: that of Platform
	InstallDisk       string // empty: /dev/vda, in a cloud the disk that Talos boots from
	PodCIDR           string
	ServiceCIDR       string
	CNI               CNI // empty: cilium

	// ScheduleOnControlPlanes lets ordinary pods run on control planes.
	ScheduleOnControlPlanes bool
	// SharedIP, if set, is an address that Talos itself moves between the
	// control planes.
	SharedIP SharedIP
	// LoopbackAddress, if set, is that of a load balancer which passes packets on without
	// rewriting them. Control planes that are its targets have it as one of their own, see
	// Node.Loopback; it is not what members of etcd and kubelets are found by.
	LoopbackAddress string
	// KubeletMounts are directories of the nodes that the kubelet sees, shared in
	// both directions.
	KubeletMounts []string
	// ExternalCloudProvider leaves the nodes to a cloud controller manager: they
	// take no ordinary pods until it has looked at them.
	ExternalCloudProvider bool
	// CertSANs are further names of the Talos and Kubernetes API servers.
	CertSANs []string
	// TalosSANs are further names of the Talos API server alone.
	TalosSANs []string

	// Registries are those that nodes need credentials or an authority for.
	Registries []Registry

	JSONPatches  []JSONPatch
	MergePatches []MergePatch
}

// Registry is how nodes log in to a container registry.
type Registry struct {
	// Host with the port unless it is 443.
	Host string
	// Username and Password; empty: no login.
	Username, Password string
	// CA is the authority of the certificate in PEM; empty: one that Talos trusts.
	CA []byte
}

// SharedIP is a virtual address on the control planes. It answers only while
// etcd runs, so it is for the Kubernetes API, not for the Talos API.
type SharedIP struct {
	Address   string
	Interface string // empty: the machine's one physical interface
}

// Node is what the configuration of one node has of its own.
type Node struct {
	Name       string // host name, and the name of the Kubernetes node
	Role       Role
	Labels     map[string]string
	ExtraDisks []Disk
	ProviderID string // of the Kubernetes node; empty: none, or set by the cloud controller manager
	Static     Static // its address, where there is no DHCP
	// Loopback gives a control plane the LoopbackAddress of its cluster. It then reaches
	// nothing but itself there: a node that is to join by this address must not have it.
	Loopback bool
}

// Disk is a disk that is formatted, if it is empty, and mounted at
// /var/mnt/<Name>. Letters of devices change with the order in which the kernel finds
// them, so that a disk is found by what its platform keeps stable.
type Disk struct {
	Name   string
	SizeGB int32  // in units of 2^30 bytes
	Serial string // empty: not known
	Path   string // link to the device that does not change; Talos before 1.10 needs one
	// Match is the expression that finds it, such as GoogleDisk; empty: by its serial number,
	// or else by its size.
	Match string
}

// Target says which nodes a patch is for.
type Target string

// The targets of patches; empty is TargetAll.
const (
	TargetAll          Target = "all"
	TargetControlPlane Target = "control-plane"
	TargetWorker       Target = "worker"
)

// JSONPatch is one RFC 6902 operation on the v1alpha1 document.
type JSONPatch struct {
	Target Target
	Op     string // add, remove or replace
	Path   string
	Value  string // YAML; required for add and replace
}

// MergePatch is a strategic merge patch: any number of Talos documents.
type MergePatch struct {
	Target Target
	YAML   string
}

func (t Target) includes(r Role) bool {
	return t == "" || t == TargetAll || string(t) == string(r)
}
