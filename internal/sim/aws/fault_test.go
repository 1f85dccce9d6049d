// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"encoding/base64"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

func TestFaultsRefuseInTheWordsOfEachService(t *testing.T) {
	f := start(t, aws.Seed{})
	calls := map[string]func() error{
		"ec2": func() error { _, err := f.ec2.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{}); return err },
		"elb": func() error {
			_, err := f.elb.DescribeLoadBalancers(t.Context(), &elb.DescribeLoadBalancersInput{})
			return err
		},
		"sts": func() error {
			_, err := f.sts.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
			return err
		},
		"run": func() error { _, err := f.ec2.RunInstances(t.Context(), f.order("one")); return err },
	}
	for kind, want := range map[string]map[string]string{
		"throttle":    {"ec2": "RequestLimitExceeded", "elb": "Throttling", "sts": "Throttling", "run": "RequestLimitExceeded"},
		"deny":        {"ec2": "UnauthorizedOperation", "elb": "AccessDenied", "sts": "AccessDenied", "run": "UnauthorizedOperation"},
		"tokenExpiry": {"ec2": "RequestExpired", "elb": "ExpiredToken", "sts": "ExpiredToken", "run": "RequestExpired"},
		"quota":       {"ec2": "", "elb": "", "sts": "", "run": "VcpuLimitExceeded"},
		"noCapacity":  {"ec2": "", "elb": "", "sts": "", "run": "InsufficientInstanceCapacity"},
	} {
		f.Plan(t, "- {kind: "+kind+"}")
		for call, code := range want {
			expect(t, kind+" of "+call, calls[call](), code)
		}
	}
}

func TestFailedTasksAndDeaths(t *testing.T) {
	f := start(t, aws.Seed{})
	f.Plan(t, "- {kind: failedTask, verb: create, machine: broken}\n- {kind: failedTask, verb: delete, machine: kept}")
	out, err := f.ec2.RunInstances(t.Context(), f.order("broken"))
	cloudtest.Must(t, err)
	broken := f.await(t, *out.Instances[0].InstanceId, types.InstanceStateNameTerminated)
	if *broken.StateReason.Code != "Server.InternalError" {
		t.Errorf("a failed launch has the reason %s", *broken.StateReason.Code)
	}
	kept := f.run(t, "kept")
	_, err = f.ec2.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{kept}})
	cloudtest.Must(t, err)
	if i := f.await(t, kept, types.InstanceStateNameRunning); i.StateReason != nil {
		t.Errorf("a failed deletion left %+v", i.StateReason)
	}
}

func TestReadsOfThePastAndOfAnotherAccount(t *testing.T) {
	f := start(t, aws.Seed{})
	f.Plan(t, "- {kind: staleList, for: 4m}")
	names := func() (out []string) {
		all, err := f.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
		cloudtest.Must(t, err)
		for _, r := range all.Reservations {
			out = append(out, *r.Instances[0].Tags[0].Value)
		}
		return out
	}
	if got := names(); len(got) > 0 {
		t.Fatalf("there is %v", got)
	}
	_, err := f.ec2.RunInstances(t.Context(), f.order("new"))
	cloudtest.Must(t, err)
	if got := names(); len(got) > 0 {
		t.Errorf("a read of the past shows %v", got)
	}
	f.Plan(t, "- {kind: secondPlatform}")
	f.dial()
	who, err := f.sts.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	cloudtest.Must(t, err)
	if got := names(); *who.Account == "111122223333" || len(got) > 0 {
		t.Errorf("another platform is account %s with %v", *who.Account, got)
	}
	_, err = f.ec2.RunInstances(t.Context(), f.order("new"))
	expect(t, "a create on another platform", err, "InsufficientInstanceCapacity")
	f.Faults.Replace(fault.Plan{})
	f.dial()
	if got := names(); !slices.Equal(got, []string{"new"}) {
		t.Errorf("afterwards there is %v", got)
	}
}

