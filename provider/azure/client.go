// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// clients are the services that the driver uses.
type clients struct {
	arm        *arm.Client
	credential azcore.TokenCredential
	options    *arm.ClientOptions

	vms    *armcompute.VirtualMachinesClient
	disks  *armcompute.DisksClient
	sets   *armcompute.AvailabilitySetsClient
	skus   *armcompute.ResourceSKUsClient
	usage  *armcompute.UsageClient
	market *armcompute.VirtualMachineImagesClient

	nics      *armnetwork.InterfacesClient
	addresses *armnetwork.PublicIPAddressesClient
	prefixes  *armnetwork.PublicIPPrefixesClient
	balancers *armnetwork.LoadBalancersClient
	groups    *armnetwork.SecurityGroupsClient
	rules     *armnetwork.SecurityRulesClient
	networks  *armnetwork.VirtualNetworksClient
	subnets   *armnetwork.SubnetsClient
	gateways  *armnetwork.NatGatewaysClient

	// http sends requests without credentials.
	http *http.Client
	// retail says that the price service knows this cloud: it is Microsoft's own.
	retail  bool
	release func()
}

// newClients returns clients that send every byte through the transport of the connection.
func newClients(op string, c provider.Config) (clients, error) {
	where, err := cloudOf(op, c)
	if err != nil {
		return clients{}, err
	}
	tls, err := c.Transport.TLS(provider.Trust{CABundle: c.Credentials.Get(v1alpha1.KeyCABundle)})
	if err != nil {
		return clients{}, provider.Invalid.New(op, provider.ReasonCertificateRefused, err, "correct the key "+v1alpha1.KeyCABundle+" of the Secret")
	}
	h := c.Transport.HTTPClient(tls)
	// A redirect would carry the token to another server.
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	base := policy.ClientOptions{
		Cloud: where, Transport: h, Retry: policy.RetryOptions{MaxRetries: -1}, Telemetry: policy.TelemetryOptions{Disabled: true},
		InsecureAllowCredentialWithHTTP: strings.HasPrefix(c.Spec.Azure.Endpoint, "http:"),
	}
	api := clients{options: &arm.ClientOptions{ClientOptions: base, DisableRPRegistration: true}, http: h, retail: priced(c.Spec.Azure.Endpoint), release: h.CloseIdleConnections}
	if api.credential, err = credentialOf(op, c, base); err != nil {
		return clients{}, err
	}
	if err := api.open(c.Spec.Azure.SubscriptionID); err != nil {
		return clients{}, provider.Invalid.New(op, provider.ReasonPlatformRefused, err, "correct spec.azure")
	}
	return api, nil
}

func (c *clients) open(subscription string) error {
	compute, err := armcompute.NewClientFactory(subscription, c.credential, c.options)
	if err != nil {
		return err
	}
	network, err := armnetwork.NewClientFactory(subscription, c.credential, c.options)
	if err != nil {
		return err
	}
	c.vms, c.disks, c.sets = compute.NewVirtualMachinesClient(), compute.NewDisksClient(), compute.NewAvailabilitySetsClient()
	c.skus, c.usage, c.market = compute.NewResourceSKUsClient(), compute.NewUsageClient(), compute.NewVirtualMachineImagesClient()
	c.nics, c.addresses, c.balancers = network.NewInterfacesClient(), network.NewPublicIPAddressesClient(), network.NewLoadBalancersClient()
	c.prefixes, c.groups, c.rules = network.NewPublicIPPrefixesClient(), network.NewSecurityGroupsClient(), network.NewSecurityRulesClient()
	c.networks, c.subnets, c.gateways = network.NewVirtualNetworksClient(), network.NewSubnetsClient(), network.NewNatGatewaysClient()
	c.arm, err = arm.NewClient("butler", "v1", c.credential, c.options)
	return err
}

// known are Microsoft's own clouds.
func known() []cloud.Configuration {
	return []cloud.Configuration{cloud.AzurePublic, cloud.AzureGovernment, cloud.AzureChina}
}

// cloudOf returns the endpoints of the settings. Those that are not Microsoft's have to be
// confirmed by the Secret.
func cloudOf(op string, c provider.Config) (cloud.Configuration, error) {
	endpoint, authority := strings.TrimSuffix(c.Spec.Azure.Endpoint, "/"), strings.TrimSuffix(c.Spec.Azure.AuthorityHost, "/")
	where := base(endpoint)
	manager := where.Services[cloud.ResourceManager]
	if endpoint != "" && !sameHost(endpoint, manager.Endpoint) {
		if _, err := c.Credentials.Endpoint(op, "spec.azure.endpoint", endpoint, ""); err != nil {
			return where, err
		}
		manager.Endpoint = endpoint
	}
	if authority != "" && !microsoft(authority) {
		if !strings.HasPrefix(authority, "https:") {
			return where, provider.Invalid.New(op, provider.ReasonFieldUnsupported, errors.New("spec.azure.authorityHost "+authority+" has no TLS: secrets are not sent there"), "use https")
		}
		if _, err := c.Credentials.Endpoint(op, "spec.azure.authorityHost", authority, string(c.Credentials.Get(v1alpha1.KeyAuthorityHost))); err != nil {
			return where, err
		}
		if endpoint != "" { // a cloud of its own: tokens are for its own endpoint
			manager.Audience = manager.Endpoint
		}
	}
	if authority != "" {
		where.ActiveDirectoryAuthorityHost = authority + "/"
	}
	where.Services = map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: manager}
	return where, nil
}

// base is the cloud of Microsoft that an endpoint belongs to, else the public one.
func base(endpoint string) cloud.Configuration {
	for _, k := range known() {
		if sameHost(endpoint, k.Services[cloud.ResourceManager].Endpoint) {
			return k
		}
	}
	return cloud.AzurePublic
}

// priced reports whether the price service has the regions of an endpoint. China has prices
// of its own.
func priced(endpoint string) bool {
	return endpoint == "" || slices.ContainsFunc([]cloud.Configuration{cloud.AzurePublic, cloud.AzureGovernment}, func(k cloud.Configuration) bool {
		return sameHost(strings.TrimSuffix(endpoint, "/"), k.Services[cloud.ResourceManager].Endpoint)
	})
}

func microsoft(authority string) bool {
	for _, k := range known() {
		if sameHost(authority, k.ActiveDirectoryAuthorityHost) {
			return true
		}
	}
	return false
}

func sameHost(a, b string) bool {
	left, err := url.Parse(a)
	if err != nil {
		return false
	}
	right, err := url.Parse(b)
	return err == nil && left.Scheme == right.Scheme && strings.EqualFold(left.Host, right.Host)
}
