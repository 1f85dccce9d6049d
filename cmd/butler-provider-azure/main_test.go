// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/providerbinary"
	"github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/facade"
)

func suite() providerbinary.Suite {
	return providerbinary.Suite{
		Package:  "github.com/butlerdotdev/butler/cmd/butler-provider-azure",
		Platform: azure.Platform(),
		Page:     "getting-started/azure.md",
		Pages:    []string{"getting-started/azure.md"},
		Objects:  4, // virtual machine, two disks, interface
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

// access is the file of a service principal that the simulator writes.
type access struct {
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
	Subscription string `json:"subscriptionId"`
	Tenant       string `json:"tenantId"`
	Authority    string `json:"activeDirectoryEndpointUrl"`
	Endpoint     string `json:"resourceManagerEndpointUrl"`
	CABundle     string `json:"caBundle"`
}

func readAccess(t testing.TB, file string) (a access, ca []byte) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if err == nil {
		ca, err = os.ReadFile(a.CABundle)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a, ca
}

// reach points the ProviderConfig at the simulator, whose authority the driver trusts.
func reach(t testing.TB, api facade.API, c *v1alpha1.ProviderConfig, credentials map[string][]byte) {
	t.Helper()
	// The user's own address, where calls are counted.
	user, ca := readAccess(t, filepath.Join(filepath.Dir(api.Admin()), "user.json"))
	c.Spec.Azure.Endpoint, c.Spec.Azure.AuthorityHost = strings.TrimRight(user.Endpoint, "/"), user.Authority
	credentials[v1alpha1.KeyEndpoint], credentials[v1alpha1.KeyAuthorityHost] = []byte(c.Spec.Azure.Endpoint), []byte(user.Authority)
	credentials[v1alpha1.KeyCABundle] = ca
}

// administrator has the clients of the administrator.
type administrator struct {
	vms   *armcompute.VirtualMachinesClient
	disks *armcompute.DisksClient
	nics  *armnetwork.InterfacesClient
}

func administrate(t testing.TB, api facade.API) administrator {
	t.Helper()
	a, ca := readAccess(t, api.Admin())
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	o := azcore.ClientOptions{
		Cloud: cloud.Configuration{ActiveDirectoryAuthorityHost: a.Authority, Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Endpoint: a.Endpoint, Audience: "https://management.azure.com"},
		}},
		Transport: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}},
	}
	credential, err := azidentity.NewClientSecretCredential(a.Tenant, a.ClientID, a.ClientSecret, &azidentity.ClientSecretCredentialOptions{ClientOptions: o, DisableInstanceDiscovery: true})
	if err != nil {
		t.Fatal(err)
	}
	options := &arm.ClientOptions{ClientOptions: o, DisableRPRegistration: true}
	compute, err := armcompute.NewClientFactory(a.Subscription, credential, options)
	if err != nil {
		t.Fatal(err)
	}
	network, err := armnetwork.NewClientFactory(a.Subscription, credential, options)
	if err != nil {
		t.Fatal(err)
	}
	return administrator{compute.NewVirtualMachinesClient(), compute.NewDisksClient(), network.NewInterfacesClient()}
}

// all returns the elements of all pages.
func all[P, T any](ctx context.Context, t testing.TB, pages *runtime.Pager[P], of func(P) []*T) (out []*T) {
	for pages.More() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			if ctx.Err() == nil {
				t.Error(err)
			}
			return nil
		}
		out = append(out, of(page)...)
	}
	return out
}

// count counts all resources that machines consist of.
func count(t testing.TB, api facade.API) int {
	t.Helper()
	a, ctx := administrate(t, api), t.Context()
	return len(machines(ctx, t, a, false)) +
		len(all(ctx, t, a.disks.NewListPager(nil), func(p armcompute.DisksClientListResponse) []*armcompute.Disk { return p.Value })) +
		len(all(ctx, t, a.nics.NewListAllPager(nil), func(p armnetwork.InterfacesClientListAllResponse) []*armnetwork.Interface { return p.Value }))
}

func machines(ctx context.Context, t testing.TB, a administrator, states bool) []*armcompute.VirtualMachine {
	var o *armcompute.VirtualMachinesClientListAllOptions
	if states {
		o = &armcompute.VirtualMachinesClientListAllOptions{StatusOnly: new("true")}
	}
	return all(ctx, t, a.vms.NewListAllPager(o), func(p armcompute.VirtualMachinesClientListAllResponse) []*armcompute.VirtualMachine { return p.Value })
}

// running asks again and again: Azure reports no changes.
func running(t testing.TB, api facade.API) <-chan string {
	t.Helper()
	a := administrate(t, api)
	names := make(chan string)
	go func() {
		defer close(names)
		known := map[string]bool{}
		for tick := time.Tick(50 * time.Millisecond); t.Context().Err() == nil; <-tick {
			for _, v := range machines(t.Context(), t, a, true) {
				if runs(v) && !known[*v.ID] {
					known[*v.ID] = true
					names <- *v.Name
				}
			}
		}
	}()
	return names
}

func runs(v *armcompute.VirtualMachine) bool {
	for _, s := range v.Properties.InstanceView.Statuses {
		if *s.Code == "PowerState/running" {
			return true
		}
	}
	return false
}
