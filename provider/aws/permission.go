// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// actions returns every action that machines and load balancers need. The policy in the
// guide has the same, and those of the preflight alone.
func actions() []string {
	return []string{
		"ec2:AuthorizeSecurityGroupIngress", "ec2:CreateSecurityGroup", "ec2:CreateTags", "ec2:DeleteNetworkInterface", "ec2:DeleteSecurityGroup", "ec2:DeleteVolume",
		"ec2:DescribeImages", "ec2:DescribeInstanceStatus", "ec2:DescribeInstanceTypeOfferings", "ec2:DescribeInstanceTypes", "ec2:DescribeInstances", "ec2:DescribeNatGateways",
		"ec2:DescribeNetworkInterfaces", "ec2:DescribeRouteTables", "ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVolumes",
		"ec2:RevokeSecurityGroupIngress", "ec2:RunInstances", "ec2:TerminateInstances",
		"elasticloadbalancing:AddTags", "elasticloadbalancing:CreateListener", "elasticloadbalancing:CreateLoadBalancer", "elasticloadbalancing:CreateTargetGroup",
		"elasticloadbalancing:DeleteListener", "elasticloadbalancing:DeleteLoadBalancer", "elasticloadbalancing:DeleteTargetGroup", "elasticloadbalancing:DeregisterTargets",
		"elasticloadbalancing:DescribeListeners", "elasticloadbalancing:DescribeLoadBalancerAttributes", "elasticloadbalancing:DescribeLoadBalancers",
		"elasticloadbalancing:DescribeTags", "elasticloadbalancing:DescribeTargetGroupAttributes", "elasticloadbalancing:DescribeTargetGroups",
		"elasticloadbalancing:DescribeTargetHealth", "elasticloadbalancing:ModifyLoadBalancerAttributes", "elasticloadbalancing:ModifyTargetGroup",
		"elasticloadbalancing:ModifyTargetGroupAttributes", "elasticloadbalancing:RegisterTargets",
	}
}

// permissions tries what can be tried without an effect, and asks IAM about the rest.
func (p preflight) permissions(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	tries := map[string]func(context.Context) error{
		"ec2:DescribeInstances": func(ctx context.Context) error {
			_, err := p.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{MaxResults: new(int32(5))})
			return err
		},
		"elasticloadbalancing:DescribeLoadBalancers": func(ctx context.Context) error {
			_, err := p.elb.DescribeLoadBalancers(ctx, &elb.DescribeLoadBalancersInput{PageSize: new(int32(1))})
			return err
		},
		"elasticloadbalancing:DescribeTargetGroups": func(ctx context.Context) error {
			_, err := p.elb.DescribeTargetGroups(ctx, &elb.DescribeTargetGroupsInput{PageSize: new(int32(1))})
			return err
		},
	}
	if len(specs) > 0 {
		tries["ec2:RunInstances"] = func(ctx context.Context) error { return p.dryRun(ctx, specs[0]) }
	}
	found, err := check.Each(sortedKeys(tries), func(action string) (provider.Finding, error) {
		return p.tried(action, tries[action](ctx))
	})
	if err != nil {
		return nil, err
	}
	simulated, err := p.simulated(ctx)
	return append(found, simulated), err
}

// tried is the finding about one action.
func (p preflight) tried(action string, err error) (provider.Finding, error) {
	f, failed := check.Verdict("permission "+action, within("", err))
	if f.Verdict == provider.Unknown {
		f.Verdict, f.Hint = provider.Refused, "grant "+action+" to the credentials"
	}
	return f, failed
}

// dryRun asks whether the machine could be created. What stands against it beside
// permissions is reported by other checks.
func (p preflight) dryRun(ctx context.Context, s provider.MachineSpec) error {
	m := machines{p.platform}
	a, err := m.resolve(ctx, s, 0)
	if err != nil {
		return cloud.Unreported(within("", err))
	}
	if s.Owner.ID == "" {
		s.Owner.ID = "preflight"
	}
	request, err := m.request("", s, a)
	if err != nil {
		return err
	}
	request.DryRun = new(true)
	out, err := p.ec2.RunInstances(ctx, request)
	if err == nil {
		return p.undo(ctx, out)
	}
	if coded(err, "DryRunOperation") || provider.KindOf(apiError("", err)) == provider.Exhausted {
		return nil
	}
	return err
}

// undo terminates what an implementation of the API has created in spite of DryRun.
func (p preflight) undo(ctx context.Context, out *ec2.RunInstancesOutput) error {
	for _, i := range out.Instances {
		if _, err := p.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{value(i.InstanceId)}}); err != nil {
			return fmt.Errorf("the endpoint ignores DryRun and created instance %s, which could not be terminated: %w", value(i.InstanceId), err)
		}
	}
	return nil
}

// simulated asks IAM about all actions. Where that is not allowed, or the caller is none of
// IAM, nothing is known.
func (p preflight) simulated(ctx context.Context) (provider.Finding, error) {
	f := provider.Finding{Check: "permissions", Verdict: provider.Unknown}
	who, err := p.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return f, err
	}
	denied, err := p.denied(ctx, principal(value(who.Arn)))
	switch {
	case err != nil && ctx.Err() != nil:
		return f, err
	case err != nil:
		f.Message, f.Hint = "IAM does not report which actions are granted", "grant iam:SimulatePrincipalPolicy, or compare the policy with docs/getting-started/aws.md"
	case len(denied) > 0:
		f.Verdict, f.Message = provider.Refused, "not granted: "+strings.Join(denied, ", ")
		f.Hint = "grant the actions on all resources; if the policy limits resources, leave out iam:SimulatePrincipalPolicy, which asks for all of them"
	default:
		f.Verdict = provider.Passed
	}
	return f, nil
}

// denied returns the actions that the policies of a principal do not allow.
func (p preflight) denied(ctx context.Context, arn string) (all []string, err error) {
	in := &iam.SimulatePrincipalPolicyInput{PolicySourceArn: &arn, ActionNames: actions()}
	for more := true; more; more = value(in.Marker) != "" {
		page, err := p.iam.SimulatePrincipalPolicy(ctx, in)
		if err != nil {
			return nil, err
		}
		in.Marker = page.Marker
		for _, r := range page.EvaluationResults {
			if r.EvalDecision != types.PolicyEvaluationDecisionTypeAllowed {
				all = append(all, value(r.EvalActionName))
			}
		}
	}
	slices.Sort(all)
	return all, nil
}

// principal is the user or role whose policies count: of a session, its role.
func principal(arn string) string {
	parts := strings.Split(arn, ":")
	if len(parts) != 6 || parts[2] != "sts" {
		return arn
	}
	role := strings.Split(parts[5], "/")
	if len(role) < 2 || role[0] != "assumed-role" {
		return arn
	}
	return strings.Join([]string{parts[0], parts[1], "iam", "", parts[4], "role/" + role[1]}, ":")
}
