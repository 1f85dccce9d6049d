// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
	"github.com/butlerdotdev/butler/internal/tenant"
)

const (
	apiListener   = `{name: kube-apiserver, port: 6443, protocol: TLS, tls: {mode: Passthrough}}`
	agentListener = `{name: konnectivity-server, port: 8132, protocol: TLS, tls: {mode: Passthrough}}`
	gatewayText   = `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {namespace: edge, name: tenants}, spec: {listeners: [` + apiListener + `, ` + agentListener + `]}, status: STATUS}`
	routeText     = `{apiVersion: gateway.networking.k8s.io/v1alpha2, kind: TLSRoute, metadata: {namespace: web-1, name: web}, status: {parents: [{conditions: [CONDITION]}]}}`
	ingressText   = `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: web-1, name: web}, status: {loadBalancer: {ingress: [ADDRESS]}}}`
	traefikText   = `{apiVersion: v1, kind: Service, metadata: {namespace: traefik, name: traefik}, status: {loadBalancer: {ingress: [ADDRESS]}}}`
	hostname      = "web.shop.k8s.example.com"
)

func TestTheHostnamePointsToTheAddressOfTheProxy(t *testing.T) {
	programmed := strings.Replace(gatewayText, "STATUS", `{addresses: [{type: IPAddress, value: 10.0.0.210}]}`, 1)
	accepted := strings.Replace(routeText, "CONDITION", `{type: Accepted, status: "True"}`, 1)
	withAddress := func(text, address string) string { return strings.Replace(text, "ADDRESS", address, 1) }
	gateway := v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureGateway, Hostname: "*.k8s.example.com", GatewayRef: "edge/tenants"}
	nginx := v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureIngress, Hostname: "*.k8s.example.com", ControllerType: "nginx"}
	traefik := v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureIngress, Hostname: "*.k8s.example.com", ControllerType: "traefik"}
	for reason, tc := range map[string]struct {
		exposure v1alpha1.ControlPlaneExposureSpec
		objects  []string
		was      string
		names    map[string][]netip.Addr
		want     string // the address
		waits    string // part of what it waits for
	}{
		"a Gateway":                     {exposure: gateway, objects: []string{programmed, accepted}, want: "10.0.0.210"},
		"a Gateway with a name":         {exposure: gateway, objects: []string{strings.Replace(gatewayText, "STATUS", `{addresses: [{type: Hostname, value: lb.example.com}]}`, 1), accepted}, names: map[string][]netip.Addr{"lb.example.com": {netip.MustParseAddr("198.51.100.4")}}, want: "198.51.100.4"},
		"its name has no address":       {exposure: gateway, objects: []string{strings.Replace(gatewayText, "STATUS", `{addresses: [{type: Hostname, value: lb.example.com}]}`, 1)}, waits: "lb.example.com, which has no address"},
		"no Gateway":                    {exposure: gateway, waits: "Gateway edge/tenants of the ButlerConfig does not exist"},
		"a Gateway without an address":  {exposure: gateway, objects: []string{strings.Replace(gatewayText, "STATUS", `{conditions: [{type: Programmed, status: "False", message: Address is not ready yet}]}`, 1)}, waits: "has no address yet: Programmed is False (Address is not ready yet)"},
		"no listener for agents":        {exposure: gateway, objects: []string{strings.Replace(programmed, ", "+agentListener, "", 1), accepted}, want: "10.0.0.210", waits: "no listener konnectivity-server"},
		"a listener that decrypts":      {exposure: gateway, objects: []string{strings.Replace(programmed, "Passthrough", "Terminate", 1), accepted}, want: "10.0.0.210", waits: `mode "Terminate"`},
		"a listener of another port":    {exposure: gateway, objects: []string{strings.Replace(programmed, "6443", "443", 1), accepted}, want: "10.0.0.210", waits: "port 443"},
		"a route that is refused":       {exposure: gateway, objects: []string{programmed, strings.Replace(routeText, "CONDITION", `{type: Accepted, status: "False", message: No matching listener hostname}`, 1)}, want: "10.0.0.210", waits: "No matching listener hostname"},
		"a route that is not looked at": {exposure: gateway, objects: []string{programmed, strings.Replace(accepted, "{parents:", "{others:", 1)}, want: "10.0.0.210", waits: "has not accepted TLSRoute"},
		"an address that was set stays": {exposure: gateway, objects: []string{strings.Replace(gatewayText, "STATUS", `{addresses: [{value: 10.0.0.210}, {value: 10.0.0.211}]}`, 1), accepted}, was: "10.0.0.211", want: "10.0.0.211"},
		"another address is taken":      {exposure: gateway, objects: []string{programmed, accepted}, was: "10.0.0.99", want: "10.0.0.210"},
		"a Gateway lost its address":    {exposure: gateway, objects: []string{strings.Replace(gatewayText, "STATUS", `{}`, 1)}, was: "10.0.0.210", want: "10.0.0.210", waits: "has no address yet"},
		"nginx":                         {exposure: nginx, objects: []string{withAddress(ingressText, "{ip: 10.0.0.212}")}, want: "10.0.0.212"},
		"nginx with a name":             {exposure: nginx, objects: []string{withAddress(ingressText, "{hostname: lb.example.com}")}, names: map[string][]netip.Addr{"lb.example.com": {netip.MustParseAddr("198.51.100.4")}}, want: "198.51.100.4"},
		"no Ingress yet":                {exposure: nginx, waits: "Ingress web-1/web does not exist, and the name " + hostname + " does not resolve"},
		"an Ingress without an address": {exposure: nginx, objects: []string{withAddress(ingressText, "")}, waits: "Ingress web-1/web has no address"},
		"Traefik":                       {exposure: traefik, objects: []string{withAddress(traefikText, "{ip: 10.0.0.213}")}, want: "10.0.0.213"},
		"another Traefik, and DNS":      {exposure: traefik, names: map[string][]netip.Addr{hostname: {netip.MustParseAddr("10.0.0.214")}}, want: "10.0.0.214"},
		"another Traefik without DNS":   {exposure: traefik, waits: "Service traefik/traefik does not exist, and the name " + hostname},
		"an address of its own":         {exposure: v1alpha1.ControlPlaneExposureSpec{}},
	} {
		t.Run(reason, func(t *testing.T) {
			s := exposureFixture(t, tc.exposure, tc.names, tc.objects...)
			found := &unstructured.Unstructured{Object: map[string]any{}}
			if tc.was != "" {
				_ = unstructured.SetNestedSlice(found.Object, []any{map[string]any{"ip": tc.was}}, "spec", "addons", "tcpProxy", "hostAliases")
			}
			if err := s.locate(t.Context(), found); err != nil {
				t.Fatal(err)
			}
			if s.input.ExposureAddress != tc.want || (s.unexposed == nil) != (tc.waits == "") || s.unexposed != nil && !strings.Contains(s.unexposed.Message, tc.waits) {
				t.Errorf("address %q, %+v", s.input.ExposureAddress, s.unexposed)
			}
			if o, _ := awaitExposure(t.Context(), s); (o == nil) != (tc.want != "" || tc.waits == "") {
				t.Errorf("waits for %+v", o)
			}
		})
	}
}