func TestCopiesAndConflicts(t *testing.T) {
	f := start(t, aws.Seed{})
	f.Plan(t, "- {kind: clone, machine: one}\n- {kind: conflictingMachine, machine: taken}")
	f.run(t, "one", owned("o1"))
	for name, want := range map[string]int{"one*": 2, "one-clone": 1, "taken": 1} {
		cloudtest.Until(t, name, func() bool {
			all, err := f.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{Filters: []types.Filter{where("tag:Name", name)}})
			cloudtest.Must(t, err)
			return len(all.Reservations) == want
		})
	}
	if left := f.Auditor.Left(); len(left) != 2 { // the machine and its disk
		t.Errorf("the auditor counts copies: %+v", left)
	}
}

func TestDrainRestartsTheMachineOfAnInstanceThatRuns(t *testing.T) {
	f := start(t, aws.Seed{})
	id := f.run(t, "one")
	f.Plan(t, "- {kind: drain, machine: one}")
	cloudtest.Until(t, "it starts again", func() bool { return f.Boots.Load() == 2 })
	if i := f.await(t, id, types.InstanceStateNameRunning); i.StateReason != nil {
		t.Errorf("the instance has the reason %s", *i.StateReason.Code)
	}
}

// owned puts an owner's tags on an instance and its volumes.
func owned(owner string) func(*ec2.RunInstancesInput) {
	return func(in *ec2.RunInstancesInput) {
		tags := []types.Tag{
			{Key: new(audit.TagOwnerID), Value: &owner}, {Key: new(audit.TagClusterID), Value: new("c1")}, {Key: new(audit.TagCluster), Value: new("audited")},
		}
		in.TagSpecifications[0].Tags = append(in.TagSpecifications[0].Tags, tags...)
		in.TagSpecifications = append(in.TagSpecifications, types.TagSpecification{ResourceType: types.ResourceTypeVolume, Tags: tags})
	}
}

func TestAuditorSeesObjectsAndWriters(t *testing.T) {
	f := start(t, aws.Seed{})
	as := func(agent string) *ec2.Client {
		c := f.config(f.key, f.secret, "")
		c.APIOptions = append(c.APIOptions, middleware.AddUserAgentKey(agent))
		return ec2.NewFromConfig(c)
	}
	violations := func(want ...audit.Invariant) {
		t.Helper()
		all, err := audit.Violations(f.Dir)
		cloudtest.Must(t, err)
		var got []audit.Invariant
		for _, v := range all {
			got = append(got, v.Invariant)
		}
		if !slices.Equal(got, want) {
			t.Errorf("violations are %v, want %v", all, want)
		}
	}
	create := func(agent, name, owner string, changes ...func(*ec2.RunInstancesInput)) string {
		t.Helper()
		out, err := as(agent).RunInstances(t.Context(), f.order(name, append(changes, owned(owner))...))
		cloudtest.Must(t, err)
		return *out.Instances[0].InstanceId
	}
	const key = "-----BEGIN EC PRIVATE KEY-----"
	with := func(userData string) func(*ec2.RunInstancesInput) {
		return func(in *ec2.RunInstancesInput) {
			in.UserData = new(base64.StdEncoding.EncodeToString([]byte(userData)))
		}
	}
	id := create("first", "one", "o1", with("machine:\n  ca: "+key))
	if left := f.Auditor.Left(); len(left) != 2 || left[0].Resource != fault.Disk || left[1].Name != "one" {
		t.Errorf("the auditor sees %+v", left)
	}
	violations()
	create("second", "two", "o1")
	violations(audit.OneOwner)
	_, err := as("first").TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	cloudtest.Must(t, err)
	violations(audit.OneOwner, audit.OneWriter)
	create("second", "three", "o3")
	create("second", "four", "o4")
	violations(audit.OneOwner, audit.OneWriter, audit.WithinDesired)
	_, err = as("second").CreateTags(t.Context(), &ec2.CreateTagsInput{Resources: []string{id}, Tags: []types.Tag{{Key: new("key"), Value: new(key)}}})
	cloudtest.Must(t, err)
	violations(audit.OneOwner, audit.OneWriter, audit.WithinDesired, audit.NoSecret)
	create("second", "five", "o5", with("#cloud-config\n# "+key))
	violations(audit.OneOwner, audit.OneWriter, audit.WithinDesired, audit.NoSecret, audit.NoSecret, audit.WithinDesired)
	cloudtest.Until(t, "the first is gone", func() bool {
		return !slices.ContainsFunc(f.Auditor.Left(), func(o audit.Object) bool { return o.ID == id })
	})
}
