// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"fmt"
	"net"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// route is how an API server behind a hostname is reached. The zero value is for one with an
// address of its own.
type route struct {
	// endpoint is the hostname and the port.
	endpoint string
	// address is that of the Gateway or of the ingress controller; empty if it is not known.
	address string
}

// dialer connects to the address where the endpoint is meant, so that no DNS is needed.
func (r route) dialer(dial talos.Dialer) talos.Dialer {
	if r.address == "" {
		return dial
	}
	return func(ctx context.Context, network, at string) (net.Conn, error) {
		if _, port, err := net.SplitHostPort(at); err == nil && at == r.endpoint {
			at = net.JoinHostPort(r.address, port)
		}
		return dial(ctx, network, at)
	}
}

// route returns the one of this walk, or before it is known that of the control plane as it is.
func (s *session) route(ctx context.Context) (route, error) {
	if s.input.Cluster != nil {
		if s.input.Mode() == v1alpha1.ExposureLoadBalancer || s.input.Endpoint == nil {
			return route{}, nil
		}
		return route{endpoint: s.input.Endpoint.String(), address: s.input.ExposureAddress}, nil
	}
	served, err := s.served(schema.GroupKind{Group: controlPlaneGroup, Kind: "StewardControlPlane"})
	if err != nil || served.Empty() {
		return route{}, err
	}
	if err := s.watch(served); err != nil {
		return route{}, err
	}
	found, err := s.read(ctx, served, tenantKey(s.TenantCluster, s.Name))
	if err != nil || found == nil {
		return route{}, err
	}
	return routeOf(s.TenantCluster, found), nil
}

// routeOf is that of a control plane as it is.
func routeOf(tc *v1alpha1.TenantCluster, controlPlane *unstructured.Unstructured) route {
	endpoint := endpointOf(controlPlane)
	if endpoint == nil || tenant.Exposed(tc, controlPlane).Mode == v1alpha1.ExposureLoadBalancer {
		return route{}
	}
	return route{endpoint: endpoint.String(), address: aliasOf(controlPlane)}
}

// hostEntries are those of the workers.
func (s *session) hostEntries() []talos.HostEntry {
	if s.input.ExposureAddress == "" {
		return nil
	}
	return []talos.HostEntry{{Address: s.input.ExposureAddress, Names: tenant.Hostnames(s.input)}}
}

// byHostname reports whether the API server is reached by a hostname alone.
func (s *session) byHostname() bool { return s.input.Mode() != v1alpha1.ExposureLoadBalancer }

// adminKubeconfigOf is the name of the Secret with the administrator's kubeconfig, as Steward has
// it: with the hostname under key admin.conf, and with the Service, for Cluster API, under
// admin.svc.
func adminKubeconfigOf(cluster string) string { return cluster + "-admin-kubeconfig" }

// userKubeconfigOf is the name of the Secret with the kubeconfig for users.
func userKubeconfigOf(cluster string, via route) string {
	if via.endpoint != "" {
		return adminKubeconfigOf(cluster)
	}
	return kubeconfigOf(cluster)
}

func (r route) String() string {
	if r.address == "" {
		return r.endpoint
	}
	return fmt.Sprintf("%s (%s)", r.endpoint, r.address)
}
