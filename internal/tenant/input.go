// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"
	"net"
	"strconv"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Host is what hosts control planes on the management cluster.
type Host string

// The hosts of control planes, named as in controlPlaneProvider.type of a ClusterBootstrap.
const (
	Steward Host = "steward"
	Kamaji  Host = "kamaji"
)

// Endpoint is the address of an API server.
type Endpoint struct {
	Host string
	Port int32
}

// String returns host and port.
func (e Endpoint) String() string { return net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port))) }

// Addresses are those of the workers, on a platform that has no DHCP for them.
type Addresses struct {
	// Ranges such as 10.40.0.32-10.40.0.36, or CIDRs.
	Ranges []string
	// Prefix is the length of the network's prefix, such as 24.
	Prefix int32
	// Gateway of the network.
	Gateway string
}

// Resolved is what only the platform knows.
type Resolved struct {
	// InstanceType of a cloud replaces the one that is chosen by cpu and memory. It is empty
	// unless the caller has asked the platform.
	InstanceType string
	// ImageStorageClass is the storage class of the image on Harvester: the field
	// status.storageClassName of its VirtualMachineImage. The provider kubevirt needs it.
	ImageStorageClass string
	// ServerURL is the address of Harvester in the kubeconfig, for the provider harvester.
	ServerURL string
}

// Input is all that the objects of a tenant cluster are made of.
type Input struct {
	Cluster  *v1alpha1.TenantCluster
	Provider *v1alpha1.ProviderConfig
	// Credentials is the data of the Secret that the ProviderConfig names; nil means ambient.
	Credentials map[string][]byte
	// Config is nil if there is none.
	Config *v1alpha1.ButlerConfig
	// Host of the control plane.
	Host Host
	// Core is the version of cluster.x-k8s.io that the objects have: v1beta1 or v1beta2, from
	// discovery.
	Core string
	// Namespace is the tenant namespace.
	Namespace string
	// ClusterID is the id of the cluster, which the machines are tagged with.
	ClusterID string
	// Endpoint of the API server, if it is known.
	Endpoint *Endpoint
	// ServiceAddress is the address of the control plane where its load balancer has a name
	// instead of one; empty elsewhere.
	ServiceAddress string
	// Exposed is how the control plane is exposed, if it exists: see the function Exposed.
	Exposed *v1alpha1.ControlPlaneExposureSpec
	// ExposureAddress is the address of the ingress controller or of the Gateway, if it is known.
	ExposureAddress string
	// BootstrapSecret is the name of the Secret with the machine configuration of the workers,
	// if there is one.
	BootstrapSecret string
	// WorkerVersion is the Kubernetes version of the workers; empty means that of the spec. It
	// stays behind while the control plane is being upgraded.
	WorkerVersion string
	// ControlPlaneVersion likewise, for an upgrade of several steps.
	ControlPlaneVersion string
	// Scaled says that the MachineDeployment exists, and that the autoscaler changes its
	// replicas: they are not written then.
	Scaled bool
	// TrustdTag is the tag of the image that serves the Talos API's certificates with Steward.
	TrustdTag string
	Resolved  Resolved
	Addresses Addresses
}

func (in Input) name() string { return in.Cluster.Name }

// Workers is the name of the MachineDeployment of a tenant cluster.
func Workers(cluster string) string { return cluster + "-workers" }

// Namespace returns the name of the tenant namespace. It depends on the cluster id, which
// survives a restore; the UID does not.
func Namespace(cluster, clusterID string) string {
	return cluster + "-" + clusterID[:min(8, len(clusterID))]
}

func (in Input) machine() *v1alpha1.TenantMachineTemplateSpec {
	return &in.Cluster.Spec.Workers.MachineTemplate
}

func (in Input) memoryMB() int64 { return in.machine().Memory.Value() >> 20 }

func (in Input) diskGB() int64 { return (in.machine().DiskSize.Value() + 1<<30 - 1) >> 30 }

// override returns the override of the cluster; its blocks are nil if there is none.
func (in Input) override() v1alpha1.InfrastructureOverrideSpec {
	if in.Cluster.Spec.InfrastructureOverride == nil {
		return v1alpha1.InfrastructureOverrideSpec{}
	}
	return *in.Cluster.Spec.InfrastructureOverride
}

// image returns the image of the workers: that of the override, of the operating system, or of
// the ProviderConfig.
func (in Input) image(override, configured string) string {
	return cmp.Or(override, in.machine().OS.ImageRef, configured)
}

func (in Input) dnsServers() []string {
	if in.Provider.Spec.Network == nil {
		return nil
	}
	return in.Provider.Spec.Network.DNSServers
}
