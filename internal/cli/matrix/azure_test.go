// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"
)

// azureObjects returns the names of virtual machines and disks.
func azureObjects(ctx context.Context, admin string) (map[string][]string, error) {
	c, err := azureAdministrator(admin)
	if err != nil {
		return nil, err
	}
	found := map[string][]string{"virtualMachines": nil, "disks": nil}
	for pages := c.NewVirtualMachinesClient().NewListAllPager(nil); pages.More(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, v := range page.Value {
			found["virtualMachines"] = append(found["virtualMachines"], *v.Name)
		}
	}
	for pages := c.NewDisksClient().NewListPager(nil); pages.More(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, d := range page.Value {
			found["disks"] = append(found["disks"], *d.Name)
		}
	}
	return found, nil
}

func azureAdministrator(file string) (*armcompute.ClientFactory, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var a map[string]string
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(a["caBundle"])
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	o := azcore.ClientOptions{
		Cloud: cloud.Configuration{ActiveDirectoryAuthorityHost: a["activeDirectoryEndpointUrl"], Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Endpoint: a["resourceManagerEndpointUrl"], Audience: "https://management.azure.com"},
		}},
		Transport: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}},
	}
	credential, err := azidentity.NewClientSecretCredential(a["tenantId"], a["clientId"], a["clientSecret"], &azidentity.ClientSecretCredentialOptions{ClientOptions: o, DisableInstanceDiscovery: true})
	if err != nil {
		return nil, err
	}
	return armcompute.NewClientFactory(a["subscriptionId"], credential, &arm.ClientOptions{ClientOptions: o, DisableRPRegistration: true})
}
