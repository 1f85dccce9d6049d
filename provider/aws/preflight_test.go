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

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/provider"
)

// cluster are machines of a small cluster.
func cluster() (all []provider.MachineSpec) {
	for _, name := range []string{"mgmt-cp-0", "mgmt-cp-1", "mgmt-w-0"} {
		all = append(all, provider.MachineSpec{
			MachineRef: provider.MachineRef{Name: name, Owner: provider.Owner{ID: name, ClusterID: "c", Cluster: "mgmt"}},
			Role:       v1alpha1.RoleWorker, CPU: 4, MemoryMB: 16384, DiskGB: 50, TalosVersion: talosVersion,
		})
	}
	return all
}

// TestPreflightRefusesWhatWouldFail: the sound account passes every check, and each defect
// is refused with what to do.
func TestPreflightRefusesWhatWouldFail(t *testing.T) {
	f := newFixture(t, sim.Seed{VCPUs: 16})
	other := newFixture(t, sim.Seed{NoWayOut: true, Policy: policyWithout(t, "ec2:RunInstances", "elasticloadbalancing:CreateLoadBalancer", "servicequotas:GetServiceQuota")})
	for name, c := range map[string]struct {
		*fixture
		config  func(*provider.Config)
		machine func(*provider.MachineSpec)
		want    map[string]provider.Verdict // by the beginning of a check
		says    string
	}{
		"a sound account":            {fixture: f},
		"another subnet":             {fixture: f, config: func(c *provider.Config) { c.Spec.AWS.SubnetIDs = []string{"subnet-0123456789abcdef0"} }, want: map[string]provider.Verdict{"subnets": provider.Refused}, says: "subnet-0123456789abcdef0"},
		"no subnet":                  {fixture: f, config: func(c *provider.Config) { c.Spec.AWS.SubnetIDs = nil }, want: map[string]provider.Verdict{"subnets": provider.Refused}, says: "subnet-0a0a0a0a0a0a0a0a0"},
		"no security group":          {fixture: f, config: func(c *provider.Config) { c.Spec.AWS.SecurityGroupIDs = nil }, want: map[string]provider.Verdict{"security groups": provider.Refused}, says: "sg-0a0a0a0a0a0a0a0a0"},
		"another security group":     {fixture: f, config: func(c *provider.Config) { c.Spec.AWS.SecurityGroupIDs = []string{"sg-0123456789abcdef0"} }, want: map[string]provider.Verdict{"security groups": provider.Refused, "permission ec2:RunInstances": provider.Refused}, says: "sg-0123456789abcdef0"},
		"another type":               {fixture: f, config: func(c *provider.Config) { c.Spec.AWS.InstanceType = "m99.large" }, want: map[string]provider.Verdict{"instance type": provider.Refused}, says: "m99.large"},
		"a type that is too small":   {fixture: f, config: func(c *provider.Config) { c.Spec.AWS.InstanceType = "m5.large" }, want: map[string]provider.Verdict{"instance type": provider.Refused}, says: "m5.large has 2 vCPUs"},
		"an image that is not there": {fixture: f, machine: func(s *provider.MachineSpec) { s.Image = "ami-0123456789abcdef0" }, want: map[string]provider.Verdict{"image": provider.Refused}, says: "ami-0123456789abcdef0"},
		"another schematic":          {fixture: f, machine: func(s *provider.MachineSpec) { s.Schematic = strings.Repeat("a", 64) }, want: map[string]provider.Verdict{"image": provider.Unknown}, says: "without extensions"},
		"needed extensions": {fixture: f, machine: func(s *provider.MachineSpec) {
			s.Schematic, s.Extensions = strings.Repeat("a", 64), []string{"iscsi-tools"}
		}, want: map[string]provider.Verdict{"image": provider.Refused}, says: "the addons need iscsi-tools"},
		"more than the quota": {fixture: f, machine: func(s *provider.MachineSpec) { s.CPU, s.MemoryMB = 8, 16384 }, want: map[string]provider.Verdict{"vCPU quota": provider.Refused}, says: "24 vCPUs are asked for"},
		"an unknown profile":  {fixture: f, config: func(c *provider.Config) { c.Spec.AWS.IAMInstanceProfile = "nodes" }, want: map[string]provider.Verdict{"instance profile": provider.Refused, "permission ec2:RunInstances": provider.Refused}, says: "nodes"},
		"a poor policy":       {fixture: other, want: map[string]provider.Verdict{"permission ec2:RunInstances": provider.Refused, "permissions": provider.Refused, "subnet ": provider.Unknown, "vCPU quota": provider.Unknown}, says: "elasticloadbalancing:CreateLoadBalancer"},
	} {
		t.Run(name, func(t *testing.T) {
			specs := cluster()
			for i := range specs {
				if c.machine != nil {
					c.machine(&specs[i])
				}
			}
			if c.config == nil {
				c.config = func(*provider.Config) {}
			}
			found, err := c.connected(t, c.config).Preflight.Check(t.Context(), specs)
			if err != nil {
				t.Fatal(err)
			}
			got, text := map[string]provider.Verdict{}, ""
			for _, f := range found {
				text += f.Check + ": " + f.Message + "; " + f.Hint + "\n"
				if f.Verdict == provider.Passed {
					continue
				}
				for _, about := range sortedKeys(c.want) {
					if strings.HasPrefix(f.Check, about) {
						f.Check = about
					}
				}
				got[f.Check] = f.Verdict
				if f.Hint == "" || f.Message == "" {
					t.Errorf("%s has no hint or no message: %+v", f.Check, f)
				}
			}
			want := c.want
			if want == nil {
				want = map[string]provider.Verdict{}
			}
			if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(text, c.says) {
				t.Errorf("%s\n%s", diff, text)
			}
		})
	}
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
	further := []string{"iam:GetInstanceProfile", "iam:PassRole", "iam:SimulatePrincipalPolicy", "servicequotas:GetServiceQuota", "sts:AssumeRole"}
	if diff := cmp.Diff(slices.Sorted(slices.Values(append(actions(), further...))), slices.Sorted(slices.Values(documented(t)))); diff != "" {
		t.Error(diff)
	}
}
