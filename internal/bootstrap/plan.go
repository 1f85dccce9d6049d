// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/netip"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/talos"
	"github.com/butlerdotdev/butler/internal/version"
)

// APIServerPort is where the API server of a cluster is reached.
const APIServerPort = 6443

// maxName is what a machine's name may be long.
const maxName = 63

// Plan is what a ClusterBootstrap amounts to: a pure function of its spec, in
// which all differences between topologies and providers are settled.
type Plan struct {
	// Machines of the cluster, control planes first.
	Machines []Machine
	// Endpoint of the new API server; empty means that of the load balancer, or
	// without one the first control plane's own address.
	Endpoint string
	// EndpointKind says how connections to the endpoint reach a control plane.
	EndpointKind EndpointKind
	// Balancer is what the load balancer gets from the spec, where the endpoint is of
	// that kind.
	Balancer Balancer
	// UserDataLimit is how many bytes of user data a machine may have, where machines are
	// requested with their configuration; 0 means that it is pushed to them.
	UserDataLimit int
	// Provider is the platform of the machines.
	Provider v1alpha1.ProviderType
	// KubeVIP is the configuration of kube-vip, where the endpoint is of that kind.
	KubeVIP KubeVIP
	// Talos is what the configurations of all nodes share, but for the endpoint.
	Talos talos.Cluster
	// Addons of the cluster, as far as they follow from the spec alone.
	Addons []addon.Addon
	// Moves says that the cluster takes over its own management.
	Moves bool
	// Warnings about a spec that is valid, but hardly intended.
	Warnings []Warning
}

// EndpointKind is how connections to the endpoint of a cluster reach a control plane.
type EndpointKind string

// The kinds of endpoints.
const (
	EndpointKubeVIP      EndpointKind = "kube-vip"      // pods on the control planes: answers only once they run
	EndpointSharedIP     EndpointKind = "shared-ip"     // Talos itself, while etcd runs
	EndpointLoadBalancer EndpointKind = "load-balancer" // the platform's, by a LoadBalancerRequest
	EndpointNode         EndpointKind = "node"          // the address of the only control plane
	EndpointExternal     EndpointKind = "external"      // a name that the user points to the control planes
)

// Warning is about a plan that works, but not as well as it might.
type Warning struct{ Reason, Message string }

// Machine is one machine of the plan.
type Machine struct {
	Name string
	Role v1alpha1.MachineRole
	Pool v1alpha1.NodePool
}

// NewPlan resolves a spec, or returns why it is refused.
func NewPlan(spec v1alpha1.ClusterBootstrapSpec) (Plan, error) {
	if err := refuse(spec); err != nil {
		return Plan{}, err
	}
	cluster, err := talosCluster(spec)
	if err != nil {
		return Plan{}, &Failure{Reason: "InvalidSpec", Message: err.Error()}
	}
	plan := Plan{
		Machines: machines(spec.Cluster), Endpoint: spec.Network.VIP, EndpointKind: endpointKind(spec),
		UserDataLimit: userDataLimit(spec), Provider: spec.Provider,
		Talos: cluster, Moves: Moves(spec), Warnings: warnings(spec, cluster.KubernetesVersion),
	}
	if err := plan.refuseDisks(spec); err != nil {
		return Plan{}, err
	}
	if plan.Addons, err = plan.addons(spec, addon.Facts{}); err != nil {
		return Plan{}, &Failure{Reason: "InvalidAddons", Message: err.Error()}
	}
	switch plan.EndpointKind {
	case EndpointKubeVIP:
		plan.KubeVIP = kubeVIP(spec, plan.Addons)
	case EndpointSharedIP:
		plan.Talos.SharedIP = talos.SharedIP{Address: spec.Network.VIP, Interface: spec.Network.VIPInterface}
	case EndpointLoadBalancer:
		plan.Balancer = balancer(spec.Network.LoadBalancer)
	case EndpointNode, EndpointExternal:
	}
	return plan, nil
}

// addons are those of a cluster of which these facts are known.
func (p Plan) addons(spec v1alpha1.ClusterBootstrapSpec, facts addon.Facts) ([]addon.Addon, error) {
	facts.KubernetesVersion, facts.Version = p.Talos.KubernetesVersion, version.Version
	return addon.For(spec, facts)
}

