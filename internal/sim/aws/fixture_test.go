// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// fixture is a simulated account whose machines open one port.
type fixture struct {
	dir       string
	network   *network.Network
	faults    *fault.Injector
	auditor   *audit.Auditor
	authority *front.Authority
	api       facade.API
	boots     atomic.Int32

	key, secret string
	ec2         *ec2.Client
	elb         *elb.Client
	sts         *sts.Client
	vpc, subnet string
	public      []string
	group       string
	image       string
}

const servedPort = 6443

func start(t *testing.T, seed aws.Seed) *fixture { return startIn(t, t.TempDir(), seed) }

func startIn(t *testing.T, dir string, seed aws.Seed) *fixture {
	t.Helper()
	f := &fixture{dir: dir, network: network.New(), faults: fault.NewInjector(fault.Plan{})}
	var err error
	f.auditor, err = audit.Open(audit.Options{Dir: dir, Desired: []audit.Desired{{Cluster: "audited", Machines: 2}}})
	must(t, err)
	f.authority, err = front.OpenAuthority(filepath.Join(dir, "authority"))
	must(t, err)
	d, err := datacenter.New(datacenter.Options{
		Dir: filepath.Join(dir, "datacenter"), Network: f.network, Faults: f.faults, Boot: f.boot,
		Subnets: map[string]datacenter.Subnet{"": {Prefix: netip.MustParsePrefix("192.0.2.0/24")}},
	})
	must(t, err)
	t.Cleanup(d.Close)
	if seed.Policy == nil { // what the documented policy allows is the driver's concern
		seed.Policy = document("*")
	}
	raw, err := json.Marshal(seed)
	must(t, err)
	f.api, err = aws.Platform().Start(t.Context(), facade.Options{
		Dir: filepath.Join(dir, "platform"), Datacenter: d, Authority: f.authority, Network: f.network, Seed: raw, Faults: f.faults, Auditor: f.auditor,
	})
	must(t, err)
	t.Cleanup(func() { _ = f.api.Stop() })
	f.connect(t)
	return f
}

func (f *fixture) boot(ctx context.Context, m datacenter.Machine) error {
	f.boots.Add(1)
	l, err := m.Host.Listen(servedPort)
	if err != nil {
		return err
	}
	defer l.Close()
	<-ctx.Done()
	return nil
}

func (f *fixture) connect(t *testing.T) {
	t.Helper()
	files := f.api.Credentials()
	f.key, f.secret = read(t, files[v1alpha1.KeyAccessKeyID]), read(t, files[v1alpha1.KeySecretAccessKey])
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
	must(t, err)
	for _, s := range subnets.Subnets {
		if *s.MapPublicIpOnLaunch {
			f.public = append(f.public, *s.SubnetId)
		} else if *s.AvailabilityZone == "eu-central-1a" {
			f.vpc, f.subnet = *s.VpcId, *s.SubnetId
		}
	}
	groups, err := f.ec2.DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{Filters: []types.Filter{where("group-name", "butler-nodes-0")}})
	must(t, err)
	f.group = *groups.SecurityGroups[0].GroupId
	images, err := f.ec2.DescribeImages(t.Context(), &ec2.DescribeImagesInput{Owners: []string{"540036508848"}, Filters: []types.Filter{where("name", "talos-v1.9.2-*-amd64")}})
	must(t, err)
	f.image = *images.Images[0].ImageId
}

// config is that of an SDK whose calls go to the simulator, and are not repeated.
func (f *fixture) config(key, secret, token string) awssdk.Config {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(f.authority.Certificate())
	transport := &http.Transport{DialContext: f.network.Dial, TLSClientConfig: &tls.Config{RootCAs: pool}}
	return awssdk.Config{
		Region: "eu-central-1", HTTPClient: sender{&http.Client{Transport: transport}}, Credentials: credentials.NewStaticCredentialsProvider(key, secret, token),
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
	must(t, err)
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
	until(t, id+" is "+string(want), func() bool {
		out, err := f.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
		must(t, err)
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	must(t, err)
	return string(raw)
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for !done() {
		select {
		case <-deadline:
			t.Fatalf("it did not happen: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func plan(t *testing.T, faults string) fault.Plan {
	t.Helper()
	p, err := fault.Parse([]byte("faults:\n" + faults))
	must(t, err)
	return p
}
