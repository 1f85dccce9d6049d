// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"net/netip"
	"time"
)

// States of an entity of Prism Central.
const (
	stateComplete = "COMPLETE"
	stateError    = "ERROR"
	stateDelete   = "DELETE" // how those of a deletion begin
)

// Power states of a VM.
const (
	powerOn  = "ON"
	powerOff = "OFF"
)

// vm is a virtual machine as far as the driver uses it.
type vm struct {
	uuid, name, description string
	// state is that of the entity, and messages are what Prism Central says about it.
	state    string
	messages []string
	// power is the present power state, wanted the one of the specification.
	power, wanted string
	// task is the last task that changes the VM.
	task string
	// parent is the VM that it was cloned from.
	parent     string
	created    time.Time
	cluster    string
	cpu        int64
	memoryMiB  int64
	nics       []nic
	disks      []disk
	categories map[string]string
}

// nic is a network interface with its addresses, the assigned ones first.
type nic struct {
	subnet, mac string
	addresses   []string
}

// disk is a disk of a VM, at an index of a bus.
type disk struct {
	bus   string
	index int32
	cdrom bool
}

// order is what a VM is created with.
type order struct {
	name, description         string
	cluster, subnet, project  string
	address                   string // empty: the subnet assigns one
	sockets, cores, memoryMiB int64
	disks                     []diskOrder
	userData                  string // base64
	categories                map[string]string
}

// diskOrder is a disk to create: empty, or from an image. Without a container Prism Central
// chooses one.
type diskOrder struct {
	image, container string
	sizeMiB          int64
}

// cluster is a cluster that Prism Central knows: itself, or a Prism Element.
type cluster struct {
	uuid, name, version string
	central             bool
	hypervisors         []string
}

// image is an image of Prism Central.
type image struct {
	uuid, name, description string
	state, kind             string
	messages                []string
	sizeBytes               int64
	created                 time.Time
}

// subnet is a network of a cluster; an overlay is of no cluster.
type subnet struct {
	uuid, name, cluster string
	overlay             bool
	vlan                int32
	// addresses are those that AHV assigns; the zero value means that it assigns none.
	addresses addressPlan
}

// addressPlan is what AHV IPAM knows of a subnet: its range, the gateway that machines get, and
// the pools that machines without an address of their own get one from.
type addressPlan struct {
	network netip.Prefix
	gateway netip.Addr
	pools   [][2]netip.Addr
}

// managed reports whether AHV assigns addresses at all.
func (a addressPlan) managed() bool { return a.network.IsValid() }

// container is a storage container; free is nil where Prism Central does not say.
type container struct {
	uuid, name, cluster string
	freeBytes           *int64
}

// project groups VMs with quotas and permissions.
type project struct{ uuid, name string }

// host is a host of a cluster.
type host struct {
	cluster   string
	cores     int64
	memoryMiB int64
}

// task is the progress of a change.
type task struct {
	status, operation, failure string
}

// ended reports whether a task has no further effect.
func (t task) ended() bool { return t.status != "QUEUED" && t.status != "RUNNING" }

// category is a category, or a value of one, with its description.
type category struct{ key, value, description string }
