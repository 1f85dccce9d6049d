// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strings"
	"testing"

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
		Platform: azure.Platform(),
		Objects:  4, // virtual machine, two disks, interface
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

// access is the file of a service principal that the simulator writes.
type access struct {
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
	Subscription string `json:"subscriptionId"`
	Tenant       string `json:"tenantId"`
	Authority    string `json:"activeDirectoryEndpointUrl"`
	Endpoint     string `json:"resourceManagerEndpointUrl"`
}

// reach points the ProviderConfig at the simulator, whose authority the driver trusts.
func reach(t testing.TB, api facade.API, c *v1alpha1.ProviderConfig, credentials map[string][]byte) {
	t.Helper()
	var user access
	credentials[v1alpha1.KeyCABundle] = providerbinary.ReadUser(t, api, &user)
	c.Spec.Azure.Endpoint, c.Spec.Azure.AuthorityHost = strings.TrimRight(user.Endpoint, "/"), user.Authority
	credentials[v1alpha1.KeyEndpoint], credentials[v1alpha1.KeyAuthorityHost] = []byte(c.Spec.Azure.Endpoint), []byte(user.Authority)
}

// administrator has the clients of the administrator.
type administrator struct {
	vms   *armcompute.VirtualMachinesClient
	disks *armcompute.DisksClient
	nics  *armnetwork.InterfacesClient
}

func administrate(t testing.TB, api facade.API) administrator {
	t.Helper()
	var a access
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(providerbinary.ReadAccess(t, api.Admin(), &a))
	o := azcore.ClientOptions{
		Cloud: cloud.Configuration{ActiveDirectoryAuthorityHost: a.Authority, Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Endpoint: a.Endpoint, Audience: "https://management.azure.com"},
		}},
		Transport: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}},
	}
	credential, err := azidentity.NewClientSecretCredential(a.Tenant, a.ClientID, a.ClientSecret, &azidentity.ClientSecretCredentialOptions{ClientOptions: o, DisableInstanceDiscovery: true})
	providerbinary.Must(t, err)
	options := &arm.ClientOptions{ClientOptions: o, DisableRPRegistration: true}
	compute, err := armcompute.NewClientFactory(a.Subscription, credential, options)
	providerbinary.Must(t, err)
	network, err := armnetwork.NewClientFactory(a.Subscription, credential, options)
	providerbinary.Must(t, err)
	return administrator{compute.NewVirtualMachinesClient(), compute.NewDisksClient(), network.NewInterfacesClient()}
}

// all returns the elements of all pages.
func all[P, T any](ctx context.Context, pages *runtime.Pager[P], of func(P) []*T) (out []*T, err error) {
	for pages.More() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, of(page)...)
	}
	return out, nil
}

// count counts all resources that machines consist of.
func count(t testing.TB, api facade.API) int {
	t.Helper()
	a, ctx := administrate(t, api), t.Context()
	vms, err := machines(ctx, a, false)
	providerbinary.Must(t, err)
	disks, err := all(ctx, a.disks.NewListPager(nil), func(p armcompute.DisksClientListResponse) []*armcompute.Disk { return p.Value })
	providerbinary.Must(t, err)
	nics, err := all(ctx, a.nics.NewListAllPager(nil), func(p armnetwork.InterfacesClientListAllResponse) []*armnetwork.Interface { return p.Value })
	providerbinary.Must(t, err)
	return len(vms) + len(disks) + len(nics)
}

func machines(ctx context.Context, a administrator, states bool) ([]*armcompute.VirtualMachine, error) {
	var o *armcompute.VirtualMachinesClientListAllOptions
	if states {
		o = &armcompute.VirtualMachinesClientListAllOptions{StatusOnly: new("true")}
	}
	return all(ctx, a.vms.NewListAllPager(o), func(p armcompute.VirtualMachinesClientListAllResponse) []*armcompute.VirtualMachine { return p.Value })
}

// running asks again and again: Azure reports no changes.
func running(t testing.TB, api facade.API) <-chan string {
	t.Helper()
	a := administrate(t, api)
	return providerbinary.Poll(t, func(ctx context.Context) (map[string]string, error) {
		all, err := machines(ctx, a, true)
		names := map[string]string{}
		for _, v := range all {
			if runs(v) {
				names[*v.ID] = *v.Name
			}
		}
		return names, err
	})
}

func runs(v *armcompute.VirtualMachine) bool {
	for _, s := range v.Properties.InstanceView.Statuses {
		if *s.Code == "PowerState/running" {
			return true
		}
	}
	return false
}
