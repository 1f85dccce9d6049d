// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
)

// fixture is a simulated account whose machines open one port.
type fixture struct {
	cloudtest.Fixture

	key, secret string
	ec2         *ec2.Client
	elb         *elb.Client
	sts         *sts.Client
	vpc, subnet string
	public      []string
	group       string
	image       string
}

func start(t *testing.T, seed aws.Seed) *fixture { return startIn(t, t.TempDir(), seed) }

func startIn(t *testing.T, dir string, seed aws.Seed) *fixture {
	t.Helper()
	if seed.Policy == nil { // what the documented policy allows is the driver's concern
		seed.Policy = document("*")
	}
	f := &fixture{}
	f.Start(t, aws.Platform(), dir, seed)
	f.connect(t)
	return f
}

func (f *fixture) connect(t *testing.T) {
	t.Helper()
	f.key, f.secret = f.Credential(t, v1alpha1.KeyAccessKeyID), f.Credential(t, v1alpha1.KeySecretAccessKey)
	f.dial()
	f.discover(t)
}

// dial has the user's calls go over new connections.
func (f *fixture) dial() {
	c := f.config(f.key, f.secret, "")
	f.ec2, f.elb, f.sts = ec2.NewFromConfig(c), elb.NewFromConfig(c), sts.NewFromConfig(c)
}

// discover finds what every seed has, as a user would.
func (f *fixture) discover(t *testing.T) {
	t.Helper()
	subnets, err := f.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: []types.Filter{where("tag:Name", "nodes-*", "public-?")}})
	cloudtest.Must(t, err)
	for _, s := range subnets.Subnets {
		if *s.MapPublicIpOnLaunch {
			f.public = append(f.public, *s.SubnetId)
		} else if *s.AvailabilityZone == "eu-central-1a" {
			f.vpc, f.subnet = *s.VpcId, *s.SubnetId
		}
	}
	groups, err := f.ec2.DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{Filters: []types.Filter{where("group-name", "butler-nodes-0")}})
	cloudtest.Must(t, err)
	f.group = *groups.SecurityGroups[0].GroupId
	images, err := f.ec2.DescribeImages(t.Context(), &ec2.DescribeImagesInput{Owners: []string{"540036508848"}, Filters: []types.Filter{where("name", "talos-v1.9.2-*-amd64")}})
	cloudtest.Must(t, err)
	f.image = *images.Images[0].ImageId
}

// config is that of an SDK whose calls go to the simulator, and are not repeated.
func (f *fixture) config(key, secret, token string) awssdk.Config {
	return awssdk.Config{
		Region: "eu-central-1", HTTPClient: sender{f.Client()}, Credentials: credentials.NewStaticCredentialsProvider(key, secret, token),
		Retryer: func() awssdk.Retryer { return awssdk.NopRetryer{} },
	}
}

// sender keeps the body of a request: the SDK closes it as soon as it has an answer, which
// net/http may take for a failure while it still waits for the end of the body.
type sender struct{ *http.Client }

func (s sender) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		content, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(content))
	}
	return s.Client.Do(r)
}

// order is a RunInstances call that works.
func (f *fixture) order(name string, changes ...func(*ec2.RunInstancesInput)) *ec2.RunInstancesInput {
	in := &ec2.RunInstancesInput{
		ImageId: &f.image, InstanceType: types.InstanceTypeM5Large, SubnetId: &f.subnet, SecurityGroupIds: []string{f.group},
		MinCount: new(int32(1)), MaxCount: new(int32(1)),
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeInstance, Tags: []types.Tag{{Key: new("Name"), Value: &name}}}},
	}
	for _, change := range changes {
		change(in)
	}
	return in
}

// run creates an instance and returns its ID when it runs.
func (f *fixture) run(t *testing.T, name string, changes ...func(*ec2.RunInstancesInput)) string {
	t.Helper()
	out, err := f.ec2.RunInstances(t.Context(), f.order(name, changes...))
	cloudtest.Must(t, err)
	if state := out.Instances[0].State.Name; state != types.InstanceStateNamePending {
		t.Errorf("a new instance is %s", state)
	}
	id := *out.Instances[0].InstanceId
	f.await(t, id, types.InstanceStateNameRunning)
	return id
}

func (f *fixture) await(t *testing.T, id string, want types.InstanceStateName) types.Instance {
	t.Helper()
	var i types.Instance
	cloudtest.Until(t, id+" is "+string(want), func() bool {
		out, err := f.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
		cloudtest.Must(t, err)
		i = out.Reservations[0].Instances[0]
		return i.State.Name == want
	})
	return i
}

func where(name string, values ...string) types.Filter {
	return types.Filter{Name: &name, Values: values}
}

// code is that of a refusal, with its status; empty: there was none.
func code(err error) string {
	var refused smithy.APIError
	if !errors.As(err, &refused) {
		if err != nil {
			return err.Error()
		}
		return ""
	}
	return refused.ErrorCode()
}

func expect(t *testing.T, what string, err error, want string) {
	t.Helper()
	if got := code(err); got != want {
		t.Errorf("%s: %q, want %q: %v", what, got, want, err)
	}
}
