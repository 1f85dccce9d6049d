// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"os"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
	"github.com/butlerdotdev/butler/provider"
)

const talosVersion = "v1.9.2"

// fixture is a simulated subscription.
type fixture struct {
	*simtest.Simulator
	credentials map[string][]byte
	roots       *x509.CertPool
	// admin has the administrator's clients.
	admin *platform
}

// newFixture starts a subscription with one resource group, in a location with three zones
// unless the seed says otherwise.
func newFixture(t *testing.T, seed sim.Seed) *fixture {
	t.Helper()
	seed.TalosVersions = append(seed.TalosVersions, talosVersion)
	s, err := simtest.Start(t.Context(), simtest.Options{Dir: t.TempDir(), Platform: sim.Platform(), Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	f := &fixture{Simulator: s}
	if f.credentials, err = s.Credentials(); err != nil {
		t.Fatal(err)
	}
	f.administrate(t)
	return f
}

// administrate opens the administrator's clients. They reach the platform over the
// operating system's network.
func (f *fixture) administrate(t *testing.T) {
	t.Helper()
	var file map[string]string
	content, err := os.ReadFile(f.API.Admin())
	if err == nil {
		err = json.Unmarshal(content, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(file["caBundle"])
	if err != nil {
		t.Fatal(err)
	}
	f.roots = x509.NewCertPool()
	f.roots.AppendCertsFromPEM(ca)
	c := f.config()
	c.Transport = provider.Transport{RootCAs: f.roots}
	c.Spec.Azure.Endpoint, c.Spec.Azure.AuthorityHost = file["resourceManagerEndpointUrl"], file["activeDirectoryEndpointUrl"]
	c.Credentials = provider.NewCredentials(map[string][]byte{
		v1alpha1.KeyTenantID: []byte(file["tenantId"]), v1alpha1.KeyClientID: []byte(file["clientId"]), v1alpha1.KeyClientSecret: []byte(file["clientSecret"]),
		v1alpha1.KeyEndpoint: []byte(file["resourceManagerEndpointUrl"]), v1alpha1.KeyAuthorityHost: []byte(file["activeDirectoryEndpointUrl"]),
	})
	api, err := newClients("administrate", c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.release)
	f.admin = newPlatform(api, *c.Spec.Azure, "admin")
}

// config is that of the subscription, over the simulated network.
func (f *fixture) config(change ...func(*provider.Config)) provider.Config {
	c := provider.Config{ProviderConfig: &v1alpha1.ProviderConfig{}}
	c.Name, c.Spec.Provider = "azure-prod", v1alpha1.ProviderAzure
	c.Spec.Azure = &v1alpha1.AzureSpec{
		SubscriptionID: string(f.credentials[v1alpha1.KeySubscriptionID]), ResourceGroup: "example", VNetName: "butler", SubnetName: "nodes", SecurityGroupName: "nodes",
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

// finished waits until an operation of the administrator has ended.
func finished[T any](ctx context.Context, poller *runtime.Poller[T], err error) error {
	if err != nil {
		return err
	}
	_, err = poller.PollUntilDone(ctx, &runtime.PollUntilDoneOptions{Frequency: quick})
	return err
}
