// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

const talosVersion = "v1.9.2"

// fixture is a simulated subscription.
type fixture struct {
	*simtest.Platform
	// admin has the administrator's clients.
	admin *platform
}

// newFixture starts a subscription with one resource group, in a location with three zones
// unless the seed says otherwise.
func newFixture(t *testing.T, seed sim.Seed) *fixture {
	t.Helper()
	seed.TalosVersions = append(seed.TalosVersions, talosVersion)
	f := &fixture{Platform: simtest.Run(t, sim.Platform(), seed)}
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
	c := f.config()
	c.Transport = provider.Transport{RootCAs: f.Roots}
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
	spec := &v1alpha1.AzureSpec{
		SubscriptionID: string(f.Secret[v1alpha1.KeySubscriptionID]), ResourceGroup: "example", VNetName: "butler", SubnetName: "nodes", SecurityGroupName: "nodes",
	}
	return f.Config("azure-prod", v1alpha1.ProviderConfigSpec{Provider: v1alpha1.ProviderAzure, Azure: spec}, change...)
}

// cluster are machines of a small cluster.
func cluster() []provider.MachineSpec { return providertest.Cluster(talosVersion) }

// connected opens a connection that works.
func (f *fixture) connected(t *testing.T, change ...func(*provider.Config)) provider.Platform {
	t.Helper()
	return simtest.Open(t, Provider(), f.config(change...))
}

// finished waits until an operation of the administrator has ended.
func finished[T any](ctx context.Context, poller *runtime.Poller[T], err error) error {
	if err != nil {
		return err
	}
	_, err = poller.PollUntilDone(ctx, &runtime.PollUntilDoneOptions{Frequency: quick})
	return err
}
