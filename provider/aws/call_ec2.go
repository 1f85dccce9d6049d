// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import "github.com/aws/aws-sdk-go-v2/service/ec2"

// ec2Calls are the operations of EC2 that the driver uses.
type ec2Calls struct {
	AuthorizeSecurityGroupIngress call[ec2.AuthorizeSecurityGroupIngressInput, ec2.AuthorizeSecurityGroupIngressOutput, ec2.Options]
	CreateSecurityGroup           call[ec2.CreateSecurityGroupInput, ec2.CreateSecurityGroupOutput, ec2.Options]
	DeleteNetworkInterface        call[ec2.DeleteNetworkInterfaceInput, ec2.DeleteNetworkInterfaceOutput, ec2.Options]
	DeleteSecurityGroup           call[ec2.DeleteSecurityGroupInput, ec2.DeleteSecurityGroupOutput, ec2.Options]
	DeleteVolume                  call[ec2.DeleteVolumeInput, ec2.DeleteVolumeOutput, ec2.Options]
	DescribeImages                call[ec2.DescribeImagesInput, ec2.DescribeImagesOutput, ec2.Options]
	DescribeInstanceAttribute     call[ec2.DescribeInstanceAttributeInput, ec2.DescribeInstanceAttributeOutput, ec2.Options]
	DescribeInstanceStatus        call[ec2.DescribeInstanceStatusInput, ec2.DescribeInstanceStatusOutput, ec2.Options]
	DescribeInstanceTypeOfferings call[ec2.DescribeInstanceTypeOfferingsInput, ec2.DescribeInstanceTypeOfferingsOutput, ec2.Options]
	DescribeInstanceTypes         call[ec2.DescribeInstanceTypesInput, ec2.DescribeInstanceTypesOutput, ec2.Options]
	DescribeInstances             call[ec2.DescribeInstancesInput, ec2.DescribeInstancesOutput, ec2.Options]
	DescribeNatGateways           call[ec2.DescribeNatGatewaysInput, ec2.DescribeNatGatewaysOutput, ec2.Options]
	DescribeNetworkInterfaces     call[ec2.DescribeNetworkInterfacesInput, ec2.DescribeNetworkInterfacesOutput, ec2.Options]
	DescribeRouteTables           call[ec2.DescribeRouteTablesInput, ec2.DescribeRouteTablesOutput, ec2.Options]
	DescribeSecurityGroups        call[ec2.DescribeSecurityGroupsInput, ec2.DescribeSecurityGroupsOutput, ec2.Options]
	DescribeSubnets               call[ec2.DescribeSubnetsInput, ec2.DescribeSubnetsOutput, ec2.Options]
	DescribeVolumes               call[ec2.DescribeVolumesInput, ec2.DescribeVolumesOutput, ec2.Options]
	RevokeSecurityGroupIngress    call[ec2.RevokeSecurityGroupIngressInput, ec2.RevokeSecurityGroupIngressOutput, ec2.Options]
	RunInstances                  call[ec2.RunInstancesInput, ec2.RunInstancesOutput, ec2.Options]
	TerminateInstances            call[ec2.TerminateInstancesInput, ec2.TerminateInstancesOutput, ec2.Options]
}

func ec2CallsOf(c *ec2.Client) ec2Calls {
	return ec2Calls{
		AuthorizeSecurityGroupIngress: c.AuthorizeSecurityGroupIngress,
		CreateSecurityGroup:           c.CreateSecurityGroup,
		DeleteNetworkInterface:        c.DeleteNetworkInterface,
		DeleteSecurityGroup:           c.DeleteSecurityGroup,
		DeleteVolume:                  c.DeleteVolume,
		DescribeImages:                c.DescribeImages,
		DescribeInstanceAttribute:     c.DescribeInstanceAttribute,
		DescribeInstanceStatus:        c.DescribeInstanceStatus,
		DescribeInstanceTypeOfferings: c.DescribeInstanceTypeOfferings,
		DescribeInstanceTypes:         c.DescribeInstanceTypes,
		DescribeInstances:             c.DescribeInstances,
		DescribeNatGateways:           c.DescribeNatGateways,
		DescribeNetworkInterfaces:     c.DescribeNetworkInterfaces,
		DescribeRouteTables:           c.DescribeRouteTables,
		DescribeSecurityGroups:        c.DescribeSecurityGroups,
		DescribeSubnets:               c.DescribeSubnets,
		DescribeVolumes:               c.DescribeVolumes,
		RevokeSecurityGroupIngress:    c.RevokeSecurityGroupIngress,
		RunInstances:                  c.RunInstances,
		TerminateInstances:            c.TerminateInstances,
	}
}
