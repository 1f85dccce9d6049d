// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"net/netip"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/sim/aws/model"
)

// Seed is what the account has at its start: what a manifest names, and what accounts
// have anyway. Objects that exist are left as they are.
type Seed struct {
	// Region is that of the account; one that AWS does not have has no endpoint, so that the
	// account is in another one then.
	Region string `json:"region,omitempty"`
	VPC    string `json:"vpc,omitempty"`
	// CIDR is the prefix of the VPC.
	CIDR string `json:"cidr,omitempty"`
	// Subnets are spread over the zones of the region.
	Subnets []string `json:"subnets,omitempty"`
	// PublicSubnets reports that Subnets have a route to the internet gateway; otherwise
	// they have one to a NAT gateway, and the VPC has public subnets beside them.
	PublicSubnets  bool     `json:"publicSubnets,omitempty"`
	NoWayOut       bool     `json:"noWayOut,omitempty"` // Subnets have no route out of the VPC
	IPv6           bool     `json:"ipv6,omitempty"`     // Subnets have IPv6 addresses too
	SecurityGroups []string `json:"securityGroups,omitempty"`
	Images         []Image  `json:"images,omitempty"`
	// TalosVersions are those of which the account sees the official images.
	TalosVersions []string `json:"talosVersions,omitempty"`
	Profiles      []string `json:"profiles,omitempty"` // instance profiles, with a role of the same name
	Roles         []Role   `json:"roles,omitempty"`
	KeyPairs      []string `json:"keyPairs,omitempty"`
	// Policy is the policy document of the user; empty: the documented one.
	Policy json.RawMessage `json:"policy,omitempty"`
	// VCPUs is the quota of processors of standard types.
	VCPUs int `json:"vcpus,omitempty"`
	// FullZones have no capacity for any type.
	FullZones []string `json:"fullZones,omitempty"`
	// Unpriced are types of instances and volumes that the price service does not have.
	Unpriced []string `json:"unpriced,omitempty"`
	// Lag is how long a new instance is not described.
	Lag metav1.Duration `json:"lag,omitzero"`
	// SessionLimit is how long temporary credentials last; 0: as long as they are asked for.
	SessionLimit metav1.Duration `json:"sessionLimit,omitzero"`
	// Hosts are further names of the API with TLS, Plain those without, each with a port or
	// without.
	Hosts []string `json:"hosts,omitempty"`
	Plain []string `json:"plain,omitempty"`
	// Endpoint is that of the manifest; empty: none.
	Endpoint string `json:"endpoint,omitempty"`
}

// Image is an AMI of the account, or with an Owner one of another account.
type Image struct {
	ID      string `json:"id,omitempty"` // empty: made from the name
	Name    string `json:"name"`
	Owner   string `json:"owner,omitempty"`
	Arch    string `json:"arch,omitempty"` // default x86_64
	RootGB  int    `json:"rootGB,omitempty"`
	Private bool   `json:"private,omitempty"` // another account's, and not shared
	Tags    tags   `json:"tags,omitempty"`
}

// Role can be assumed.
type Role struct {
	Name        string          `json:"name"`
	ExternalID  string          `json:"externalID,omitempty"`
	WebIdentity bool            `json:"webIdentity,omitempty"`
	Policy      json.RawMessage `json:"policy,omitempty"` // empty: the documented one
}

// documented is the policy that the guide asks for.
//
//go:embed policy.json
var documented []byte

const everything = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`

func (s Seed) withDefaults() Seed {
	if _, known := model.RegionNamed(s.Region); !known && s.Endpoint == "" {
		s.Region = "eu-central-1" // other implementations have regions of their own
	}
	s.VPC, s.CIDR = cmp.Or(s.VPC, derivedID("vpc", "butler")), cmp.Or(s.CIDR, "10.40.0.0/16")
	if len(s.Subnets) == 0 {
		for _, zone := range []string{"a", "b", "c"} {
			s.Subnets = append(s.Subnets, derivedID("subnet", "private-"+zone))
		}
	}
	if len(s.SecurityGroups) == 0 {
		s.SecurityGroups = []string{derivedID("sg", "nodes")}
	}
	if len(s.Policy) == 0 {
		s.Policy = documented
	}
	s.VCPUs = cmp.Or(s.VCPUs, 5000)
	return s
}

// split returns the nth part of a prefix with this many parts, a power of two.
func split(p netip.Prefix, parts, n int) netip.Prefix {
	bits := p.Bits()
	for size := 1; size < parts; size *= 2 {
		bits++
	}
	raw := p.Masked().Addr().As4()
	value := uint32(raw[0])<<24 | uint32(raw[1])<<16 | uint32(raw[2])<<8 | uint32(raw[3])
	value += uint32(n) << (32 - bits)
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), bits)
}
