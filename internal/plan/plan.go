// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan says what a bootstrap would do before it does it: what is created or changed,
// what was checked, and how long it takes. A plan is a value; nothing here asks a platform.
package plan

import (
	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/history"
)

// Format is the version of a saved plan. One of another version is refused.
const Format = 1

// Plan is what a bootstrap would do.
type Plan struct {
	Format int `json:"format"`
	// Cluster is its name, and Kind "real" or "rehearsal".
	Cluster        string                `json:"cluster"`
	Kind           string                `json:"kind"`
	Provider       v1alpha1.ProviderType `json:"provider"`
	ProviderConfig string                `json:"providerConfig"`
	// Manifest is the checksum of the objects of the manifest, but for Secrets.
	Manifest string `json:"manifest"`
	Action   Action `json:"action"`
	// Create is what a new cluster consists of.
	Create *Creation `json:"create,omitempty"`
	// Changes are those of a cluster that exists.
	Changes []Change `json:"changes,omitempty"`
	Checks  []Check  `json:"checks"`
	// Times are the estimates for each phase; none if no run is recorded.
	Times []history.Estimate `json:"times,omitempty"`
	// Total is the estimate for all phases together.
	Total    *history.Estimate `json:"total,omitempty"`
	Cost     Cost              `json:"cost"`
	Warnings []string          `json:"warnings,omitempty"`
}

// Action is what a bootstrap would do with the cluster.
type Action string

// The actions.
const (
	// Create begins a new cluster.
	Create Action = "create"
	// Alter applies the changes of the manifest to a cluster that exists.
	Alter Action = "change"
	// Continue continues a bootstrap that is not Ready.
	Continue Action = "continue"
	// Nothing finds a cluster that is Ready and as the manifest says.
	Nothing Action = "nothing"
)

// Creation is what a new cluster consists of.
type Creation struct {
	Talos      string    `json:"talos"`
	Kubernetes string    `json:"kubernetes"`
	Schematic  string    `json:"schematic,omitempty"`
	Machines   []Machine `json:"machines"`
	Sum        Sum       `json:"sum"`
	Endpoint   Endpoint  `json:"endpoint"`
	// LoadBalancer is that of the control plane, where the platform has one.
	LoadBalancer *LoadBalancer `json:"loadBalancer,omitempty"`
	// LoadBalancerPool are the addresses of Services of type LoadBalancer.
	LoadBalancerPool string `json:"loadBalancerPool,omitempty"`
	// Addresses come from NetworkPools.
	Addresses []Address `json:"addresses,omitempty"`
	Addons    []Addon   `json:"addons"`
	// Images are those of this project's controllers.
	Images []string `json:"images,omitempty"`
	// ManagesItself says that the cluster takes over its own management.
	ManagesItself bool `json:"managesItself"`
}

// Machine is a machine of a new cluster.
type Machine struct {
	Name       string               `json:"name"`
	Role       v1alpha1.MachineRole `json:"role"`
	CPU        int32                `json:"cpu"`
	MemoryMB   int32                `json:"memoryMB"`
	DiskGB     int32                `json:"diskGB"`
	ExtraDisks []v1alpha1.DiskSpec  `json:"extraDisks,omitempty"`
	// Type, Zone and Image are those of the first attempt; empty where the platform has
	// none, or where a check says why they are not known.
	Type  string `json:"type,omitempty"`
	Zone  string `json:"zone,omitempty"`
	Image string `json:"image,omitempty"`
	// Address is one of a NetworkPool; empty means that DHCP or the platform gives one.
	Address string `json:"address,omitempty"`
}

// Sum is what all machines ask for.
type Sum struct {
	Machines int   `json:"machines"`
	CPU      int64 `json:"cpu"`
	MemoryMB int64 `json:"memoryMB"`
	DiskGB   int64 `json:"diskGB"`
	Disks    int   `json:"disks"`
}

// Endpoint is where the API server of a new cluster is reached.
type Endpoint struct {
	Kind string `json:"kind"`
	// Address is empty until the platform has given one.
	Address string `json:"address,omitempty"`
	Port    int32  `json:"port"`
}

// LoadBalancer is that of a new control plane.
type LoadBalancer struct {
	Name         string   `json:"name"`
	Scheme       string   `json:"scheme"`
	Ports        []int32  `json:"ports"`
	AllowedCIDRs []string `json:"allowedCIDRs,omitempty"`
}

// Address is a block of addresses of a NetworkPool.
type Address struct {
	For   string `json:"for"`
	Pool  string `json:"pool"`
	Start string `json:"start"`
	End   string `json:"end"`
}

// Addon is software that is installed on a new cluster.
type Addon struct {
	Name    string   `json:"name"`
	Version string   `json:"version,omitempty"`
	From    string   `json:"from"`
	After   []string `json:"after,omitempty"`
	// Digest is the checksum of what was fetched; empty if nothing was.
	Digest string `json:"digest,omitempty"`
}

// Change is one of a cluster that exists.
type Change struct {
	Object string `json:"object"`
	Field  string `json:"field"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	// Effect is what happens; empty for a change that is refused.
	Effect string `json:"effect,omitempty"`
	// Refused is why the change is not possible; empty for one in place.
	Refused string `json:"refused,omitempty"`
}

// Check is one check and its result.
type Check struct {
	Of     Scope  `json:"of"`
	Name   string `json:"name"`
	Result Result `json:"result"`
	// Evidence is what was found, and Remedy what to do about it.
	Evidence string `json:"evidence,omitempty"`
	Remedy   string `json:"remedy,omitempty"`
}

// Scope is what a check is about.
type Scope string

// The scopes.
const (
	Platform    Scope = "platform"
	Workstation Scope = "workstation"
)

// Result is the outcome of a check.
type Result string

// The results: what may not be read is unknown, never refused.
const (
	Passed  Result = "passed"
	Unknown Result = "unknown"
	Refused Result = "refused"
)

// Refusals counts the checks and the changes that are refused.
func (p Plan) Refusals() (checks, changes int) {
	for _, c := range p.Checks {
		if c.Result == Refused {
			checks++
		}
	}
	for _, c := range p.Changes {
		if c.Refused != "" {
			changes++
		}
	}
	return checks, changes
}
