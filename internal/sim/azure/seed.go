// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Seed is what the subscription has at its start: what a manifest names, and what every
// test finds. Resources that exist are left as they are.
type Seed struct {
	Subscription string `json:"subscription,omitempty"`
	Tenant       string `json:"tenant,omitempty"`
	Group        string `json:"group,omitempty"`
	// Location is that of all resources; one that the public cloud does not have is left out.
	Location string   `json:"location,omitempty"`
	Zones    []string `json:"zones,omitempty"`
	// NoZones: the location has none.
	NoZones       bool   `json:"noZones,omitempty"`
	Network       string `json:"network,omitempty"`
	CIDR          string `json:"cidr,omitempty"`
	Subnet        string `json:"subnet,omitempty"`
	SecurityGroup string `json:"securityGroup,omitempty"`
	// Closed: the security group has no rules of its own.
	Closed bool `json:"closed,omitempty"`
	// NoWayOut: the subnet has no NAT gateway, and no default way out.
	NoWayOut      bool     `json:"noWayOut,omitempty"`
	Images        []Image  `json:"images,omitempty"`
	TalosVersions []string `json:"talosVersions,omitempty"`
	// Role is the role definition of the user; empty: the documented one.
	Role json.RawMessage `json:"role,omitempty"`
	// RoleScopes are where the user has the role; empty: on the subscription.
	RoleScopes []string `json:"roleScopes,omitempty"`
	// Certificate and Federated are what the user's application accepts instead of its
	// secret.
	Certificate   string          `json:"certificate,omitempty"`
	Federated     []Federation    `json:"federated,omitempty"`
	SecretExpired bool            `json:"secretExpired,omitempty"`
	TokenTime     metav1.Duration `json:"tokenTime,omitzero"` // 0: an hour
	// VCPUs is the quota of processors of the location and of each family.
	VCPUs int `json:"vcpus,omitempty"`
	// FullZones have no capacity, FullLocation: no zone has, nor the location without one.
	FullZones    []string `json:"fullZones,omitempty"`
	FullLocation bool     `json:"fullLocation,omitempty"`
	// Restricted sizes are not offered to the subscription.
	Restricted []string `json:"restricted,omitempty"`
	// EncryptionAtHost is a feature that a subscription registers for.
	EncryptionAtHost bool `json:"encryptionAtHost,omitempty"`
	// FailedParts are the ends of names of network resources whose creation fails. They
	// stay, and the next write succeeds.
	FailedParts []string `json:"failedParts,omitempty"`
	// RequiredTags are demanded by a policy.
	RequiredTags []string        `json:"requiredTags,omitempty"`
	Lag          metav1.Duration `json:"lag,omitzero"` // how long lists do not have a new resource
	PageSize     int             `json:"pageSize,omitempty"`
	// Unpriced are sizes and SKUs that the price service does not have. PriceStatus is what it
	// answers every call with; 0: prices.
	Unpriced    []string `json:"unpriced,omitempty"`
	PriceStatus int      `json:"priceStatus,omitempty"`
	// Hosts are further names of the API with TLS, Plain are those without.
	Hosts []string `json:"hosts,omitempty"`
	Plain []string `json:"plain,omitempty"`
	// Endpoint and AuthorityHost are those of the manifest; empty: none.
	Endpoint      string `json:"endpoint,omitempty"`
	AuthorityHost string `json:"authorityHost,omitempty"`
}

// Image is an image of the subscription: a managed image, or with a Gallery a version in
// it, or with a Publisher one of the marketplace.
type Image struct {
	Group      string            `json:"group,omitempty"` // default: that of the seed
	Name       string            `json:"name"`
	Version    string            `json:"version,omitempty"`
	Gallery    string            `json:"gallery,omitempty"`
	Publisher  string            `json:"publisher,omitempty"`
	Offer      string            `json:"offer,omitempty"`
	Arch       string            `json:"arch,omitempty"`       // default x64
	Generation string            `json:"generation,omitempty"` // default V2
	SizeGB     int               `json:"sizeGB,omitempty"`     // of its disk; default 8
	Location   string            `json:"location,omitempty"`   // default: that of the seed
	Tags       map[string]string `json:"tags,omitempty"`
	// Plan says that an image of the marketplace is sold by a plan, Unaccepted that the
	// subscription has not accepted its terms.
	Plan       bool `json:"plan,omitempty"`
	Unaccepted bool `json:"unaccepted,omitempty"`
}

func (s Seed) withDefaults() Seed {
	s.Subscription, s.Tenant = cmp.Or(s.Subscription, "00000000-0000-0000-0000-000000000000"), cmp.Or(s.Tenant, derivedUUID("tenant"))
	s.Group, s.Location = cmp.Or(s.Group, "example"), location(cmp.Or(s.Location, "westeurope"))
	if !(Seed{}).exists(s.Location) && s.Endpoint == "" { // other clouds have locations of their own
		s.Location = "westeurope"
	}
	s.Network, s.CIDR = cmp.Or(s.Network, "butler"), cmp.Or(s.CIDR, "10.40.0.0/16")
	s.Subnet, s.SecurityGroup = cmp.Or(s.Subnet, "nodes"), cmp.Or(s.SecurityGroup, "nodes")
	if len(s.Zones) == 0 && !s.NoZones {
		s.Zones = []string{"1", "2", "3"}
	}
	if len(s.Role) == 0 {
		s.Role = documented
	}
	s.VCPUs = cmp.Or(s.VCPUs, 5000)
	return s
}
