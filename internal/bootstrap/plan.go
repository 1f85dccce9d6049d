// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/netip"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

// maxName is what a machine's name may be long.
const maxName = 63

// Plan is what a ClusterBootstrap amounts to: a pure function of its spec, in
// which all differences between topologies and providers are settled.
type Plan struct {
	// Machines of the cluster, control planes first.
	Machines []Machine
	// Endpoint of the new API server; empty means the first control plane's
	// own address.
	Endpoint string
	// Talos is what the configurations of all nodes share, but for the endpoint.
	Talos talos.Cluster
}

// Machine is one machine of the plan.
type Machine struct {
	Name string
	Role v1alpha1.MachineRole
	Pool v1alpha1.NodePool
}

// NewPlan settles what a spec asks for, or tells why it cannot be had.
func NewPlan(spec v1alpha1.ClusterBootstrapSpec) (Plan, error) {
	if spec.Cluster.Topology != v1alpha1.TopologySingleNode {
		return Plan{}, &Failure{Reason: "TopologyNotSupported", Message: "only spec.cluster.topology single-node can be bootstrapped so far"}
	}
	if !spec.Provider.OnPrem() {
		return Plan{}, &Failure{Reason: "ProviderNotSupported", Message: fmt.Sprintf("clusters on %s cannot be bootstrapped so far", spec.Provider)}
	}
	if spec.Remediation == v1alpha1.RemediationReplaceWorkers {
		return Plan{}, &Failure{Reason: "RemediationNotSupported", Message: "spec.remediation ReplaceWorkers has no workers to replace on a single node; remove it"}
	}
	if err := spec.Validate(); err != nil {
		return Plan{}, &Failure{Reason: "InvalidSpec", Message: err.Error()}
	}
	cluster, err := talosCluster(spec)
	if err != nil {
		return Plan{}, &Failure{Reason: "InvalidSpec", Message: err.Error()}
	}
	return Plan{Machines: machines(spec.Cluster), Endpoint: spec.Network.VIP, Talos: cluster}, nil
}

// machines of a single node: one control plane, whatever the pools say.
func machines(c v1alpha1.ClusterSpec) []Machine {
	return []Machine{{
		Name: machineName(c.Name, "cp", 0),
		Role: v1alpha1.RoleControlPlane,
		Pool: c.ControlPlane,
	}}
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
	version, err := talos.KubernetesVersion(spec.Talos.Version, spec.Cluster.KubernetesVersion)
	if err != nil {
		return talos.Cluster{}, err
	}
	return talos.Cluster{
		Name:                    spec.Cluster.Name,
		TalosVersion:            spec.Talos.Version,
		KubernetesVersion:       version,
		Schematic:               spec.Talos.Schematic,
		InstallDisk:             spec.Talos.InstallDisk,
		PodCIDR:                 spec.Network.PodCIDR,
		ServiceCIDR:             spec.Network.ServiceCIDR,
		CNI:                     talos.CNI(spec.Addons.CNI.Type),
		ScheduleOnControlPlanes: true,
		SharedIP:                sharedIP(spec.Network),
		JSONPatches:             jsonPatches(spec.Talos.ConfigPatches),
		MergePatches:            mergePatches(spec.Talos.StrategicPatches),
	}, nil
}

// sharedIP is the VIP where no kube-vip carries it, as on a single node. A name
// is somebody else's business.
func sharedIP(n v1alpha1.NetworkSpec) talos.SharedIP {
	if _, err := netip.ParseAddr(n.VIP); err != nil {
		return talos.SharedIP{}
	}
	return talos.SharedIP{Address: n.VIP, Interface: n.VIPInterface}
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

// config is the machine configuration of one machine of the plan.
func (p Plan) config(secrets []byte, endpoint string, m Machine) ([]byte, error) {
	disks, err := talos.ExtraDisks(p.Talos.InstallDisk, len(m.Pool.ExtraDisks))
	if err != nil {
		return nil, err
	}
	cluster := p.Talos
	cluster.Endpoint = endpoint
	return talos.Config(secrets, cluster, talos.Node{
		Name:       m.Name,
		Role:       talos.Role(m.Role),
		Labels:     maps.Clone(m.Pool.Labels),
		ExtraDisks: disks,
	})
}