func exposureFixture(t *testing.T, e v1alpha1.ControlPlaneExposureSpec, names map[string][]netip.Addr, objects ...string) *session {
	t.Helper()
	b := fake.NewClientBuilder().WithRESTMapper(exposureKinds())
	for _, text := range objects {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), u); err != nil {
			t.Fatal(err)
		}
		b = b.WithObjects(u)
	}
	tc := &v1alpha1.TenantCluster{}
	tc.Namespace, tc.Name = "shop", "web"
	api := b.Build()
	r := &Reconciler{
		Client: api, Objects: api, Watch: func(client.Object) error { return nil }, Clock: time.Now,
		Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			if names[name] == nil {
				return nil, errors.New("no such name")
			}
			return names[name], nil
		},
	}
	in := tenant.Input{Cluster: tc, Namespace: "web-1", Provider: &v1alpha1.ProviderConfig{}, Config: &v1alpha1.ButlerConfig{}, Host: tenant.Steward}
	in.Config.Spec.ControlPlaneExposure = &e
	in.Endpoint = tenant.KnownEndpoint(in)
	return &session{TenantCluster: tc, Reconciler: r, input: in}
}

// exposureKinds are those that say how a control plane is reached.
func exposureKinds() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []schema.GroupVersionKind{gateways, tlsRoutes, ingresses, services} {
		m.Add(kind, meta.RESTScopeNamespace)
	}
	return m
}

func TestWorkersAndThisControllerFindTheHostnameWithoutDNS(t *testing.T) {
	e := v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureIngress, Hostname: "*.k8s.example.com"}
	s := exposureFixture(t, e, nil)
	if s.hostEntries() != nil {
		t.Error("without an address there is an entry")
	}
	s.input.ExposureAddress = "10.0.0.210"
	want := []talos.HostEntry{{Address: "10.0.0.210", Names: []string{hostname, "web.shop.konnectivity.example.com"}}}
	if diff := cmp.Diff(want, s.hostEntries()); diff != "" {
		t.Error(diff)
	}
	via, err := s.route(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var dialled []string
	dial := via.dialer(func(_ context.Context, _, at string) (net.Conn, error) {
		dialled = append(dialled, at)
		return nil, errors.New("closed")
	})
	for _, at := range []string{hostname + ":443", hostname + ":6443", "10.0.0.9:50000"} {
		_, _ = dial(t.Context(), "tcp", at)
	}
	if diff := cmp.Diff([]string{"10.0.0.210:443", hostname + ":6443", "10.0.0.9:50000"}, dialled); diff != "" {
		t.Error(diff)
	}
	if name := userKubeconfigOf("web", via); name != "web-admin-kubeconfig" {
		t.Error(name)
	}
}

func TestTheRouteOfAClusterThatIsDeletedIsThatOfItsControlPlane(t *testing.T) {
	for reason, tc := range map[string]struct {
		network, want string
	}{
		"behind a Gateway":      {`gateway: {hostname: ` + hostname + `}`, hostname + ":6443 (10.0.0.210)"},
		"an address of its own": {`serviceType: LoadBalancer`, ""},
	} {
		u := &unstructured.Unstructured{}
		err := yaml.Unmarshal([]byte(`{kind: StewardControlPlane, spec: {network: {`+tc.network+`}, controlPlaneEndpoint: {host: `+hostname+`, port: 6443}, addons: {tcpProxy: {hostAliases: [{ip: 10.0.0.210}]}}}}`), u)
		if err != nil {
			t.Fatal(err)
		}
		owner := &v1alpha1.TenantCluster{}
		owner.Namespace, owner.Name = "shop", "web"
		if got := routeOf(owner, u).String(); got != tc.want {
			t.Errorf("%s: %q", reason, got)
		}
	}
}
