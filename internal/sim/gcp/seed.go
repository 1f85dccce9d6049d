// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Seed is what the project has at its start: what a manifest names, and what projects have
// anyway. Objects that exist are left as they are.
type Seed struct {
	Project string `json:"project,omitempty"`
	// Region is that of the machines; one that the platform does not have is left out.
	Region string `json:"region,omitempty"`
	// Network and Subnetwork of the machines. Empty: the default network, in which every
	// region has a subnetwork.
	Network    string `json:"network,omitempty"`
	Subnetwork string `json:"subnetwork,omitempty"`
	// CIDR is the prefix of Subnetwork, or of the default network's in Region.
	CIDR string `json:"cidr,omitempty"`
	// Tags are the network tags of the machines, which the firewall rules are for; none: the
	// rules are for all.
	Tags []string `json:"tags,omitempty"`
	// NoNAT leaves Cloud NAT out, NoFirewall the rules of the cluster.
	NoNAT      bool    `json:"noNAT,omitempty"`
	NoFirewall bool    `json:"noFirewall,omitempty"`
	Images     []Image `json:"images,omitempty"`
	// TalosVersions are those of which the project has an image.
	TalosVersions []string `json:"talosVersions,omitempty"`
	// ServiceAccounts are those that machines may have, by their address.
	ServiceAccounts []string `json:"serviceAccounts,omitempty"`
	// Pools are the audiences of workload identity federation that may act as the user.
	Pools []string `json:"pools,omitempty"`
	// Permissions are those of the user, * is all; none: the documented role.
	Permissions []string `json:"permissions,omitempty"`
	// Quotas are limits of the region by metric, instead of the usual ones.
	Quotas map[string]float64 `json:"quotas,omitempty"`
	// FullZones have no capacity for any type.
	FullZones []string `json:"fullZones,omitempty"`
	// NoBilling: the project has not enabled the billing catalogue. Unpriced are the beginnings
	// of descriptions that the catalogue does not have, SKUPage is how many a page has at most.
	NoBilling bool     `json:"noBilling,omitempty"`
	Unpriced  []string `json:"unpriced,omitempty"`
	SKUPage   int      `json:"skuPage,omitempty"`
	// Lag is how long a new instance is not listed.
	Lag metav1.Duration `json:"lag,omitzero"`
	// SessionLimit is how long access tokens last; 0: an hour.
	SessionLimit metav1.Duration `json:"sessionLimit,omitzero"`
	// Hosts are further names of the API with TLS, Plain those without, each with a port or
	// without.
	Hosts []string `json:"hosts,omitempty"`
	Plain []string `json:"plain,omitempty"`
	// Endpoint is that of the manifest; empty: none.
	Endpoint string `json:"endpoint,omitempty"`
}

// Image is an image of the project, or of another one that the project may read.
type Image struct {
	Name    string            `json:"name"`
	Project string            `json:"project,omitempty"`
	Family  string            `json:"family,omitempty"`
	Arch    string            `json:"arch,omitempty"` // default X86_64
	GB      int               `json:"gb,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	// Description is what its creator wrote.
	Description string `json:"description,omitempty"`
}

// documented is the custom role that the guide asks for.
//
//go:embed role.yaml
var documented []byte

// documentedPermissions are those of the role.
func documentedPermissions() ([]string, error) {
	var role struct {
		IncludedPermissions []string `json:"includedPermissions"`
	}
	if err := yaml.UnmarshalStrict(withoutHead(documented), &role); err != nil {
		return nil, fmt.Errorf("role of the simulated Google Cloud: %w", err)
	}
	return role.IncludedPermissions, nil
}

// withoutHead leaves out the fields of the role that say how it is called.
func withoutHead(role []byte) []byte {
	at := strings.Index(string(role), "includedPermissions:")
	return role[max(at, 0):]
}

func (s Seed) withDefaults() Seed {
	s.Project, s.CIDR = cmp.Or(s.Project, "butler-sim"), cmp.Or(s.CIDR, "10.40.0.0/16")
	if !exists(s.Region) {
		s.Region = "europe-west3"
	}
	s.Network = nameOf("/" + cmp.Or(s.Network, "default"))
	s.Subnetwork = nameOf("/" + cmp.Or(s.Subnetwork, s.Network))
	s.ServiceAccounts = slices.DeleteFunc(s.ServiceAccounts, func(email string) bool { return email == "" || email == "default" })
	return s
}
