// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

const (
	exampleBehind = "../../configs/examples/tenant-behind-gateway.yaml"
	exampleOwn    = "../../configs/examples/tenant-own-address.yaml"
	webHost       = "web.butler-tenants.k8s.platform.example.com"
)

// TestTenantsShareTheAddressOfAGateway goes through the life of a tenant whose API server is
// reached by a hostname, beside one with an address of its own.
func TestTenantsShareTheAddressOfAGateway(t *testing.T) {
	a := newAdm(t)
	a.ok("bootstrap", "harvester", "-c", "../../configs/examples/harvester-ha-gateway.yaml", "--rehearse")
	a.ok("tenant", "create", "butler-mgmt", "-f", exampleBehind, "--no-wait")
	awaitText(t, func() string { return a.ok("tenant", "status", "butler-mgmt", "web").out }, "Gateway butler-system/tenant-gateway of the ButlerConfig does not exist")
	applyAll(t, a.within("butler-mgmt"), "../../configs/examples/tenants-gateway.yaml")
	a.ok("tenant", "create", "butler-mgmt", "-f", exampleBehind)
	live(t, a, webHost+":6443")
	expectRoutes(t, a, "TLSRoute", "gateway.networking.k8s.io/v1alpha2", 2)

	a.ok("tenant", "create", "butler-mgmt", "-f", exampleOwn)
	if _, err := netip.ParseAddrPort(statusOf(t, a, "shop").Status.ControlPlaneEndpoint); err != nil {
		t.Errorf("the other tenant has no address of its own: %v", err)
	}
	a.ok("tenant", "talosconfig", "butler-mgmt", "shop")
	change := a.within("butler-mgmt")
	shop := &v1alpha1.TenantCluster{}
	if err := change.Get(t.Context(), client.ObjectKey{Namespace: "butler-tenants", Name: "shop"}, shop); err != nil {
		t.Fatal(err)
	}
	shop.Spec.ControlPlane.ServiceType = ""
	if err := change.Update(t.Context(), shop); err == nil || !strings.Contains(err.Error(), "serviceType cannot be changed") {
		t.Errorf("its endpoint moves: %v", err)
	}
	a.ok("tenant", "delete", "butler-mgmt", "shop", "--yes")
	die(t, a)
	expectRoutes(t, a, "TLSRoute", "gateway.networking.k8s.io/v1alpha2", 0)
	removeGateway(t, a)
	a.ok("destroy", "butler-mgmt", "--yes")
}

// removeGateway deletes the Gateway, with whose Service the cluster is not destroyed.
func removeGateway(t *testing.T, a adm) {
	t.Helper()
	c := a.within("butler-mgmt")
	gateway := &unstructured.Unstructured{}
	gateway.SetAPIVersion("gateway.networking.k8s.io/v1")
	gateway.SetKind("Gateway")
	gateway.SetNamespace("butler-system")
	gateway.SetName("tenant-gateway")
	if err := c.Delete(t.Context(), gateway); err != nil {
		t.Fatal(err)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "butler-system", Name: "cilium-gateway-tenant-gateway"}}
	waitFor(t, func() bool {
		return apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(service), service))
	})
}

// TestTenantsShareTheAddressOfAnIngressController does so behind both controllers that a bootstrap
// installs.
func TestTenantsShareTheAddressOfAnIngressController(t *testing.T) {
	for controller, route := range map[string][2]string{
		"traefik": {"IngressRouteTCP", "traefik.io/v1alpha1"},
		"nginx":   {"Ingress", "networking.k8s.io/v1"},
	} {
		t.Run(controller, func(t *testing.T) {
			a := newAdm(t)
			manifest := file(t, "ha.yaml", edited(t, exampleHA, "type: traefik", "type: "+controller, "    mode: LoadBalancer",
				"    mode: Ingress\n    hostname: \"*.k8s.platform.example.com\"\n    ingressClassName: "+controller+"\n    controllerType: "+controller))
			a.ok("bootstrap", "harvester", "-c", manifest, "--rehearse")
			a.ok("tenant", "create", "butler-mgmt", "-f", exampleBehind)
			live(t, a, webHost+":443")
			expectRoutes(t, a, route[0], route[1], map[string]int{"traefik": 1, "nginx": 2}[controller])
			die(t, a)
			a.ok("destroy", "butler-mgmt", "--yes")
		})
	}
}

