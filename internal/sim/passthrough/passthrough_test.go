// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package passthrough

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"
)

const inCluster = `
apiVersion: v1
kind: Service
metadata: {namespace: web-1, name: web}
spec: {clusterIP: 10.96.0.50, ports: [{port: 6443}, {port: 8132}]}
---
apiVersion: v1
kind: Service
metadata: {namespace: edge, name: front}
spec: {type: LoadBalancer, selector: {app: front}, ports: [{port: 443}]}
status: {loadBalancer: {ingress: [{ip: 10.0.0.210}]}}
`

func read(t *testing.T, documents string) (out []client.Object) {
	t.Helper()
	for text := range strings.SplitSeq(documents, "\n---\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), u); err != nil {
			t.Fatal(err)
		}
		out = append(out, u)
	}
	return out
}

func newClient(t *testing.T, documents ...string) client.Client {
	t.Helper()
	b := fake.NewClientBuilder()
	for _, d := range documents {
		for _, o := range read(t, d) {
			b = b.WithObjects(o).WithStatusSubresource(o)
		}
	}
	return b.Build()
}

func pod(image string, args ...string) *corev1.Pod {
	p := &corev1.Pod{}
	p.Namespace, p.Labels = "edge", map[string]string{"app": "front"}
	p.Spec.Containers = []corev1.Container{{Image: image, Args: args}}
	return p
}

// names are those of a table, by address and port.
func names(t table) map[string][]string {
	out := map[string][]string{}
	for at, routes := range t {
		out[at.String()] = slices.Sorted(maps.Keys(routes))
	}
	return out
}

func TestProgramsAreKnownByTheirImages(t *testing.T) {
	for reason, tc := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"Cilium's operator":           {pod("quay.io/cilium/operator-generic:v1.17.0"), true},
		"Cilium's agent":              {pod("quay.io/cilium/cilium:v1.17.0"), false},
		"Traefik":                     {pod("docker.io/traefik:v3.3.3", "--providers.kubernetescrd"), true},
		"Traefik without its kinds":   {pod("docker.io/traefik:v3.3.3"), false},
		"ingress-nginx":               {pod("registry.k8s.io/ingress-nginx/controller:v1.15.1"), true},
		"a webhook of ingress-nginx":  {pod("registry.k8s.io/ingress-nginx/kube-webhook-certgen:v1.6.9"), false},
		"an image with a digest only": {pod("quay.io/cilium/operator-generic@sha256:ab"), true},
	} {
		if got := Plays(tc.pod); got != tc.want {
			t.Errorf("%s: %t", reason, got)
		}
	}
}

func TestTraefikPassesOnWhatIngressRouteTCPsSay(t *testing.T) {
	const route = `
apiVersion: traefik.io/v1alpha1
kind: IngressRouteTCP
metadata: {namespace: web-1, name: web}
spec:
  entryPoints: [ENTRY]
  routes:
    - {match: "HostSNI(` + "`web.k8s.example.com`) || HostSNI(`kubernetes`" + `)", services: [{name: web, port: 6443}]}
    - {match: "HostSNI(` + "`web.konnectivity.example.com`" + `)", services: [{name: web, port: 8132}]}
    - {match: "HostSNI(` + "`gone.k8s.example.com`" + `)", services: [{name: gone, port: 6443}]}
  tls: {passthrough: PASSES}
`
	for reason, tc := range map[string]struct {
		entry, passes string
		want          []string
	}{
		"for TLS":                    {"websecure", "true", []string{"kubernetes", "web.k8s.example.com", "web.konnectivity.example.com"}},
		"for another entry point":    {"web", "true", nil},
		"which would be decrypted":   {"websecure", "false", nil},
		"for neither, and decrypted": {"web", "false", nil},
	} {
		c := newClient(t, inCluster, strings.NewReplacer("ENTRY", tc.entry, "PASSES", tc.passes).Replace(route))
		out, err := programOf(pod("docker.io/traefik:v3.3.3", "--providers.kubernetescrd")).pass(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string][]string{"10.0.0.210:443": tc.want}, names(out)); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
	}
}

func TestNginxPassesOnOnlyIfItsArgumentAndTheAnnotationSaySo(t *testing.T) {
	const objects = `
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {namespace: web-1, name: web, annotations: {nginx.ingress.kubernetes.io/ssl-passthrough: "ANNOTATION"}}
spec:
  ingressClassName: CLASS
  rules: [{host: web.k8s.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 6443}}}}]}}]
`
	for reason, tc := range map[string]struct {
		class, annotation string
		args              []string
		want              []string
		published         bool
	}{
		"both":             {"nginx", "true", []string{"--enable-ssl-passthrough=true"}, []string{"web.k8s.example.com"}, true},
		"no argument":      {"nginx", "true", nil, nil, true},
		"no annotation":    {"nginx", "false", []string{"--enable-ssl-passthrough=true"}, nil, true},
		"of another class": {"haproxy", "true", []string{"--enable-ssl-passthrough=true"}, nil, false},
	} {
		c := newClient(t, inCluster, strings.NewReplacer("CLASS", tc.class, "ANNOTATION", tc.annotation).Replace(objects))
		out, err := programOf(pod("registry.k8s.io/ingress-nginx/controller:v1.15.1", tc.args...)).pass(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string][]string{"10.0.0.210:443": tc.want}, names(out)); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
		o := &networkingv1.Ingress{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "web-1", Name: "web"}, o); err != nil {
			t.Fatal(err)
		}
		if got := len(o.Status.LoadBalancer.Ingress) > 0; got != tc.published {
			t.Errorf("%s: published %t", reason, got)
		}
	}
}

