// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	sim "github.com/butlerdotdev/butler/internal/sim/proxmox"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
	"github.com/butlerdotdev/butler/provider"
)

// fixture is a simulated cluster.
type fixture struct {
	*simtest.Simulator
	credentials map[string][]byte
	ca          []byte
	roots       *x509.CertPool
	// admin is the client of the administrator.
	admin *sim.Client
	reads atomic.Int64 // of single VMs
}

// newFixture starts a cluster of three nodes with a template on each.
func newFixture(t *testing.T, seed sim.Seed) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{roots: x509.NewCertPool()}
	s, err := simtest.Start(t.Context(), simtest.Options{Dir: dir, Platform: sim.Platform(), Seed: seed, Observe: f.count})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	f.Simulator = s
	if f.credentials, err = s.Credentials(); err != nil {
		t.Fatal(err)
	}
	if f.ca, err = os.ReadFile(filepath.Join(dir, "authority", "ca.crt")); err != nil || !f.roots.AppendCertsFromPEM(f.ca) {
		t.Fatalf("no authority: %v", err)
	}
	if f.admin, err = sim.Open(s.API.Admin()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.admin.Close)
	return f
}

func (f *fixture) count(_ *http.Request, c fault.Call) {
	if c.Verb == fault.Get && c.Resource == fault.Machine {
		f.reads.Add(1)
	}
}

// config is that of the cluster, over the simulated network.
func (f *fixture) config(change ...func(*provider.Config)) provider.Config {
	c := provider.Config{ProviderConfig: &v1alpha1.ProviderConfig{}}
	c.Name, c.Spec.Provider = "proxmox-prod", v1alpha1.ProviderProxmox
	c.Spec.Proxmox = &v1alpha1.ProxmoxSpec{
		Endpoint: "https://proxmox.example.com:8006", Nodes: []string{"pve1", "pve2", "pve3"}, Storage: "local-lvm", Template: "talos-v1.9.2", Bridge: "vmbr0",
		VMIDRange: &v1alpha1.VMIDRange{Start: 2000, End: 2999},
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
