// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/binary"
	"math/big"
	"strconv"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"

	"github.com/butlerdotdev/butler/provider"
)

// user is the account that Azure wants a key for. Talos has no accounts.
const user = "talos"

// request is the machine with its disks.
func (m machines) request(op string, s provider.MachineSpec, a attempt) (armcompute.VirtualMachine, error) {
	none := armcompute.VirtualMachine{}
	tags, err := machineTags(op, s)
	if err != nil {
		return none, err
	}
	storage, err := disksOf(op, s, a)
	if err != nil {
		return none, err
	}
	key, err := m.key()
	if err != nil {
		return none, err
	}
	nic := m.resource(kindNIC, partName(s.Owner.ID, s.Name, suffixNIC))
	vm := armcompute.VirtualMachine{Location: &a.Location, Tags: written(tags), Zones: pointers(zonesFor(a.Zone)), Plan: a.Plan, Properties: &armcompute.VirtualMachineProperties{
		HardwareProfile: &armcompute.HardwareProfile{VMSize: new(armcompute.VirtualMachineSizeTypes(a.Size))},
		StorageProfile:  storage,
		OSProfile:       profile(s, key),
		NetworkProfile: &armcompute.NetworkProfile{NetworkInterfaces: []*armcompute.NetworkInterfaceReference{{
			ID: &nic, Properties: &armcompute.NetworkInterfaceReferenceProperties{Primary: new(true), DeleteOption: new(armcompute.DeleteOptionsDelete)},
		}}},
		DiagnosticsProfile: &armcompute.DiagnosticsProfile{BootDiagnostics: &armcompute.BootDiagnostics{Enabled: new(true)}},
	}}
	if a.Encrypts {
		vm.Properties.SecurityProfile = &armcompute.SecurityProfile{EncryptionAtHost: new(true)}
	}
	if a.Set {
		vm.Properties.AvailabilitySet = &armcompute.SubResource{ID: new(m.resource(kindSet, setName(s.Owner)))}
	}
	return vm, nil
}

// profile has the user data. Talos has no agent: extensions would wait for one for ever.
func profile(s provider.MachineSpec, key string) *armcompute.OSProfile {
	p := &armcompute.OSProfile{
		ComputerName: &s.Name, AdminUsername: new(user), AllowExtensionOperations: new(false),
		LinuxConfiguration: &armcompute.LinuxConfiguration{
			DisablePasswordAuthentication: new(true), ProvisionVMAgent: new(false),
			SSH: &armcompute.SSHConfiguration{PublicKeys: []*armcompute.SSHPublicKey{{Path: new("/home/" + user + "/.ssh/authorized_keys"), KeyData: &key}}},
		},
	}
	if s.UserData != "" {
		p.CustomData = new(base64.StdEncoding.EncodeToString([]byte(s.UserData.Reveal())))
	}
	return p
}

// disksOf are the disk of the operating system and the extra ones, which end with the
// machine. An extra disk is found by its LUN.
func disksOf(op string, s provider.MachineSpec, a attempt) (*armcompute.StorageProfile, error) {
	storage := &armcompute.StorageProfile{ImageReference: referenceOf(a.Image), OSDisk: &armcompute.OSDisk{
		Name: new(partName(s.Owner.ID, s.Name, suffixDisk)), CreateOption: new(armcompute.DiskCreateOptionTypesFromImage), DeleteOption: new(armcompute.DiskDeleteOptionTypesDelete),
		DiskSizeGB: &s.DiskGB, OSType: new(armcompute.OperatingSystemTypesLinux), Caching: new(armcompute.CachingTypesReadOnly),
		ManagedDisk: &armcompute.ManagedDiskParameters{StorageAccountType: new(armcompute.StorageAccountTypes(a.Disk))},
	}}
	for i, d := range s.ExtraDisks {
		kind, err := diskType(op, d, a.Disk)
		if err != nil {
			return nil, err
		}
		storage.DataDisks = append(storage.DataDisks, &armcompute.DataDisk{
			Name: new(partName(s.Owner.ID, s.Name, "-disk-"+strconv.Itoa(i+1))), Lun: new(int32(i)), CreateOption: new(armcompute.DiskCreateOptionTypesEmpty),
			DeleteOption: new(armcompute.DiskDeleteOptionTypesDelete), DiskSizeGB: &d.SizeGB, Caching: new(armcompute.CachingTypesNone),
			ManagedDisk: &armcompute.ManagedDiskParameters{StorageAccountType: new(armcompute.StorageAccountTypes(kind))},
		})
	}
	return storage, nil
}

// referenceOf is the image of an attempt as Azure has it.
func referenceOf(text string) *armcompute.ImageReference {
	if strings.HasPrefix(strings.ToLower(text), communityPrefix) {
		return &armcompute.ImageReference{CommunityGalleryImageID: &text}
	}
	if urn := strings.Split(text, ":"); len(urn) == 4 {
		return &armcompute.ImageReference{Publisher: &urn[0], Offer: &urn[1], SKU: &urn[2], Version: &urn[3]}
	}
	return &armcompute.ImageReference{ID: &text}
}

// sshKey returns a function that returns a public key whose private one is not kept: Azure
// refuses a Linux machine without a key or a password.
func sshKey() func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		pair, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return "", err
		}
		var wire []byte
		for _, field := range [][]byte{[]byte("ssh-rsa"), big.NewInt(int64(pair.E)).Bytes(), append([]byte{0}, pair.N.Bytes()...)} {
			wire = append(binary.BigEndian.AppendUint32(wire, uint32(len(field))), field...)
		}
		return "ssh-rsa " + base64.StdEncoding.EncodeToString(wire), nil
	})
}
