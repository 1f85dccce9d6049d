// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
)

func TestInstanceEndsWithItsParts(t *testing.T) {
	f := start(t, aws.Seed{})
	id := f.run(t, "one", func(in *ec2.RunInstancesInput) {
		in.BlockDeviceMappings = []types.BlockDeviceMapping{
			{DeviceName: new("/dev/xvda"), Ebs: &types.EbsBlockDevice{VolumeSize: new(int32(50)), VolumeType: types.VolumeTypeGp3, Encrypted: new(true)}},
			{DeviceName: new("/dev/sdf"), Ebs: &types.EbsBlockDevice{VolumeSize: new(int32(10)), DeleteOnTermination: new(false)}},
		}
	})
	i := f.await(t, id, types.InstanceStateNameRunning)
	if i.PrivateIpAddress == nil || len(i.BlockDeviceMappings) != 2 || len(i.NetworkInterfaces) != 1 || *i.BlockDeviceMappings[0].DeviceName != "/dev/xvda" {
		t.Errorf("it has %+v, %+v", i.BlockDeviceMappings, i.NetworkInterfaces)
	}
	out, err := f.ec2.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	cloudtest.Must(t, err)
	if change := out.TerminatingInstances[0]; change.CurrentState.Name != types.InstanceStateNameShuttingDown || change.PreviousState.Name != types.InstanceStateNameRunning {
		t.Errorf("it goes from %s to %s", change.PreviousState.Name, change.CurrentState.Name)
	}
	if i := f.await(t, id, types.InstanceStateNameTerminated); *i.StateReason.Code != "Client.UserInitiatedShutdown" || i.PrivateIpAddress != nil {
		t.Errorf("terminated because of %s, at %v", *i.StateReason.Code, i.PrivateIpAddress)
	}
	volumes, err := f.ec2.DescribeVolumes(t.Context(), &ec2.DescribeVolumesInput{})
	cloudtest.Must(t, err)
	if len(volumes.Volumes) != 1 || volumes.Volumes[0].State != types.VolumeStateAvailable {
		t.Errorf("volumes left: %+v", volumes.Volumes)
	}
	interfaces, err := f.ec2.DescribeNetworkInterfaces(t.Context(), &ec2.DescribeNetworkInterfacesInput{})
	cloudtest.Must(t, err)
	if len(interfaces.NetworkInterfaces) > 0 {
		t.Errorf("interfaces left: %+v", interfaces.NetworkInterfaces)
	}
}

func TestClientTokenCreatesOnce(t *testing.T) {
	f := start(t, aws.Seed{})
	token := func(in *ec2.RunInstancesInput) { in.ClientToken = new("token") }
	id := f.run(t, "one", token)
	again, err := f.ec2.RunInstances(t.Context(), f.order("one", token))
	cloudtest.Must(t, err)
	if *again.Instances[0].InstanceId != id {
		t.Errorf("the token created %s and %s", id, *again.Instances[0].InstanceId)
	}
	_, err = f.ec2.RunInstances(t.Context(), f.order("other", token))
	expect(t, "other parameters", err, "IdempotentParameterMismatch")
	_, err = f.ec2.RunInstances(t.Context(), f.order("one", func(in *ec2.RunInstancesInput) { in.ClientToken = new(strings.Repeat("x", 65)) }))
	expect(t, "a long token", err, "InvalidParameterValue")
}

