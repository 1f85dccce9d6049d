// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/provider"
)

// Facts are what a plan for a new cluster is made of.
type Facts struct {
	// Manifest has the addresses that the cluster would get of NetworkPools.
	Manifest *manifest.Manifest
	// Resolved is the plan of the spec.
	Resolved bootstrap.Plan
	Addons   []addon.Addon
	// Digests of addons, and Choices of the driver for machines, by name.
	Digests map[string]string
	Choices map[string]provider.Choice
}

// NewCreation returns what a new cluster consists of.
func NewCreation(f Facts) *Creation {
	m, spec := f.Manifest, bootstrap.Effective(f.Manifest.Cluster)
	c := &Creation{
		Talos: spec.Talos.Version, Kubernetes: "v" + strings.TrimPrefix(f.Resolved.Talos.KubernetesVersion, "v"), Schematic: spec.Talos.Schematic,
		Endpoint:      Endpoint{Kind: string(f.Resolved.EndpointKind), Address: spec.Network.VIP, Port: bootstrap.APIServerPort},
		ManagesItself: f.Resolved.Moves,
	}
	for _, one := range f.Resolved.Machines {
		c.Machines = append(c.Machines, machine(one, m, f.Choices[one.Name]))
	}
	c.Sum = sum(c.Machines)
	if f.Resolved.EndpointKind == bootstrap.EndpointLoadBalancer {
		c.LoadBalancer = loadBalancer(spec.Cluster.Name, f.Resolved.Balancer)
	}
	if p := spec.Network.LoadBalancerPool; p != nil {
		c.LoadBalancerPool = p.Start + "-" + p.End
	}
	for _, a := range m.Cluster.Status.Allocations {
		c.Addresses = append(c.Addresses, Address{For: a.Name, Pool: a.Pool, Start: a.StartAddress, End: a.EndAddress})
	}
	for _, a := range f.Addons {
		c.Addons = append(c.Addons, Addon{Name: a.Key, Version: a.Version, From: a.Origin(), After: a.Needs, Digest: f.Digests[a.Key]})
		if image := a.Image(); image.Repository != "" {
			c.Images = append(c.Images, image.String())
		}
	}
	return c
}

func machine(m bootstrap.Machine, of *manifest.Manifest, chosen provider.Choice) Machine {
	out := Machine{
		Name: m.Name, Role: m.Role, CPU: m.Pool.CPU, MemoryMB: m.Pool.MemoryMB, DiskGB: m.Pool.DiskGB, ExtraDisks: m.Pool.ExtraDisks,
		Type: chosen.Size, Zone: chosen.Zone, Image: chosen.Image,
	}
	if n := bootstrap.MachineNetwork(of.Cluster.Status, m.Name, of.Provider.Spec.Network); n != nil {
		out.Address = n.Address
	}
	return out
}

func sum(machines []Machine) (s Sum) {
	for _, m := range machines {
		s.Machines++
		s.CPU += int64(m.CPU)
		s.MemoryMB += int64(m.MemoryMB)
		s.DiskGB += int64(m.DiskGB)
		s.Disks += 1 + len(m.ExtraDisks)
		for _, d := range m.ExtraDisks {
			s.DiskGB += int64(d.SizeGB)
		}
	}
	return s
}

func loadBalancer(cluster string, b bootstrap.Balancer) *LoadBalancer {
	return &LoadBalancer{
		Name: bootstrap.BalancerName(cluster), Scheme: string(b.Scheme),
		Ports: append([]int32{bootstrap.APIServerPort}, b.AdditionalPorts...), AllowedCIDRs: b.AllowedCIDRs,
	}
}

// Checks returns findings as checks.
func Checks(of Scope, findings []provider.Finding) (out []Check) {
	for _, f := range findings {
		out = append(out, Check{Of: of, Name: f.Check, Result: resultOf(f.Verdict), Evidence: f.Message, Remedy: f.Hint})
	}
	return out
}

func resultOf(v provider.Verdict) Result {
	switch v {
	case provider.Passed:
		return Passed
	case provider.Refused:
		return Refused
	case provider.Unknown:
	}
	return Unknown
}

// Checksum identifies the objects of a manifest, but for Secrets.
func Checksum(m *manifest.Manifest) (string, error) {
	content := struct {
		Cluster  v1alpha1.ClusterBootstrapSpec
		Provider v1alpha1.ProviderConfigSpec
		Pools    map[string]v1alpha1.NetworkPoolSpec
	}{m.Cluster.Spec, m.Provider.Spec, map[string]v1alpha1.NetworkPoolSpec{}}
	for _, p := range m.Pools {
		content.Pools[p.Name] = p.Spec
	}
	data, err := json.Marshal(content)
	return fmt.Sprintf("sha256:%x", sha256.Sum256(data)), err
}

// Title names the cluster and what happens to it, in one line.
func (p Plan) Title() string {
	what := map[Action]string{Create: "create", Alter: "change", Continue: "continue", Nothing: "nothing to do for"}[p.Action]
	return fmt.Sprintf("Plan: %s %s on %s (%s)", cmp.Or(what, string(p.Action)), p.Cluster, p.ProviderConfig, kindOf(p))
}

func kindOf(p Plan) string {
	if p.Kind == "rehearsal" {
		return "simulated " + string(p.Provider)
	}
	return string(p.Provider)
}