// live has the tenant web scale and upgrade, and looks at it from outside.
func live(t *testing.T, a adm, endpoint string) {
	t.Helper()
	if got := statusOf(t, a, "web").Status.ControlPlaneEndpoint; got != endpoint {
		t.Errorf("endpoint %s", got)
	}
	plain := a.ok("tenant", "kubeconfig", "butler-mgmt", "web")
	if !strings.Contains(plain.out, "https://"+endpoint) || !strings.Contains(plain.err, "have your DNS point it") {
		t.Errorf("kubeconfig:\n%s%s", plain.out, plain.err)
	}
	if r := a.run("tenant", "talosconfig", "butler-mgmt", "web"); r.code != 2 || !strings.Contains(r.err, "serviceType LoadBalancer") {
		t.Errorf("talosconfig: exit %d, %s%s", r.code, r.out, r.err)
	}
	by := a.ok("tenant", "kubeconfig", "butler-mgmt", "web", "--by-address").out
	expectNodes(t, a, by, 2)
	expectNameWanted(t, a, by, endpoint)
	a.ok("tenant", "scale", "butler-mgmt", "web", "--replicas", "3")
	expectNodes(t, a, by, 3)
	a.ok("tenant", "upgrade", "butler-mgmt", "web", "--kubernetes-version", "v1.32.0")
	expectNodes(t, a, by, 3)
}

// die deletes the tenant web and expects nothing of it.
func die(t *testing.T, a adm) {
	t.Helper()
	a.ok("tenant", "delete", "butler-mgmt", "web", "--yes")
	if r := a.ok("sim", "check", "butler-mgmt"); !strings.Contains(r.out+r.err, "0 violations") {
		t.Errorf("%s%s", r.out, r.err)
	}
}

func statusOf(t *testing.T, a adm, name string) *v1alpha1.TenantCluster {
	t.Helper()
	tc := &v1alpha1.TenantCluster{}
	if err := json.Unmarshal([]byte(a.ok("tenant", "status", "butler-mgmt", name, "-o", "json").out), tc); err != nil {
		t.Fatal(err)
	}
	return tc
}

func expectNodes(t *testing.T, a adm, kubeconfig string, n int) {
	t.Helper()
	nodes, err := kubernetes.NewForConfigOrDie(a.config([]byte(kubeconfig))).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != n {
		t.Fatalf("%d nodes: %v", len(nodes.Items), err)
	}
	for _, node := range nodes.Items {
		if !isReady(node) {
			t.Errorf("node %s is not Ready", node.Name)
		}
	}
}

// expectNameWanted connects to the address of the proxy with the wrong name and without one.
func expectNameWanted(t *testing.T, a adm, kubeconfig, endpoint string) {
	t.Helper()
	proxy, err := os.ReadFile(filepath.Join(a.home, "rehearsals", "butler-mgmt", "sim", "proxy"))
	if err != nil {
		t.Fatal(err)
	}
	config := a.config([]byte(kubeconfig))
	at := strings.TrimPrefix(config.Host, "https://")
	host, _, _ := net.SplitHostPort(endpoint)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.CAData)
	for name, known := range map[string]bool{host: true, "api." + host: false, "127.0.0.1": false} {
		conn, err := network.Dialer(string(proxy))(t.Context(), "tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		err = tls.Client(conn, &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: name}).HandshakeContext(t.Context())
		if (err == nil) != known {
			t.Errorf("as %s: %v", name, err)
		}
		_ = conn.Close()
	}
}

// expectRoutes wants so many objects of a kind in the namespaces of tenants.
func expectRoutes(t *testing.T, a adm, kind, version string, n int) {
	t.Helper()
	all := &unstructured.UnstructuredList{}
	all.SetAPIVersion(version)
	all.SetKind(kind + "List")
	if err := a.within("butler-mgmt").List(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, o := range all.Items {
		if strings.HasPrefix(o.GetNamespace(), "web-") {
			found++
		}
	}
	if found != n {
		t.Errorf("%d objects of kind %s, want %d", found, kind, n)
	}
}

// awaitText waits until a text has a part.
func awaitText(t *testing.T, text func() string, part string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(300 * time.Millisecond) {
		now := text()
		if strings.Contains(now, part) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no %q in\n%s", part, now)
		}
	}
}