// refuse returns why a spec is not possible.
func refuse(spec v1alpha1.ClusterBootstrapSpec) error {
	single := spec.Cluster.Topology == v1alpha1.TopologySingleNode
	if spec.Remediation == v1alpha1.RemediationReplaceWorkers && single {
		return &Failure{Reason: "RemediationNotSupported", Message: "spec.remediation ReplaceWorkers has no workers to replace on a single node; remove it"}
	}
	if err := spec.Validate(); err != nil {
		return &Failure{Reason: "InvalidSpec", Message: err.Error()}
	}
	return nil
}

// endpointKind is where topologies and providers differ most.
func endpointKind(spec v1alpha1.ClusterBootstrapSpec) EndpointKind {
	_, err := netip.ParseAddr(spec.Network.VIP)
	single, address := spec.Cluster.Topology == v1alpha1.TopologySingleNode, err == nil
	switch {
	case !spec.Provider.OnPrem():
		return EndpointLoadBalancer
	case single && spec.Network.VIP == "":
		return EndpointNode
	case addon.CarriesEndpoint(spec):
		return EndpointKubeVIP
	case address:
		return EndpointSharedIP
	}
	return EndpointExternal
}

func warnings(spec v1alpha1.ClusterBootstrapSpec, kubernetes string) []Warning {
	out := controlPlaneWarnings(spec.Cluster)
	for _, message := range addon.Warnings(spec, kubernetes) {
		out = append(out, Warning{"Addons", message})
	}
	return out
}

// controlPlaneWarnings are about their number: etcd needs a majority.
func controlPlaneWarnings(c v1alpha1.ClusterSpec) []Warning {
	n := c.ControlPlane.Replicas
	switch {
	case c.Topology == v1alpha1.TopologySingleNode:
		return nil
	case n == 1:
		return []Warning{{"OneControlPlane", "one control plane is not highly available: set spec.cluster.controlPlane.replicas to 3"}}
	case n%2 == 0:
		return []Warning{{"EvenControlPlanes", fmt.Sprintf("%d control planes survive the loss of %d, no more than %d would: use an odd number", n, (n-1)/2, n-1)}}
	}
	return nil
}

// machines are the pools one by one. A single node is one control plane,
// whatever the pools say.
func machines(c v1alpha1.ClusterSpec) []Machine {
	if c.Topology == v1alpha1.TopologySingleNode {
		return pool(c.Name, "cp", v1alpha1.RoleControlPlane, c.ControlPlane, 1)
	}
	all := pool(c.Name, "cp", v1alpha1.RoleControlPlane, c.ControlPlane, int(c.ControlPlane.Replicas))
	if c.Workers != nil {
		all = append(all, pool(c.Name, "w", v1alpha1.RoleWorker, *c.Workers, int(c.Workers.Replicas))...)
	}
	return all
}

// WorkerNames are the names that the workers of a new cluster get, by index. A cluster of an
// earlier release may have others.
func WorkerNames(c v1alpha1.ClusterSpec) (names []string) {
	for _, m := range machines(c) {
		if m.Role == v1alpha1.RoleWorker {
			names = append(names, m.Name)
		}
	}
	return names
}

func pool(cluster, name string, role v1alpha1.MachineRole, p v1alpha1.NodePool, n int) (out []Machine) {
	for i := range n {
		out = append(out, Machine{Name: machineName(cluster, name, i), Role: role, Pool: p})
	}
	return out
}

// machineName is <cluster>-<pool>-<index>, shortened with a stable hash where
// it would be too long.
func machineName(cluster, pool string, index int) string {
	suffix := fmt.Sprintf("-%s-%d", pool, index)
	if len(cluster)+len(suffix) <= maxName {
		return cluster + suffix
	}
	hash := fmt.Sprintf("-%x", sha256.Sum256([]byte(cluster)))[:9]
	return cluster[:maxName-len(suffix)-len(hash)] + hash + suffix
}

func talosCluster(spec v1alpha1.ClusterBootstrapSpec) (talos.Cluster, error) {
	kubernetes, err := talos.KubernetesVersion(spec.Talos.Version, spec.Cluster.KubernetesVersion)
	if err != nil {
		return talos.Cluster{}, err
	}
	return talos.Cluster{
		Name:                    spec.Cluster.Name,
		TalosVersion:            spec.Talos.Version,
		KubernetesVersion:       kubernetes,
		Schematic:               spec.Talos.Schematic,
		InstallDisk:             installDisk(spec),
		PodCIDR:                 spec.Network.PodCIDR,
		ServiceCIDR:             spec.Network.ServiceCIDR,
		CNI:                     talos.CNI(spec.Addons.CNI.Type),
		Platform:                platform(spec.Provider),
		Installer:               traitsOf(spec.Provider).installer,
		ScheduleOnControlPlanes: spec.Cluster.Topology == v1alpha1.TopologySingleNode || spec.Cluster.Workers == nil,
		KubeletMounts:           addon.KubeletMounts(spec),
		ExternalCloudProvider:   !spec.Provider.OnPrem(),
		JSONPatches:             jsonPatches(spec.Talos.ConfigPatches),
		MergePatches:            mergePatches(spec.Talos.StrategicPatches),
	}, nil
}

