// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

// Metadata is what a cloud's metadata service says to the guest of a machine.
type Metadata struct {
	Platform     string // as Talos calls it: aws, gcp, azure
	Hostname     string // private DNS name
	Region       string
	InstanceType string
	InstanceID   string
	ProviderID   string // of the node
	// Identity is what the machine acts under in the cloud's API: an instance profile, a
	// service account, a managed identity. Empty: none.
	Identity string
	Tags     map[string]string
}

// Disk is a disk of a machine as its guest sees it.
type Disk struct {
	Device    string // such as /dev/vda or /dev/nvme0n1
	SizeBytes uint64
	Serial    string
	Model     string
	Transport string // virtio, nvme, sata, …
	WWID      string
	BusPath   string
	ReadOnly  bool
	Links     []string // that udev makes besides those of the serial number
	System    bool     // the machine boots from it; without such a disk from the first
}
