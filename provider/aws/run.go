// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// mostUserData is what EC2 accepts, before it is encoded.
const mostUserData = 16 << 10

// request is the call that creates a machine with its disks and its interface.
func (m machines) request(op string, s provider.MachineSpec, a attempt) (*ec2.RunInstancesInput, error) {
	tags, err := machineTags(op, s, a.Snapshot)
	if err != nil {
		return nil, err
	}
	disks, err := disksOf(op, s, a)
	if err != nil {
		return nil, err
	}
	r := &ec2.RunInstancesInput{
		MinCount: new(int32(1)), MaxCount: new(int32(1)), ImageId: &a.Image, InstanceType: types.InstanceType(a.Type),
		BlockDeviceMappings: disks, NetworkInterfaces: []types.InstanceNetworkInterfaceSpecification{m.nic(s, a)},
		MetadataOptions: &types.InstanceMetadataOptionsRequest{
			HttpEndpoint: types.InstanceMetadataEndpointStateEnabled, HttpTokens: types.HttpTokensStateRequired, HttpPutResponseHopLimit: new(int32(1)),
		},
	}
	for _, kind := range []types.ResourceType{types.ResourceTypeInstance, types.ResourceTypeVolume, types.ResourceTypeNetworkInterface} {
		r.TagSpecifications = append(r.TagSpecifications, types.TagSpecification{ResourceType: kind, Tags: tagList(tags)})
	}
	if profile := m.spec.IAMInstanceProfile; strings.HasPrefix(profile, "arn:") {
		r.IamInstanceProfile = &types.IamInstanceProfileSpecification{Arn: &profile}
	} else if profile != "" {
		r.IamInstanceProfile = &types.IamInstanceProfileSpecification{Name: &profile}
	}
	if s.UserData != "" {
		r.UserData = new(base64.StdEncoding.EncodeToString([]byte(s.UserData.Reveal())))
	}
	number, err := token(s.Owner, a.Number, r)
	r.ClientToken = &number
	return r, err
}

func (m machines) nic(s provider.MachineSpec, a attempt) types.InstanceNetworkInterfaceSpecification {
	nic := types.InstanceNetworkInterfaceSpecification{
		DeviceIndex: new(int32(0)), SubnetId: &a.Subnet, Groups: m.spec.SecurityGroupIDs,
		AssociatePublicIpAddress: new(m.spec.PublicIP), DeleteOnTermination: new(true), Description: new("machine " + s.Name),
	}
	if a.IPv6 {
		nic.Ipv6AddressCount = new(int32(1))
	}
	return nic
}

// disksOf are the root disk and the extra ones, which end with the machine.
func disksOf(op string, s provider.MachineSpec, a attempt) ([]types.BlockDeviceMapping, error) {
	all := []types.BlockDeviceMapping{disk(a.Device, s.DiskGB, types.VolumeTypeGp3)}
	for i, d := range s.ExtraDisks {
		kind, err := volumeType(op, d)
		if err != nil {
			return nil, err
		}
		all = append(all, disk(deviceName(i), d.SizeGB, kind))
	}
	return all, nil
}

func disk(device string, sizeGB int32, kind types.VolumeType) types.BlockDeviceMapping {
	return types.BlockDeviceMapping{DeviceName: &device, Ebs: &types.EbsBlockDevice{
		VolumeSize: &sizeGB, VolumeType: kind, Encrypted: new(true), DeleteOnTermination: new(true),
	}}
}

// deviceName is where an extra disk is attached, in the names that EC2 recommends for
// disks; the guest sees others.
func deviceName(i int) string { return "/dev/sd" + string(rune('f'+i)) }

// volumeType is the type of an extra disk. Those with a number of operations to choose
// have no field for it.
func volumeType(op string, d v1alpha1.DiskSpec) (types.VolumeType, error) {
	kind := types.VolumeType(cmp.Or(d.StorageClass, string(types.VolumeTypeGp3)))
	if slices.Contains([]types.VolumeType{types.VolumeTypeGp2, types.VolumeTypeGp3, types.VolumeTypeSt1, types.VolumeTypeSc1, types.VolumeTypeStandard}, kind) {
		return kind, nil
	}
	return "", provider.Invalid.New(op, provider.ReasonFieldUnsupported, fmt.Errorf("extraDisks has storageClass %q", d.StorageClass), "use gp3, gp2, st1, sc1 or standard")
}

// refuseSpec refuses what a spec can say but EC2 cannot do.
func refuseSpec(op string, s provider.MachineSpec) error {
	if err := provider.CheckSpec(op, s, tagName, tagSnapshot, clusterTag(s.Owner.Cluster)); err != nil {
		return err
	}
	return cloud.CheckUserData(op, "EC2", s, mostUserData)
}
