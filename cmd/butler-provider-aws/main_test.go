// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/providerbinary"
	"github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/internal/sim/facade"
)

func suite() providerbinary.Suite {
	return providerbinary.Suite{
		Package:  "github.com/butlerdotdev/butler/cmd/butler-provider-aws",
		Platform: aws.Platform(),
		Page:     "getting-started/aws.md",
		Pages:    []string{"getting-started/aws.md"},
		Objects:  4, // instance, two volumes, interface
		Count:    count,
		Running:  running,
		Reach:    reach,
	}
}

func TestVersionAndWrongArguments(t *testing.T)           { suite().VersionAndWrongArguments(t) }
func TestARequestRunsAndIsGoneAgain(t *testing.T)         { suite().RequestRunsAndIsGoneAgain(t) }
func TestTheManifestsOfTheGuidesAreAccepted(t *testing.T) { suite().ManifestsAreAccepted(t) }

func BenchmarkPendingToRunning(b *testing.B)   { suite().PendingToRunning(b) }
func BenchmarkRequestsPerMachine(b *testing.B) { suite().RequestsPerMachine(b) }
func BenchmarkAtRest(b *testing.B)             { suite().AtRest(b) }
func BenchmarkLag(b *testing.B)                { suite().Lag(b) }
func BenchmarkRealistic(b *testing.B)          { suite().Realistic(b) }

// reach points the ProviderConfig at the simulator, whose authority the driver trusts.
func reach(t testing.TB, api facade.API, c *v1alpha1.ProviderConfig, credentials map[string][]byte) {
	t.Helper()
	// The user's own address, where calls are counted.
	c.Spec.AWS.Endpoint = setting(t, filepath.Join(filepath.Dir(api.Admin()), "config"), "endpoint_url")
	credentials[v1alpha1.KeyEndpoint], credentials[v1alpha1.KeyCABundle] = []byte(c.Spec.AWS.Endpoint), authority(t, api)
}

func authority(t testing.TB, api facade.API) []byte {
	t.Helper()
	ca, err := os.ReadFile(setting(t, api.Admin(), "ca_bundle"))
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

// setting returns a value of a configuration file of the AWS command line tool.
func setting(t testing.TB, file, key string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^` + key + ` = (.*)$`).FindSubmatch(content)
	if found == nil {
		t.Fatalf("no %s in the administrator's configuration", key)
	}
	return string(found[1])
}

func administrator(t testing.TB, api facade.API) *ec2.Client {
	t.Helper()
	file := []string{api.Admin()}
	c, err := config.LoadDefaultConfig(t.Context(), config.WithSharedConfigFiles(file), config.WithSharedCredentialsFiles(file),
		config.WithCustomCABundle(bytes.NewReader(authority(t, api))))
	if err != nil {
		t.Fatal(err)
	}
	return ec2.NewFromConfig(c)
}

// count counts all objects of EC2 that machines consist of.
func count(t testing.TB, api facade.API) (n int) {
	t.Helper()
	c := administrator(t, api)
	for _, i := range instances(t.Context(), t, c) {
		if i.State.Name != types.InstanceStateNameTerminated {
			n++
		}
	}
	volumes, err := c.DescribeVolumes(t.Context(), &ec2.DescribeVolumesInput{})
	if err != nil {
		t.Fatal(err)
	}
	interfaces, err := c.DescribeNetworkInterfaces(t.Context(), &ec2.DescribeNetworkInterfacesInput{})
	if err != nil {
		t.Fatal(err)
	}
	return n + len(volumes.Volumes) + len(interfaces.NetworkInterfaces)
}

func instances(ctx context.Context, t testing.TB, c *ec2.Client) (all []types.Instance) {
	pages := ec2.NewDescribeInstancesPaginator(c, &ec2.DescribeInstancesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			if ctx.Err() == nil {
				t.Error(err)
			}
			return nil
		}
		for _, r := range page.Reservations {
			all = append(all, r.Instances...)
		}
	}
	return all
}

// running asks again and again: EC2 reports no changes.
func running(t testing.TB, api facade.API) <-chan string {
	t.Helper()
	c := administrator(t, api)
	names := make(chan string)
	go func() {
		defer close(names)
		known := map[string]bool{}
		for tick := time.Tick(50 * time.Millisecond); t.Context().Err() == nil; <-tick {
			for _, i := range instances(t.Context(), t, c) {
				if i.State.Name == types.InstanceStateNameRunning && !known[*i.InstanceId] {
					known[*i.InstanceId] = true
					names <- name(i)
				}
			}
		}
	}()
	return names
}

func name(i types.Instance) string {
	for _, tag := range i.Tags {
		if *tag.Key == "Name" {
			return *tag.Value
		}
	}
	return ""
}
