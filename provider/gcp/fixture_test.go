// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"crypto/x509"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/gcp"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
	"github.com/butlerdotdev/butler/provider"
)

const (
	talosVersion = "v1.9.2"
	account      = "butler-nodes@butler-example.iam.gserviceaccount.com"
)

// fixture is a simulated project.
type fixture struct {
	*simtest.Simulator
	seed        sim.Seed
	credentials map[string][]byte
	roots       *x509.CertPool
	// admin has the administrator's clients.
	admin *platform
}

// newFixture starts a project with a subnetwork and an image.
func newFixture(t *testing.T, seed sim.Seed) *fixture {
	t.Helper()
	seed.Project, seed.Region, seed.TalosVersions = "butler-example", "europe-west3", append(seed.TalosVersions, talosVersion)
	seed.Network, seed.Subnetwork, seed.Tags, seed.ServiceAccounts = "butler", "butler-nodes", []string{"butler-node"}, []string{account}
	dir := t.TempDir()
	s, err := simtest.Start(t.Context(), simtest.Options{Dir: dir, Platform: sim.Platform(), Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	f := &fixture{Simulator: s, seed: seed, roots: x509.NewCertPool()}
	if f.credentials, err = s.Credentials(); err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(filepath.Join(dir, "authority", "ca.crt"))
	if err != nil || !f.roots.AppendCertsFromPEM(ca) {
		t.Fatalf("no authority: %v", err)
	}
	f.administrate(t)
	return f
}

// administrate opens the administrator's clients: the API is where the tokens are.
func (f *fixture) administrate(t *testing.T) {
	t.Helper()
	key, err := os.ReadFile(f.API.Admin())
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(key, &d); err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSuffix(d.TokenURI, "/token")
	c := f.config(func(c *provider.Config) {
		c.Spec.GCP.Endpoint, c.Transport = base, provider.Transport{RootCAs: f.roots}
	})
	c.Credentials = provider.NewCredentials(map[string][]byte{v1alpha1.KeyServiceAccountKey: key, v1alpha1.KeyEndpoint: []byte(base)})
	api, err := newClients(t.Context(), "administrate", c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.release)
	f.admin = newPlatform(api, *c.Spec.GCP, c.Name)
}

// config is that of the project, over the simulated network.
func (f *fixture) config(change ...func(*provider.Config)) provider.Config {
	c := provider.Config{ProviderConfig: &v1alpha1.ProviderConfig{}}
	c.Name, c.Spec.Provider = "gcp-prod", v1alpha1.ProviderGCP
	c.Spec.GCP = &v1alpha1.GCPSpec{
		ProjectID: f.seed.Project, Region: f.seed.Region, Network: f.seed.Network, Subnetwork: f.seed.Subnetwork, Tags: f.seed.Tags, ServiceAccount: account,
	}
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

// clients are the ranges that machines have as clients of a load balancer.
func (f *fixture) clients(t *testing.T) []string {
	t.Helper()
	subnet, err := f.admin.subnet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nat, err := f.admin.natAddresses(t.Context(), subnet)
	if err != nil || len(nat) == 0 {
		t.Fatalf("addresses of Cloud NAT: %v, %v", nat, err)
	}
	return append(nat, subnet.GetIpCidrRange())
}