func TestRunInstancesRefuses(t *testing.T) {
	f := start(t, aws.Seed{VCPUs: 8, FullZones: []string{"eu-central-1b"}})
	tagged := func(key string) func(*ec2.RunInstancesInput) {
		return func(in *ec2.RunInstancesInput) {
			in.TagSpecifications[0].Tags = append(in.TagSpecifications[0].Tags, types.Tag{Key: &key, Value: new("x")})
		}
	}
	full, err := f.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: []types.Filter{where("tag:Name", "nodes-1")}})
	cloudtest.Must(t, err)
	arm, err := f.ec2.DescribeImages(t.Context(), &ec2.DescribeImagesInput{Filters: []types.Filter{where("architecture", "arm64")}})
	cloudtest.Must(t, err)
	for want, changes := range map[string][]func(*ec2.RunInstancesInput){
		"DryRunOperation":        {func(in *ec2.RunInstancesInput) { in.DryRun = new(true) }},
		"InvalidAMIID.NotFound":  {func(in *ec2.RunInstancesInput) { in.ImageId = new("ami-0123456789abcdef0") }},
		"InvalidAMIID.Malformed": {func(in *ec2.RunInstancesInput) { in.ImageId = new("talos") }},
		"InvalidParameterValue": {
			func(in *ec2.RunInstancesInput) { in.InstanceType = "m5.enormous" },
			func(in *ec2.RunInstancesInput) { in.ImageId = arm.Images[0].ImageId },
			func(in *ec2.RunInstancesInput) {
				in.UserData = new(base64.StdEncoding.EncodeToString(make([]byte, 16385)))
			},
			func(in *ec2.RunInstancesInput) { in.UserData = new("no base64!") },
			func(in *ec2.RunInstancesInput) {
				in.IamInstanceProfile = &types.IamInstanceProfileSpecification{Name: new("none")}
			},
			tagged("aws:reserved"), tagged("Name"), tagged(strings.Repeat("x", 129)),
		},
		"Unsupported":                  {func(in *ec2.RunInstancesInput) { in.InstanceType = types.InstanceTypeM7iLarge }},
		"InvalidSubnetID.NotFound":     {func(in *ec2.RunInstancesInput) { in.SubnetId = new("subnet-0123456789abcdef0") }},
		"InvalidGroup.NotFound":        {func(in *ec2.RunInstancesInput) { in.SecurityGroupIds = []string{"sg-0123456789abcdef0"} }},
		"InvalidKeyPair.NotFound":      {func(in *ec2.RunInstancesInput) { in.KeyName = new("none") }},
		"InsufficientInstanceCapacity": {func(in *ec2.RunInstancesInput) { in.SubnetId = full.Subnets[0].SubnetId }},
		"VcpuLimitExceeded":            {func(in *ec2.RunInstancesInput) { in.InstanceType = types.InstanceTypeM54xlarge }},
		"InvalidBlockDeviceMapping": {func(in *ec2.RunInstancesInput) {
			in.BlockDeviceMappings = []types.BlockDeviceMapping{{DeviceName: new("/dev/xvda"), Ebs: &types.EbsBlockDevice{VolumeSize: new(int32(1))}}}
		}},
		"TagLimitExceeded": {func(in *ec2.RunInstancesInput) {
			for i := range 50 {
				tagged("key-" + string(rune('A'+i)))(in)
			}
		}},
	} {
		for _, change := range changes {
			_, err := f.ec2.RunInstances(t.Context(), f.order("refused", change))
			expect(t, want, err, want)
		}
	}
	all, err := f.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
	cloudtest.Must(t, err)
	if len(all.Reservations) > 0 {
		t.Errorf("a refused call created %d", len(all.Reservations))
	}
}

func TestSubnetRunsOutOfAddresses(t *testing.T) {
	f := start(t, aws.Seed{CIDR: "10.9.0.0/24"}) // 16 subnets of 16 addresses
	_, err := f.ec2.RunInstances(t.Context(), f.order("many", func(in *ec2.RunInstancesInput) { in.MinCount, in.MaxCount = new(int32(12)), new(int32(12)) }))
	expect(t, "12 of 11 addresses", err, "InsufficientFreeAddressesInSubnet")
	f.run(t, "some", func(in *ec2.RunInstancesInput) { in.MinCount, in.MaxCount = new(int32(11)), new(int32(11)) })
	out, err := f.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{SubnetIds: []string{f.subnet}})
	cloudtest.Must(t, err)
	if free := *out.Subnets[0].AvailableIpAddressCount; free != 0 {
		t.Errorf("%d addresses are free", free)
	}
}

func TestListsAreFilteredAndPaged(t *testing.T) {
	f := start(t, aws.Seed{})
	for _, name := range []string{"a-1", "a-2", "a-3", "b-1", "b-2", "b-3"} {
		f.run(t, name)
	}
	var found []string
	pages := ec2.NewDescribeInstancesPaginator(f.ec2, &ec2.DescribeInstancesInput{
		MaxResults: new(int32(5)), Filters: []types.Filter{where("tag:Name", "a-*", "b-?"), where("instance-state-name", "running")},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		cloudtest.Must(t, err)
		for _, r := range page.Reservations {
			found = append(found, *r.Instances[0].InstanceId)
		}
	}
	if slices.Sort(found); len(slices.Compact(found)) != 6 {
		t.Errorf("the pages have %v", found)
	}
	for what, in := range map[string]*ec2.DescribeInstancesInput{
		"unknown filter": {Filters: []types.Filter{where("colour", "blue")}}, "small page": {MaxResults: new(int32(2))},
		"other token": {MaxResults: new(int32(5)), NextToken: new("abc")},
	} {
		_, err := f.ec2.DescribeInstances(t.Context(), in)
		expect(t, what, err, "InvalidParameterValue")
	}
	_, err := f.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{"i-0123456789abcdef0"}})
	expect(t, "unknown instance", err, "InvalidInstanceID.NotFound")
	_, err = f.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{"machine"}})
	expect(t, "no instance", err, "InvalidInstanceID.Malformed")
}

func TestEverythingSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	f := startIn(t, dir, aws.Seed{})
	id := f.run(t, "one")
	before := f.await(t, id, types.InstanceStateNameRunning)
	cloudtest.Must(t, f.API.Stop())
	again := startIn(t, dir, aws.Seed{})
	after := again.await(t, id, types.InstanceStateNameRunning)
	if *after.PrivateIpAddress != *before.PrivateIpAddress || again.key != f.key {
		t.Errorf("after the restart: %s with key %s, before %s with %s", *after.PrivateIpAddress, again.key, *before.PrivateIpAddress, f.key)
	}
}
