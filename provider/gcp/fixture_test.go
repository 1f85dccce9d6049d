// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/gcp"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

const (
	talosVersion = "v1.9.2"
	account      = "butler-nodes@butler-example.iam.gserviceaccount.com"
)

// fixture is a simulated project.
type fixture struct {
	*simtest.Platform
	seed sim.Seed
	// admin has the administrator's clients.
	admin *platform
}

// newFixture starts a project with a subnetwork and an image.
func newFixture(t *testing.T, seed sim.Seed) *fixture {
	t.Helper()
	seed.Project, seed.Region, seed.TalosVersions = "butler-example", "europe-west3", append(seed.TalosVersions, talosVersion)
	seed.Network, seed.Subnetwork, seed.Tags, seed.ServiceAccounts = "butler", "butler-nodes", []string{"butler-node"}, []string{account}
	f := &fixture{Platform: simtest.Run(t, sim.Platform(), seed), seed: seed}
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
		c.Spec.GCP.Endpoint, c.Transport = base, provider.Transport{RootCAs: f.Roots}
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
	spec := &v1alpha1.GCPSpec{
		ProjectID: f.seed.Project, Region: f.seed.Region, Network: f.seed.Network, Subnetwork: f.seed.Subnetwork, Tags: f.seed.Tags, ServiceAccount: account,
	}
	return f.Config("gcp-prod", v1alpha1.ProviderConfigSpec{Provider: v1alpha1.ProviderGCP, GCP: spec}, change...)
}

// cluster are machines of a small cluster.
func cluster() []provider.MachineSpec { return providertest.Cluster(talosVersion) }

// connected opens a connection that works.
func (f *fixture) connected(t *testing.T, change ...func(*provider.Config)) provider.Platform {
	t.Helper()
	return simtest.Open(t, Provider(), f.config(change...))
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
