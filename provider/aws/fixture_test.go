// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"crypto/x509"
	"os"
	"regexp"
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
)

const talosVersion = "v1.9.2"

// fixture is a simulated account.
type fixture struct {
	*simtest.Simulator
	seed        sim.Seed
	credentials map[string][]byte
	roots       *x509.CertPool
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
	s, err := simtest.Start(t.Context(), simtest.Options{Dir: t.TempDir(), Platform: sim.Platform(), Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	f := &fixture{Simulator: s, seed: seed}
	if f.credentials, err = s.Credentials(); err != nil {
		t.Fatal(err)
	}
	f.administrate(t)
	return f
}

// administrate opens the administrator's clients, whose configuration names the authority
// of all certificates.
func (f *fixture) administrate(t *testing.T) {
	t.Helper()
	content, err := os.ReadFile(f.API.Admin())
	if err != nil {
		t.Fatal(err)
	}
	file := regexp.MustCompile(`ca_bundle = (.*)`).FindSubmatch(content)
	if file == nil {
		t.Fatal("the administrator's configuration names no authority")
	}
	ca, err := os.ReadFile(string(file[1]))
	if err != nil {
		t.Fatal(err)
	}
	f.roots = x509.NewCertPool()
	f.roots.AppendCertsFromPEM(ca)
	c, err := config.LoadDefaultConfig(t.Context(), config.WithSharedConfigFiles([]string{f.API.Admin()}), config.WithSharedCredentialsFiles(nil))
	if err != nil {
		t.Fatal(err)
	}
	c.HTTPClient = provider.Transport{RootCAs: f.roots}.HTTPClient(nil)
	f.ec2, f.elb = ec2.NewFromConfig(c), elb.NewFromConfig(c)
}

// config is that of the account, over the simulated network.
func (f *fixture) config(change ...func(*provider.Config)) provider.Config {
	c := provider.Config{ProviderConfig: &v1alpha1.ProviderConfig{}}
	c.Name, c.Spec.Provider = "aws-prod", v1alpha1.ProviderAWS
	c.Spec.AWS = &v1alpha1.AWSSpec{Region: f.seed.Region, VPCID: f.seed.VPC, SubnetIDs: f.seed.Subnets, SecurityGroupIDs: f.seed.SecurityGroups}
	c.Credentials = provider.NewCredentials(f.credentials)
	c.Transport = provider.Transport{DialContext: f.Network.Dial, RootCAs: f.roots}
	for _, f := range change {
		f(&c)
	}
	return c
}

// connected opens a connection that works.
func (f *fixture) connected(t *testing.T, change ...func(*provider.Config)) provider.Platform {
	t.Helper()
	p, err := Provider().Open(t.Context(), f.config(change...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// lag is how long an instance is not described.
func lag(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }
