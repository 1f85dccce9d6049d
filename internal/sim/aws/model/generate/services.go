// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

// service is where the description of a service is, and which operations are simulated.
type service struct {
	path       string
	operations []string
}

func services() map[string]service {
	return map[string]service{
		"ec2": {"ec2/2016-11-15", []string{
			"AllocateAddress", "AssociateAddress", "AuthorizeSecurityGroupEgress", "AuthorizeSecurityGroupIngress",
			"CreateNetworkInterface", "CreateSecurityGroup", "CreateTags", "CreateVolume",
			"DeleteNetworkInterface", "DeleteSecurityGroup", "DeleteTags", "DeleteVolume",
			"DescribeAddresses", "DescribeAvailabilityZones", "DescribeImages", "DescribeInstanceAttribute", "DescribeInstanceStatus",
			"DescribeInstanceTypeOfferings", "DescribeInstanceTypes", "DescribeInstances", "DescribeInternetGateways", "DescribeKeyPairs",
			"DescribeNatGateways", "DescribeNetworkInterfaces", "DescribeRegions", "DescribeRouteTables", "DescribeSecurityGroupRules",
			"DescribeSecurityGroups", "DescribeSubnets", "DescribeTags", "DescribeVolumes", "DescribeVpcs",
			"DisassociateAddress", "ModifyInstanceAttribute", "ModifyInstanceMetadataOptions",
			"RebootInstances", "ReleaseAddress", "RevokeSecurityGroupEgress", "RevokeSecurityGroupIngress", "RunInstances",
			"StartInstances", "StopInstances", "TerminateInstances",
		}},
		"elasticloadbalancing": {"elasticloadbalancingv2/2015-12-01", []string{
			"AddTags", "CreateListener", "CreateLoadBalancer", "CreateTargetGroup",
			"DeleteListener", "DeleteLoadBalancer", "DeleteTargetGroup", "DeregisterTargets",
			"DescribeListeners", "DescribeLoadBalancerAttributes", "DescribeLoadBalancers", "DescribeTags", "DescribeTargetGroupAttributes",
			"DescribeTargetGroups", "DescribeTargetHealth",
			"ModifyListener", "ModifyLoadBalancerAttributes", "ModifyTargetGroup", "ModifyTargetGroupAttributes",
			"RegisterTargets", "RemoveTags", "SetSecurityGroups",
		}},
		"iam":           {"iam/2010-05-08", []string{"GetInstanceProfile", "GetRole", "GetUser", "SimulatePrincipalPolicy"}},
		"pricing":       {"pricing/2017-10-15", []string{"GetProducts"}},
		"servicequotas": {"service-quotas/2019-06-24", []string{"GetServiceQuota", "ListServiceQuotas"}},
		"sts":           {"sts/2011-06-15", []string{"AssumeRole", "AssumeRoleWithWebIdentity", "GetCallerIdentity"}},
	}
}
