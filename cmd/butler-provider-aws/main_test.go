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
		Platform: aws.Platform(),
		Objects:  4, // instance, two volumes, interface
		Count:    count,
		Running:  running,
		Reach:    reach,
	}
}

func TestVersionAndWrongArguments(t *testing.T)   { suite().VersionAndWrongArguments(t) }
func TestARequestRunsAndIsGoneAgain(t *testing.T) { suite().RequestRunsAndIsGoneAgain(t) }

func BenchmarkPendingToRunning(b *testing.B) { suite().PendingToRunning(b) }
func BenchmarkBaseline(b *testing.B)         { suite().Baseline(b) }
func BenchmarkDeletionCalls(b *testing.B)    { suite().DeletionCalls(b) }
func BenchmarkAtRest(b *testing.B)           { suite().AtRest(b) }
func BenchmarkLag(b *testing.B)              { suite().Lag(b) }
func BenchmarkRealistic(b *testing.B)        { suite().Realistic(b) }

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
	providerbinary.Must(t, err)
	return ca
}

// setting returns a value of a configuration file of the AWS command line tool.
func setting(t testing.TB, file, key string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	providerbinary.Must(t, err)
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
	providerbinary.Must(t, err)
	return ec2.NewFromConfig(c)
}

// count counts all objects of EC2 that machines consist of.
func count(t testing.TB, api facade.API) (n int) {
	t.Helper()
	c := administrator(t, api)
	all, err := instances(t.Context(), c)
	providerbinary.Must(t, err)
	for _, i := range all {
		if i.State.Name != types.InstanceStateNameTerminated {
			n++
		}
	}
	volumes, err := c.DescribeVolumes(t.Context(), &ec2.DescribeVolumesInput{})
	providerbinary.Must(t, err)
	interfaces, err := c.DescribeNetworkInterfaces(t.Context(), &ec2.DescribeNetworkInterfacesInput{})
	providerbinary.Must(t, err)
	return n + len(volumes.Volumes) + len(interfaces.NetworkInterfaces)
}

func instances(ctx context.Context, c *ec2.Client) (all []types.Instance, err error) {
	pages := ec2.NewDescribeInstancesPaginator(c, &ec2.DescribeInstancesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Reservations {
			all = append(all, r.Instances...)
		}
	}
	return all, nil
}

// running asks again and again: EC2 reports no changes.
func running(t testing.TB, api facade.API) <-chan string {
	t.Helper()
	c := administrator(t, api)
	return providerbinary.Poll(t, func(ctx context.Context) (map[string]string, error) {
		all, err := instances(ctx, c)
		names := map[string]string{}
		for _, i := range all {
			if i.State.Name == types.InstanceStateNameRunning {
				names[*i.InstanceId] = name(i)
			}
		}
		return names, err
	})
}

func name(i types.Instance) string {
	for _, tag := range i.Tags {
		if *tag.Key == "Name" {
			return *tag.Value
		}
	}
	return ""
}