// installDisk is the disk that Talos is installed on. The default of the API is taken for a disk
// that was left out: other platforms than those with a virtio bus have no such disk.
func installDisk(spec v1alpha1.ClusterBootstrapSpec) string {
	if spec.Talos.InstallDisk != virtioDisk {
		return spec.Talos.InstallDisk
	}
	return traitsOf(spec.Provider).installDisk
}

// platform is Talos' name for the environment of a provider's machines: clouds
// by the same names as here, on-prem its default.
func platform(p v1alpha1.ProviderType) string {
	if p.OnPrem() {
		return ""
	}
	return string(p)
}

func jsonPatches(in []v1alpha1.TalosConfigPatch) (out []talos.JSONPatch) {
	for _, p := range in {
		j := talos.JSONPatch{Target: talos.Target(p.Target), Op: p.Op, Path: p.Path}
		if p.Value != nil {
			j.Value = *p.Value
		}
		out = append(out, j)
	}
	return out
}

func mergePatches(in []v1alpha1.TalosStrategicPatch) (out []talos.MergePatch) {
	for _, p := range in {
		out = append(out, talos.MergePatch{Target: talos.Target(p.Target), YAML: p.Patch})
	}
	return out
}

// settled is what is known of a machine by the time that its configuration is written.
type settled struct {
	endpoint, balancer string // the endpoint of the cluster, and that of the load balancer
	loopback           bool   // the machine takes what is sent to the load balancer's address
	known              v1alpha1.MachineRequestStatus
	network            *v1alpha1.MachineNetwork // nil: DHCP, or the platform
	timeServers        []string                 // of a machine with such a network
	registries         []talos.Registry         // that nodes log in to
}

// config is the machine configuration of one machine of the plan.
func (p Plan) config(secrets []byte, m Machine, s settled) ([]byte, error) {
	cluster := p.Talos
	cluster.Endpoint, cluster.Registries = s.endpoint, s.registries
	if s.balancer != "" {
		cluster.TalosSANs = []string{s.endpoint}
	}
	if s.balancer != "" && s.balancer != s.endpoint {
		cluster.CertSANs = []string{s.balancer}
	}
	if _, err := netip.ParseAddr(s.balancer); err == nil {
		cluster.LoopbackAddress = s.balancer
	}
	return talos.Config(secrets, cluster, talos.Node{
		Name:       m.Name,
		Role:       talos.Role(m.Role),
		Labels:     maps.Clone(m.Pool.Labels),
		ExtraDisks: p.extraDisks(m, s.known.Disks),
		ProviderID: s.known.NodeProviderID,
		Loopback:   s.loopback,
		Static:     static(s.network, s.timeServers, s.known.MACAddress),
	})
}

// patched reports whether the user changes configurations.
func (p Plan) patched() bool { return len(p.Talos.JSONPatches)+len(p.Talos.MergePatches) > 0 }

// check makes one configuration per role, so that patches which cannot be
// applied are found before there are machines. A load balancer is
// represented by an address.
func (p Plan) check(secrets []byte) error {
	balancer := ""
	if p.EndpointKind == EndpointLoadBalancer {
		balancer = "192.0.2.1"
	}
	return p.forEachRole(func(m Machine) error {
		if _, err := p.config(secrets, m, settled{cmp.Or(p.Endpoint, "endpoint.invalid"), balancer, true, placeholder(m), nil, nil, nil}); err != nil {
			return &Failure{Reason: "InvalidTalosConfig", Message: err.Error()}
		}
		return nil
	})
}

// forEachRole runs do on the first machine of each role, until it returns an error.
func (p Plan) forEachRole(do func(Machine) error) error {
	seen := map[v1alpha1.MachineRole]bool{}
	for _, m := range p.Machines {
		if seen[m.Role] {
			continue
		}
		seen[m.Role] = true
		if err := do(m); err != nil {
			return err
		}
	}
	return nil
}
