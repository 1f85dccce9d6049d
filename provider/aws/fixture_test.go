// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

const talosVersion = "v1.9.2"

// fixture is a simulated account.
type fixture struct {
	*simtest.Platform
	seed sim.Seed
	// The administrator's clients.
	ec2 *ec2.Client
	elb *elb.Client
}

// newFixture starts an account with one subnet in each of three zones.
func newFixture(t *testing.T, seed sim.Seed) *fixture {
	t.Helper()
	seed.Region, seed.TalosVersions = "eu-central-1", append(seed.TalosVersions, talosVersion)
	seed.VPC, seed.SecurityGroups = "vpc-0a0a0a0a0a0a0a0a0", []string{"sg-0a0a0a0a0a0a0a0a0"}
	seed.Subnets = []string{"subnet-0a0a0a0a0a0a0a0a0", "subnet-0b0b0b0b0b0b0b0b0", "subnet-0c0c0c0c0c0c0c0c0"}
	f := &fixture{Platform: simtest.Run(t, sim.Platform(), seed), seed: seed}
	f.administrate(t)
	return f
}

// administrate opens the administrator's clients.
func (f *fixture) administrate(t *testing.T) {
	t.Helper()
	c, err := config.LoadDefaultConfig(t.Context(), config.WithSharedConfigFiles([]string{f.API.Admin()}), config.WithSharedCredentialsFiles(nil))
	if err != nil {
		t.Fatal(err)
	}
	c.HTTPClient = provider.Transport{RootCAs: f.Roots}.HTTPClient(nil)
	f.ec2, f.elb = ec2.NewFromConfig(c), elb.NewFromConfig(c)
}

// config is that of the account, over the simulated network.
func (f *fixture) config(change ...func(*provider.Config)) provider.Config {
	spec := &v1alpha1.AWSSpec{Region: f.seed.Region, VPCID: f.seed.VPC, SubnetIDs: f.seed.Subnets, SecurityGroupIDs: f.seed.SecurityGroups}
	return f.Config("aws-prod", v1alpha1.ProviderConfigSpec{Provider: v1alpha1.ProviderAWS, AWS: spec}, change...)
}

// cluster are machines of a small cluster.
func cluster() []provider.MachineSpec { return providertest.Cluster(talosVersion) }

// connected opens a connection that works.
func (f *fixture) connected(t *testing.T, change ...func(*provider.Config)) provider.Platform {
	t.Helper()
	return simtest.Open(t, Provider(), f.config(change...))
}

// lag is how long an instance is not described.
func lag(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }
