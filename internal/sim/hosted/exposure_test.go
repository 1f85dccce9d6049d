// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// exposed is a TenantControlPlane that its provider has filled.
func exposed(t *testing.T, network map[string]any) (cp, tcp *unstructured.Unstructured) {
	t.Helper()
	cp = object("controlplane.cluster.x-k8s.io/v1alpha1", "StewardControlPlane", map[string]any{"spec": map[string]any{
		"version": "v1.32.0", "network": network, "addons": map[string]any{"konnectivity": map[string]any{}},
	}})
	tcp = object("steward.butlerlabs.dev/v1alpha1", "TenantControlPlane", map[string]any{})
	fill(tcp, object("cluster.x-k8s.io/v1beta2", "Cluster", map[string]any{}), cp)
	return cp, tcp
}

func TestAControlPlaneIsRoutedToAsItsProviderSays(t *testing.T) {
	const host = "web.shop.k8s.example.com"
	gateway := map[string]any{"serviceType": "ClusterIP", "gateway": map[string]any{
		"hostname": host, "parentRefs": []any{map[string]any{"name": "tenants", "namespace": "edge"}},
	}}
	ingress := func(kind string) map[string]any {
		return map[string]any{"serviceType": "ClusterIP", "ingress": map[string]any{"hostname": host, "className": "front", "controllerType": kind}}
	}
	for reason, tc := range map[string]struct {
		network  map[string]any
		endpoint int64
		created  []string // kind, name and hosts
		late     string
	}{
		"a Gateway": {gateway, 6443, []string{"TLSRoute demo " + host, "TLSRoute demo-konnectivity web.shop.konnectivity.example.com"}, "no gateway attached"},
		"Traefik":   {ingress("traefik"), 443, []string{"IngressRouteTCP demo"}, ""},
		"nginx":     {ingress("nginx"), 443, []string{"Ingress demo " + host}, ""},
		"generic":   {ingress("generic"), 443, []string{"Ingress demo " + host}, ""},
	} {
		cp, tcp := exposed(t, tc.network)
		names, _, _ := unstructured.NestedStringSlice(tcp.Object, "spec", "networkProfile", "certSANs")
		if diff := cmp.Diff([]string{host}, names); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
		_ = unstructured.SetNestedField(tcp.Object, host+":1", "status", "controlPlaneEndpoint")
		if at, port, err := endpointOf(cp, tcp); at != host || port != tc.endpoint || err != nil {
			t.Errorf("%s: endpoint %s:%d, %v", reason, at, port, err)
		}
		c := fake.NewClientBuilder().Build()
		o := &operator{flavour: flavours()[0]}
		err := o.ensureRoutes(t.Context(), c, tcp, map[string]any{"kubernetesResources": map[string]any{}})
		if tc.late == "" && err != nil || tc.late != "" && (err == nil || !strings.Contains(err.Error(), tc.late)) {
			t.Errorf("%s: %v", reason, err)
		}
		if diff := cmp.Diff(tc.created, created(t, c)); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
	}
}

// created are the objects that point to a control plane.
func created(t *testing.T, c client.Client) (out []string) {
	t.Helper()
	for _, kind := range []schema.GroupVersionKind{tlsRoute, {Group: "traefik.io", Version: "v1alpha1", Kind: "IngressRouteTCP"}, {Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}} {
		for _, name := range []string{"demo", "demo-konnectivity"} {
			o := &unstructured.Unstructured{}
			o.SetGroupVersionKind(kind)
			if c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: name}, o) != nil {
				continue
			}
			text := kind.Kind + " " + name
			hosts, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "hostnames")
			rules, _, _ := unstructured.NestedSlice(o.Object, "spec", "rules")
			for _, r := range rules {
				if host, ok := r.(map[string]any)["host"].(string); ok {
					hosts = append(hosts, host)
				}
			}
			out = append(out, strings.TrimSpace(text+" "+strings.Join(hosts, " ")))
		}
	}
	return out
}

func TestAnAddressOfItsOwnNeedsNoRoute(t *testing.T) {
	cp, tcp := exposed(t, map[string]any{"serviceType": "LoadBalancer"})
	_ = unstructured.SetNestedField(tcp.Object, "10.0.0.5:6443", "status", "controlPlaneEndpoint")
	if at, port, err := endpointOf(cp, tcp); at != "10.0.0.5" || port != 6443 || err != nil {
		t.Errorf("endpoint %s:%d, %v", at, port, err)
	}
	c := fake.NewClientBuilder().Build()
	if err := (&operator{flavour: flavours()[0]}).ensureRoutes(t.Context(), c, tcp, nil); err != nil || len(created(t, c)) > 0 {
		t.Error(err, created(t, c))
	}
}

func TestAGatewayIsRefusedWhereTLSRoutesAreNotServed(t *testing.T) {
	cp, _ := exposed(t, map[string]any{"gateway": map[string]any{"hostname": "web.k8s.example.com"}})
	if err := admitGateway(fake.NewClientBuilder().Build(), cp); err == nil || !strings.Contains(err.Error(), "TLSRoute resource is not available") {
		t.Error(err)
	}
}

func TestClusterAPIGetsTheKubeconfigThatAnAnnotationNames(t *testing.T) {
	p := &provider{flavour: flavours()[0]}
	cp, _ := exposed(t, nil)
	if got := p.kubeconfigKey(cp); got != "admin.conf" {
		t.Error(got)
	}
	cp.SetAnnotations(map[string]string{"steward.butlerlabs.dev/kubeconfig-secret-key": "admin.svc"})
	if got := p.kubeconfigKey(cp); got != "admin.svc" {
		t.Error(got)
	}
}
