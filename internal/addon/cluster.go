// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"cmp"
	"net/netip"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// none switches off what is chosen by its type.
const none = "none"

// Facts are what the spec of a cluster does not say.
type Facts struct {
	// Endpoint is the address or name of the cluster's API.
	Endpoint string
	// KubernetesVersion of the cluster, such as v1.32.0.
	KubernetesVersion string
	// Version of this program: that of the charts it carries and of their images.
	Version string
	// Digests pin the images of this version, by name; others are found by their tag.
	Digests map[string]string
	// Platform is the spec of the cluster's ProviderConfig.
	Platform v1alpha1.ProviderConfigSpec
	// Registry that addons come from, such as oci://registry.example.com/charts;
	// empty means that each has a place of its own.
	Registry string
	// Namespace of the ClusterBootstrap, and ProviderNamespace that of its
	// ProviderConfig; empty means PlatformNamespace.
	Namespace, ProviderNamespace string
	// Hosted clusters have workers only: their control plane runs elsewhere.
	Hosted bool
	// APIServer is where pods on the node's network reach the API server: host and port; empty
	// means KubePrism of their node.
	APIServer string
	// WithoutCloud leaves out the cloud controller manager.
	WithoutCloud bool
	// Ranges are the addresses of load balancers, such as 10.40.0.20-10.40.0.27, where there
	// are several; else that of the spec.
	Ranges []string
}

// cluster is what all of this package is a function of. A field that was left
// out means its default, as in the schema.
type cluster struct {
	v1alpha1.ClusterBootstrapSpec
	facts Facts
}

func on(enabled *bool) bool { return enabled == nil || *enabled }

// chosen reports whether a type with a default is the wanted one.
func chosen(given, byDefault, want string) bool { return cmp.Or(given, byDefault) == want }

func (c cluster) single() bool { return c.Cluster.Topology == v1alpha1.TopologySingleNode }

// workerless clusters run everything on their control planes.
func (c cluster) workerless() bool { return c.single() || c.Cluster.Workers == nil }

// nodes counts all nodes.
func (c cluster) nodes() int {
	switch {
	case c.single():
		return 1
	case c.Cluster.Workers == nil:
		return int(c.Cluster.ControlPlane.Replicas)
	}
	return int(c.Cluster.ControlPlane.Replicas + c.Cluster.Workers.Replicas)
}

// hosts counts the nodes that take ordinary pods.
func (c cluster) hosts() int {
	if c.workerless() {
		return c.nodes()
	}
	return int(c.Cluster.Workers.Replicas)
}

// pair returns two, if two pods can run on different nodes, or else one.
func (c cluster) pair() int { return max(1, min(2, c.hosts())) }

func (c cluster) exposure() v1alpha1.ExposureMode {
	if c.ControlPlaneExposure == nil {
		return v1alpha1.ExposureLoadBalancer
	}
	return cmp.Or(c.ControlPlaneExposure.Mode, v1alpha1.ExposureLoadBalancer)
}

func (c cluster) gateway() bool { return c.exposure() == v1alpha1.ExposureGateway }

func (c cluster) kubeVIP() bool {
	a := c.Addons.ControlPlaneHA
	return c.Provider.OnPrem() && !c.single() && on(a.Enabled) && chosen(a.Type, KubeVIP, KubeVIP)
}

func (c cluster) cilium() bool { return chosen(c.Addons.CNI.Type, Cilium, Cilium) }

func (c cluster) hubble() bool { return on(c.Addons.CNI.HubbleEnabled) }

func (c cluster) longhorn() bool { return chosen(c.Addons.Storage.Type, Longhorn, Longhorn) }

func (c cluster) metalLB() bool {
	a := c.Addons.LoadBalancer
	return c.Provider.OnPrem() && on(a.Enabled) && chosen(a.Type, MetalLB, MetalLB) && len(c.ranges()) > 0
}

// ranges are what Services get their addresses from, as MetalLB writes them.
func (c cluster) ranges() []string {
	switch p := c.Network.LoadBalancerPool; {
	case len(c.facts.Ranges) > 0:
		return c.facts.Ranges
	case p != nil:
		return []string{p.Start + "-" + p.End}
	case c.Addons.LoadBalancer.AddressPool != "":
		return []string{c.Addons.LoadBalancer.AddressPool}
	}
	return nil
}

func (c cluster) ingress(kind string) bool {
	a := c.Addons.Ingress
	return c.Provider.OnPrem() && on(a.Enabled) && chosen(a.Type, Traefik, kind)
}

func (c cluster) controlPlaneProvider(kind string) bool {
	a := c.Addons.ControlPlaneProvider
	return on(a.Enabled) && chosen(a.Type, Steward, kind)
}

func (c cluster) flux() bool {
	a := c.Addons.GitOps
	return on(a.Enabled) && chosen(a.Type, Flux, Flux)
}

func (c cluster) butler() bool { return on(c.Addons.ButlerController.Enabled) }

func (c cluster) console() bool {
	e := c.Addons.Console.Enabled
	return e != nil && *e
}

// ipv6 reports whether pods have IPv6 addresses. A CIDR that is none is refused
// elsewhere.
func (c cluster) ipv6() bool {
	p, err := netip.ParsePrefix(c.Network.PodCIDR)
	return err == nil && p.Addr().Is6()
}

// minor is the minor number of the cluster's Kubernetes, or empty.
func (c cluster) minor() string {
	parts := strings.Split(c.facts.KubernetesVersion, ".")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

// like writes a version in the manner of another one: with a v or without. What
// is no number stays as it is.
func like(model, version string) string {
	bare := strings.TrimPrefix(version, "v")
	switch {
	case bare == "" || bare[0] < '0' || bare[0] > '9':
		return version
	case strings.HasPrefix(model, "v"):
		return "v" + bare
	}
	return bare
}