const gatewayObjects = `
apiVersion: v1
kind: ConfigMap
metadata: {namespace: edge, name: cilium-config}
data: {enable-gateway-api: "ENABLED"}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: cilium}
spec: {controllerName: io.cilium/gateway-controller}
---
apiVersion: v1
kind: Service
metadata: {namespace: butler-system, name: cilium-gateway-tenants}
spec: {type: LoadBalancer, ports: [{port: 6443}]}
status: {loadBalancer: {ingress: [{ip: 10.0.0.220}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {namespace: butler-system, name: tenants}
spec:
  gatewayClassName: cilium
  listeners:
    - {name: kube-apiserver, port: 6443, protocol: TLS, hostname: "HOSTNAME", tls: {mode: MODE}, allowedRoutes: {namespaces: {from: FROM}}}
---
apiVersion: gateway.networking.k8s.io/v1alpha2
kind: TLSRoute
metadata: {namespace: web-1, name: web}
spec:
  hostnames: [web.payments.k8s.example.com]
  parentRefs: [{name: tenants, namespace: butler-system, port: 6443, sectionName: SECTION}]
  rules: [{backendRefs: [{name: web, port: 6443}]}]
`

func TestCiliumTakesRoutesThatItsListenersAccept(t *testing.T) {
	good := map[string]string{"ENABLED": "true", "HOSTNAME": "*.k8s.example.com", "MODE": "Passthrough", "FROM": "All", "SECTION": "kube-apiserver"}
	for reason, tc := range map[string]struct{ key, value, reason string }{
		"all is well":                  {reason: "Accepted"},
		"without a hostname":           {"HOSTNAME", "", "Accepted"},
		"of another domain":            {"HOSTNAME", "*.example.org", "NoMatchingListenerHostname"},
		"TLS is decrypted":             {"MODE", "Terminate", "NotAllowedByListeners"},
		"routes of its own namespace":  {"FROM", "Same", "NotAllowedByListeners"},
		"no such listener":             {"SECTION", "https", "NoMatchingParent"},
		"Cilium does not serve routes": {"ENABLED", "false", ""},
	} {
		values := maps.Clone(good)
		values[tc.key] = tc.value
		text := gatewayObjects
		for key, value := range values {
			text = strings.ReplaceAll(text, key, value)
		}
		c := newClient(t, inCluster, text)
		out, err := programOf(pod("quay.io/cilium/operator-generic:v1.17.0")).pass(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got := acceptance(t, c); got != tc.reason {
			t.Errorf("%s: %q, want %q", reason, got, tc.reason)
		}
		to := out[netip.MustParseAddrPort("10.0.0.220:6443")]["web.payments.k8s.example.com"]
		if want := tc.reason == "Accepted"; to.IsValid() != want || want && to.String() != "10.96.0.50:6443" {
			t.Errorf("%s: passed on to %v", reason, to)
		}
	}
}

// acceptance is the reason of the route's condition.
func acceptance(t *testing.T, c client.Client) string {
	t.Helper()
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("gateway.networking.k8s.io/v1alpha2")
	o.SetKind("TLSRoute")
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "web-1", Name: "web"}, o); err != nil {
		t.Fatal(err)
	}
	for _, parent := range mapsOf(o.Object, "status", "parents") {
		for _, each := range mapsOf(parent, "conditions") {
			if each["type"] == "Accepted" {
				return textOf(each, "reason")
			}
		}
	}
	return ""
}

func TestAGatewayGetsAServiceAndReportsItsAddress(t *testing.T) {
	text := strings.NewReplacer("ENABLED", "true", "HOSTNAME", "", "MODE", "Passthrough", "FROM", "All", "SECTION", "kube-apiserver", "name: cilium-gateway-tenants", "name: another").Replace(gatewayObjects)
	c := newClient(t, inCluster, text)
	status := func() (address, programmed string) {
		if _, err := (cilium{namespace: "edge"}).pass(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		o := &unstructured.Unstructured{}
		o.SetAPIVersion("gateway.networking.k8s.io/v1")
		o.SetKind("Gateway")
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "butler-system", Name: "tenants"}, o); err != nil {
			t.Fatal(err)
		}
		for _, a := range mapsOf(o.Object, "status", "addresses") {
			address = textOf(a, "value")
		}
		return address, textOf(mapsOf(o.Object, "status", "conditions")[1], "status")
	}
	if address, programmed := status(); address != "" || programmed != "False" {
		t.Errorf("at first %q, %s", address, programmed)
	}
	s := &corev1.Service{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "butler-system", Name: "cilium-gateway-tenants"}, s); err != nil || s.Spec.Ports[0].Port != 6443 {
		t.Fatal(s.Spec.Ports, err)
	}
	s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "10.0.0.211"}}
	if err := c.Status().Update(t.Context(), s); err != nil {
		if err := c.Update(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if address, programmed := status(); address != "10.0.0.211" || programmed != "True" {
		t.Errorf("then %q, %s", address, programmed)
	}
}

func TestAStarIsOneOrMoreLabels(t *testing.T) {
	for name, want := range map[string]bool{"a.example.com": true, "a.b.example.com": true, "example.com": false, ".example.com": false, "a.example.org": false} {
		if got := fits("*.example.com", name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
