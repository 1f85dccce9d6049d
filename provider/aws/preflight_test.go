// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	sim "github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

// TestPreflightRefusesWhatWouldFail: the sound account passes every check, and each defect
// is refused with what to do.
func TestPreflightRefusesWhatWouldFail(t *testing.T) {
	f := newFixture(t, sim.Seed{VCPUs: 16})
	other := newFixture(t, sim.Seed{NoWayOut: true, Policy: policyWithout(t, "ec2:RunInstances", "elasticloadbalancing:CreateLoadBalancer", "servicequotas:GetServiceQuota")})
	providertest.Preflights(t, Provider(), talosVersion, map[string]providertest.Preflight{
		"a sound account":            {Sound: f.config()},
		"another subnet":             {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.AWS.SubnetIDs = []string{"subnet-0123456789abcdef0"} }, Want: map[string]provider.Verdict{"subnets": provider.Refused}, Says: "subnet-0123456789abcdef0"},
		"no subnet":                  {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.AWS.SubnetIDs = nil }, Want: map[string]provider.Verdict{"subnets": provider.Refused}, Says: "subnet-0a0a0a0a0a0a0a0a0"},
		"no security group":          {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.AWS.SecurityGroupIDs = nil }, Want: map[string]provider.Verdict{"security groups": provider.Refused}, Says: "sg-0a0a0a0a0a0a0a0a0"},
		"another security group":     {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.AWS.SecurityGroupIDs = []string{"sg-0123456789abcdef0"} }, Want: map[string]provider.Verdict{"security groups": provider.Refused, "permission ec2:RunInstances": provider.Refused}, Says: "sg-0123456789abcdef0"},
		"another type":               {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.AWS.InstanceType = "m99.large" }, Want: map[string]provider.Verdict{"instance type": provider.Refused}, Says: "m99.large"},
		"a type that is too small":   {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.AWS.InstanceType = "m5.large" }, Want: map[string]provider.Verdict{"instance type": provider.Refused}, Says: "m5.large has 2 vCPUs"},
		"an image that is not there": {Sound: f.config(), Machine: func(s *provider.MachineSpec) { s.Image = "ami-0123456789abcdef0" }, Want: map[string]provider.Verdict{"image": provider.Refused}, Says: "ami-0123456789abcdef0"},
		"another schematic":          {Sound: f.config(), Machine: func(s *provider.MachineSpec) { s.Schematic = strings.Repeat("a", 64) }, Want: map[string]provider.Verdict{"image": provider.Unknown}, Says: "without extensions"},
		"needed extensions": {Sound: f.config(), Machine: func(s *provider.MachineSpec) {
			s.Schematic, s.Extensions = strings.Repeat("a", 64), []string{"iscsi-tools"}
		}, Want: map[string]provider.Verdict{"image": provider.Refused}, Says: "the addons need iscsi-tools"},
		"more than the quota": {Sound: f.config(), Machine: func(s *provider.MachineSpec) { s.CPU, s.MemoryMB = 8, 16384 }, Want: map[string]provider.Verdict{"vCPU quota": provider.Refused}, Says: "24 vCPUs are requested"},
		"an unknown profile":  {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.AWS.IAMInstanceProfile = "nodes" }, Want: map[string]provider.Verdict{"instance profile": provider.Refused, "permission ec2:RunInstances": provider.Refused}, Says: "nodes"},
		"a poor policy":       {Sound: other.config(), Want: map[string]provider.Verdict{"permission ec2:RunInstances": provider.Refused, "permissions": provider.Refused, "subnet ": provider.Unknown, "vCPU quota": provider.Unknown}, Says: "elasticloadbalancing:CreateLoadBalancer"},
	})
}

// documented is the policy of the guide, which the simulated account enforces.
func documented(t *testing.T) (actions []string) {
	t.Helper()
	content, err := os.ReadFile("../../internal/sim/aws/policy.json")
	if err != nil {
		t.Fatal(err)
	}
	var policy struct{ Statement []struct{ Action []string } }
	if err := json.Unmarshal(content, &policy); err != nil {
		t.Fatal(err)
	}
	for _, s := range policy.Statement {
		actions = append(actions, s.Action...)
	}
	return actions
}

func policyWithout(t *testing.T, denied ...string) json.RawMessage {
	t.Helper()
	all := slices.DeleteFunc(documented(t), func(a string) bool { return slices.Contains(denied, a) })
	content, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": []any{map[string]any{"Effect": "Allow", "Action": all, "Resource": "*"}}})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestTheDocumentedPolicyHasWhatIsUsed and nothing else, but for what the preflight and
// roles need.
func TestTheDocumentedPolicyHasWhatIsUsed(t *testing.T) {
	further := []string{"iam:GetInstanceProfile", "iam:PassRole", "iam:SimulatePrincipalPolicy", "pricing:GetProducts", "servicequotas:GetServiceQuota", "sts:AssumeRole"}
	if diff := cmp.Diff(slices.Sorted(slices.Values(append(actions(), further...))), slices.Sorted(slices.Values(documented(t)))); diff != "" {
		t.Error(diff)
	}
}
