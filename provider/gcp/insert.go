// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Types of operations.
const (
	opInsert = "insert"
	opDelete = "delete"
)

// request is the call that creates a machine with its disks.
func (m machines) request(op string, s provider.MachineSpec, a attempt, subnet *computepb.Subnetwork) (*computepb.InsertInstanceRequest, error) {
	labels, err := labelsOf(op, s, a.Zone)
	if err != nil {
		return nil, err
	}
	disks, err := disksOf(op, s, a, labels)
	if err != nil {
		return nil, err
	}
	i := &computepb.Instance{
		Name: &s.Name, MachineType: new(fmt.Sprintf("zones/%s/machineTypes/%s", a.Zone, a.Type)), Labels: labels, Disks: disks,
		NetworkInterfaces: []*computepb.NetworkInterface{m.nic(a, subnet)},
		// It cannot be changed on a running instance, and pod networks without a tunnel need it.
		CanIpForward: new(true),
		Scheduling:   &computepb.Scheduling{AutomaticRestart: new(true), OnHostMaintenance: new(maintenance(a.Type))},
	}
	if len(m.spec.Tags) > 0 {
		i.Tags = &computepb.Tags{Items: m.spec.Tags}
	}
	if m.spec.ServiceAccount != "" {
		i.ServiceAccounts = []*computepb.ServiceAccount{{Email: &m.spec.ServiceAccount, Scopes: []string{scope}}}
	}
	if a.UEFI {
		// Talos' images are not signed for Secure Boot, unless they were built for it.
		i.ShieldedInstanceConfig = &computepb.ShieldedInstanceConfig{EnableVtpm: new(true), EnableIntegrityMonitoring: new(true), EnableSecureBoot: new(false)}
	}
	if s.UserData != "" {
		i.Metadata = &computepb.Metadata{Items: []*computepb.Items{{Key: new("user-data"), Value: new(s.UserData.Reveal())}}}
	}
	return &computepb.InsertInstanceRequest{
		Project: m.spec.ProjectID, Zone: a.Zone, InstanceResource: i, RequestId: new(requestID(s.Owner, a.Zone, a.Number)),
	}, nil
}

// resident are the types whose instances cannot migrate: with accelerators or local disks, and
// bare metal.
var resident = regexp.MustCompile(`^(a[2-9]|g[2-9]|ct|h[3-9]|z[3-9])|-metal$`)

// maintenance is what happens to an instance when its host is maintained.
func maintenance(machineType string) string {
	if resident.MatchString(machineType) {
		return computepb.Scheduling_TERMINATE.String()
	}
	return computepb.Scheduling_MIGRATE.String()
}

func (m machines) nic(a attempt, subnet *computepb.Subnetwork) *computepb.NetworkInterface {
	nic := &computepb.NetworkInterface{Subnetwork: new(pathOf(subnet.GetSelfLink()))}
	if m.spec.PublicIP {
		nic.AccessConfigs = []*computepb.AccessConfig{{Name: new("External NAT"), Type: new(computepb.AccessConfig_ONE_TO_ONE_NAT.String())}}
	}
	if a.IPv6 {
		nic.StackType = new(computepb.NetworkInterface_IPV4_IPV6.String())
	}
	return nic
}

// disksOf are the boot disk and the extra ones, which end with the machine. The guest
// finds them by their device names, which are the same on every machine.
func disksOf(op string, s provider.MachineSpec, a attempt, labels map[string]string) ([]*computepb.AttachedDisk, error) {
	boot := disk(diskName(s.Name, 0), "root", s.DiskGB, a, a.Disk, labels)
	boot.Boot, boot.InitializeParams.SourceImage = new(true), &a.Image
	all := []*computepb.AttachedDisk{boot}
	for i, d := range s.ExtraDisks {
		kind, err := extraDiskType(op, d, a.Disk)
		if err != nil {
			return nil, err
		}
		all = append(all, disk(diskName(s.Name, i+1), fmt.Sprintf("disk-%d", i+1), d.SizeGB, a, kind, labels))
	}
	return all, nil
}

func disk(name, device string, sizeGB int32, a attempt, kind string, labels map[string]string) *computepb.AttachedDisk {
	return &computepb.AttachedDisk{
		AutoDelete: new(true), DeviceName: &device, Type: new(computepb.AttachedDisk_PERSISTENT.String()),
		InitializeParams: &computepb.AttachedDiskInitializeParams{
			DiskName: &name, DiskSizeGb: new(int64(sizeGB)), DiskType: new(fmt.Sprintf("zones/%s/diskTypes/%s", a.Zone, kind)), Labels: labels,
		},
	}
}

// extraDiskType is the type of an extra disk. Those with a number of operations to choose
// have no field for it.
func extraDiskType(op string, d v1alpha1.DiskSpec, otherwise string) (string, error) {
	kind := cmp.Or(d.StorageClass, otherwise)
	known := []string{"pd-balanced", "pd-ssd", "pd-standard"}
	if strings.HasPrefix(otherwise, "hyperdisk") {
		known = []string{otherwise}
	}
	if slices.Contains(known, kind) {
		return kind, nil
	}
	return "", provider.Invalid.New(op, provider.ReasonFieldUnsupported, fmt.Errorf("extraDisks has storageClass %q", d.StorageClass), "use "+strings.Join(known, ", "))
}
