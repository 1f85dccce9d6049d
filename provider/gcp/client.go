// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	compute "cloud.google.com/go/compute/apiv1"
	"github.com/googleapis/gax-go/v2/callctx"
	"google.golang.org/api/option"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// clients are the parts of the API that the driver uses.
type clients struct {
	projects  *compute.ProjectsClient
	regions   *compute.RegionsClient
	zones     *compute.ZonesClient
	types     *compute.MachineTypesClient
	images    *compute.ImagesClient
	subnets   *compute.SubnetworksClient
	firewalls *compute.FirewallsClient
	routers   *compute.RoutersClient
	routes    *compute.RoutesClient
	instances *compute.InstancesClient
	disks     *compute.DisksClient

	zoneOperations   *compute.ZoneOperationsClient
	regionOperations *compute.RegionOperationsClient
	globalOperations *compute.GlobalOperationsClient

	addresses *compute.AddressesClient
	rules     *compute.ForwardingRulesClient
	services  *compute.RegionBackendServicesClient
	checks    *compute.RegionHealthChecksClient
	groups    *compute.InstanceGroupsClient

	*contexts
	// http sends requests of services without a client, with an access token.
	http *http.Client
	// base replaces the hosts of all services.
	base    string
	release func()
}

// newClients returns clients that send every byte through the transport of the connection.
// An endpoint in the settings serves all of them, and the token endpoints.
func newClients(ctx context.Context, op string, c provider.Config) (clients, error) {
	base := strings.TrimSuffix(c.Spec.GCP.Endpoint, "/")
	if base != "" {
		if _, err := c.Credentials.Endpoint(op, "spec.gcp.endpoint", base, ""); err != nil {
			return clients{}, err
		}
	}
	tls, err := c.Transport.TLS(provider.Trust{CABundle: c.Credentials.Get(v1alpha1.KeyCABundle)})
	if err != nil {
		return clients{}, provider.Invalid.New(op, provider.ReasonCertificateRefused, err, "correct the key "+v1alpha1.KeyCABundle+" of the Secret")
	}
	plain := c.Transport.HTTPClient(tls)
	// A redirect would carry the credentials to another server.
	plain.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	access, err := tokensOf(op, c, plain)
	if err != nil {
		return clients{}, err
	}
	all := clients{contexts: &contexts{}, base: base, release: plain.CloseIdleConnections}
	all.http = &http.Client{Transport: authorized{plain.Transport, access, all.contexts}, CheckRedirect: plain.CheckRedirect}
	return all, all.open(ctx)
}

// opener creates one client.
type opener func(context.Context, []option.ClientOption) error

func client[C any](into *C, create func(context.Context, ...option.ClientOption) (C, error)) opener {
	return func(ctx context.Context, with []option.ClientOption) (err error) {
		*into, err = create(ctx, with...)
		return err
	}
}

// open creates the clients and turns their repetition of calls off.
func (c *clients) open(ctx context.Context) error {
	// The SDK's log would have user data in it.
	with := []option.ClientOption{option.WithHTTPClient(c.http), option.WithLogger(slog.New(slog.DiscardHandler))}
	if c.base != "" {
		with = append(with, option.WithEndpoint(c.base))
	}
	for _, open := range []opener{
		client(&c.projects, compute.NewProjectsRESTClient), client(&c.regions, compute.NewRegionsRESTClient), client(&c.zones, compute.NewZonesRESTClient),
		client(&c.types, compute.NewMachineTypesRESTClient), client(&c.images, compute.NewImagesRESTClient), client(&c.subnets, compute.NewSubnetworksRESTClient),
		client(&c.firewalls, compute.NewFirewallsRESTClient), client(&c.routers, compute.NewRoutersRESTClient), client(&c.routes, compute.NewRoutesRESTClient),
		client(&c.instances, compute.NewInstancesRESTClient), client(&c.disks, compute.NewDisksRESTClient),
		client(&c.zoneOperations, compute.NewZoneOperationsRESTClient), client(&c.regionOperations, compute.NewRegionOperationsRESTClient), client(&c.globalOperations, compute.NewGlobalOperationsRESTClient),
		client(&c.addresses, compute.NewAddressesRESTClient), client(&c.rules, compute.NewForwardingRulesRESTClient),
		client(&c.services, compute.NewRegionBackendServicesRESTClient), client(&c.checks, compute.NewRegionHealthChecksRESTClient),
		client(&c.groups, compute.NewInstanceGroupsRESTClient),
	} {
		if err := open(ctx, with); err != nil {
			return err
		}
	}
	c.once()
	return nil
}

// once removes the SDK's retries, which are among the options of every call.
func (c *clients) once() {
	c.projects.CallOptions, c.regions.CallOptions = &compute.ProjectsCallOptions{}, &compute.RegionsCallOptions{}
	c.zones.CallOptions, c.types.CallOptions = &compute.ZonesCallOptions{}, &compute.MachineTypesCallOptions{}
	c.images.CallOptions, c.subnets.CallOptions = &compute.ImagesCallOptions{}, &compute.SubnetworksCallOptions{}
	c.firewalls.CallOptions, c.routers.CallOptions = &compute.FirewallsCallOptions{}, &compute.RoutersCallOptions{}
	c.routes.CallOptions, c.instances.CallOptions = &compute.RoutesCallOptions{}, &compute.InstancesCallOptions{}
	c.disks.CallOptions, c.globalOperations.CallOptions = &compute.DisksCallOptions{}, &compute.GlobalOperationsCallOptions{}
	c.zoneOperations.CallOptions, c.regionOperations.CallOptions = &compute.ZoneOperationsCallOptions{}, &compute.RegionOperationsCallOptions{}
	c.addresses.CallOptions, c.rules.CallOptions = &compute.AddressesCallOptions{}, &compute.ForwardingRulesCallOptions{}
	c.services.CallOptions, c.checks.CallOptions = &compute.RegionBackendServicesCallOptions{}, &compute.RegionHealthChecksCallOptions{}
	c.groups.CallOptions = &compute.InstanceGroupsCallOptions{}
}

// headerCall names a call in its requests; it is not sent.
const headerCall = "X-Butler-Call"

// contexts carries the context of a call to its requests: the SDK sends those of listings
// without one, so that they would not end with it.
type contexts struct {
	last atomic.Uint64
	open sync.Map
}

// bind returns the context of listings; end is called after them.
func (c *contexts) bind(ctx context.Context) (bound context.Context, end func()) {
	id := strconv.FormatUint(c.last.Add(1), 10)
	c.open.Store(id, ctx)
	return callctx.SetHeaders(ctx, headerCall, id), func() { c.open.Delete(id) }
}

// of returns the context that a request belongs to.
func (c *contexts) of(r *http.Request) context.Context {
	if bound, ok := c.open.Load(r.Header.Get(headerCall)); ok {
		return bound.(context.Context) //nolint:forcetypeassert // bind stores nothing else
	}
	return r.Context()
}
