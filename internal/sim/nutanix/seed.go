// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Seed is what Prism Central has at its start: what a manifest names, and what it has
// anyway. Entities that exist are left as they are.
type Seed struct {
	// Cluster, Subnet, Image and Container are what a manifest names, each by its UUID or by
	// its name.
	Cluster   string `json:"cluster,omitempty"`
	Subnet    string `json:"subnet,omitempty"`
	Image     string `json:"image,omitempty"`
	Container string `json:"container,omitempty"`
	Project   string `json:"project,omitempty"`
	// Containers are further ones, which extra disks name.
	Containers []string `json:"containers,omitempty"`
	// ImageName is the name of an image that is named by its UUID.
	ImageName string `json:"imageName,omitempty"`
	// CIDR is the prefix of the subnet.
	CIDR    string `json:"cidr,omitempty"`
	Gateway string `json:"gateway,omitempty"`
	// Unmanaged leaves addresses to a DHCP server that Nutanix does not know: it shows those
	// that it learns from the traffic of the guest.
	Unmanaged bool `json:"unmanaged,omitempty"`
	// NoPool leaves the subnet without a range of addresses: only VMs that ask for an address
	// can be created on it.
	NoPool bool `json:"noPool,omitempty"`
	// Hypervisor is that of the cluster; empty: AHV.
	Hypervisor string `json:"hypervisor,omitempty"`
	// Version is that of Prism Central.
	Version string `json:"version,omitempty"`
	// WithoutV3 is a release that serves this version of the API no longer.
	WithoutV3 bool `json:"withoutV3,omitempty"`
	// Hosts are the names of the API, with their ports.
	Hosts []string `json:"hosts,omitempty"`
	// Endpoint is that of the manifest; empty: none.
	Endpoint string `json:"endpoint,omitempty"`
	// Permissions are those of the user, * is all; none: the documented role.
	Permissions []string `json:"permissions,omitempty"`
	// HostMemoryMiB and HostCores are the size of each of the three hosts, and FreeBytes what
	// is free in the storage container.
	HostMemoryMiB int   `json:"hostMemoryMiB,omitempty"`
	HostCores     int   `json:"hostCores,omitempty"`
	FreeBytes     int64 `json:"freeBytes,omitempty"`
	// Lag is how long a new VM is not listed.
	Lag metav1.Duration `json:"lag,omitzero"`
	// SessionLimit is how long a session lasts; 0: 15 minutes.
	SessionLimit metav1.Duration `json:"sessionLimit,omitzero"`
}

// documented is the role that the guide asks for.
//
//go:embed role.json
var documented []byte

// role is a custom role of Prism Central.
type role struct {
	Name        string   `json:"name"`
	Permissions []string `json:"permissions"`
}

func documentedRole() (r role, err error) {
	if err := json.Unmarshal(documented, &r); err != nil {
		return r, fmt.Errorf("role of the simulated Nutanix: %w", err)
	}
	return r, nil
}

func (s Seed) withDefaults() Seed {
	set := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	set(&s.Cluster, "butler-ahv")
	set(&s.Subnet, "vlan40")
	set(&s.Image, "talos-v1.9.2-openstack-amd64")
	set(&s.Container, "SelfServiceContainer")
	set(&s.Project, "default")
	set(&s.CIDR, "10.40.0.0/24")
	set(&s.Hypervisor, "AHV")
	set(&s.Version, "pc.2024.3.0.1")
	count := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	count(&s.HostMemoryMiB, 768<<10)
	count(&s.HostCores, 64)
	if s.FreeBytes == 0 {
		s.FreeBytes = 40 << 40
	}
	return s
}

func itoa(n int32) string { return strconv.Itoa(int(n)) }
