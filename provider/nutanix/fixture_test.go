// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/nutanix"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
	"github.com/butlerdotdev/butler/provider"
)

const (
	talosVersion = "v1.9.2"
	serverName   = "prism.example.com:9440"
	clusterID    = "0005f2a1-6c3e-4b7d-8e21-90a4c1d7b350"
	subnetID     = "2b7e3c94-51d8-4f06-9a3b-6d0c8e5f7a12"
	imageID      = "7c1d9e58-3a42-4b60-8f95-e24b7a0c6d31"
	containerID  = "9e40b6d2-8c17-4a53-b7f8-1d5a2c3e4f60"
)

// fixture is a simulated Prism Central with what a ProviderConfig names.
type fixture struct {
	*simtest.Simulator
	credentials map[string][]byte
	admin       *sim.Client
}

func newFixture(t *testing.T, change ...func(*sim.Seed)) *fixture {
	t.Helper()
	seed := sim.Seed{
		Cluster: clusterID, Subnet: subnetID, Image: imageID, ImageName: "talos-" + talosVersion + "-openstack-amd64", Container: containerID,
		CIDR: "10.40.0.0/16", Hosts: []string{serverName},
	}
	for _, f := range change {
		f(&seed)
	}
	dir := t.TempDir()
	s, err := simtest.Start(t.Context(), simtest.Options{Dir: dir, Platform: sim.Platform(), Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	f := &fixture{Simulator: s}
	if f.credentials, err = s.Credentials(); err != nil {
		t.Fatal(err)
	}
	if f.credentials[v1alpha1.KeyCABundle], err = os.ReadFile(filepath.Join(dir, "authority", "ca.crt")); err != nil {
		t.Fatal(err)
	}
	if f.admin, err = sim.NewClient(s.API.Admin()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.admin.Close)
	return f
}

// config is that of the cluster, over the simulated network.
func (f *fixture) config(change ...func(*provider.Config)) provider.Config {
	c := provider.Config{ProviderConfig: &v1alpha1.ProviderConfig{}}
	c.Name, c.Spec.Provider = "nutanix-prod", v1alpha1.ProviderNutanix
	c.Spec.Nutanix = &v1alpha1.NutanixSpec{Endpoint: "https://prism.example.com", ClusterUUID: clusterID, SubnetUUID: subnetID, ImageUUID: imageID, StorageContainerUUID: containerID}
	c.Credentials = provider.NewCredentials(f.credentials)
	c.Transport = provider.Transport{DialContext: f.Network.Dial}
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
