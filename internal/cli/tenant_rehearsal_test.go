// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// TestTenantOnProxmoxHasAddressesOfAPool creates, scales, upgrades and deletes the example in a
// network without DHCP: each worker has an address of the tenant's range.
func TestTenantOnProxmoxHasAddressesOfAPool(t *testing.T) {
	a := newAdm(t)
	a.ok("bootstrap", "proxmox", "-c", "../../configs/examples/proxmox-ha-ipam.yaml", "--rehearse")
	a.ok("tenant", "create", "butler-mgmt", "-f", "../../configs/examples/tenant-proxmox.yaml")
	expectWorkersIn(t, a, 2)
	a.ok("tenant", "scale", "butler-mgmt", "web", "--replicas", "3")
	expectWorkersIn(t, a, 3)
	a.ok("tenant", "upgrade", "butler-mgmt", "web", "--kubernetes-version", "v1.32.0")
	expectWorkersIn(t, a, 3)
	a.ok("tenant", "delete", "butler-mgmt", "web", "--yes")
	expectReleased(t, a)
	a.ok("sim", "check", "butler-mgmt")
	a.ok("destroy", "butler-mgmt", "--yes").expectLedger(t, "created 41, deleted 41, left 0: 6 machines, 12 disks, 23 addresses")
}

// TestTenantOnHarvesterGrowsItsLoadBalancers gives Services of the tenant addresses of a pool,
// up to the quota. Workers have theirs by DHCP.
func TestTenantOnHarvesterGrowsItsLoadBalancers(t *testing.T) {
	a := newAdm(t)
	a.ok("bootstrap", "harvester", "-c", exampleHA, "--rehearse")
	applyAll(t, a.within("butler-mgmt"), "../../configs/examples/tenants-pool-harvester.yaml")
	manifest := file(t, "tenant.yaml", edited(t, exampleTenant, "harvester-prod", "harvester-tenants")+"  addons:\n    loadBalancer: {}\n")
	a.ok("tenant", "create", "butler-mgmt", "-f", manifest)
	services := tenantAPI(a).CoreV1().Services("default")
	for i := range 7 {
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("s", i)}}
		s.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}}
		if _, err := services.Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Second) {
		all, err := services.List(t.Context(), metav1.ListOptions{})
		served := slices.DeleteFunc(all.Items, func(s corev1.Service) bool { return len(s.Status.LoadBalancer.Ingress) == 0 })
		status := a.ok("tenant", "status", "butler-mgmt", "web").out
		if err == nil && len(served) == 6 && strings.Contains(status, "AddressQuotaReached") && strings.Contains(status, "10.40.0.102-10.40.0.105") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d Services have an address: %v\n%s", len(served), err, status)
		}
	}
	a.ok("tenant", "delete", "butler-mgmt", "web", "--yes")
	expectReleased(t, a)
	a.ok("sim", "check", "butler-mgmt")
	a.ok("destroy", "butler-mgmt", "--yes")
}

func tenantAPI(a adm) kubernetes.Interface {
	return kubernetes.NewForConfigOrDie(a.config([]byte(a.ok("tenant", "kubeconfig", "butler-mgmt", "web").out)))
}

// expectWorkersIn wants so many Ready nodes of the tenant, each with an address of its own that
// was allocated for workers.
func expectWorkersIn(t *testing.T, a adm, n int) {
	t.Helper()
	tc := &v1alpha1.TenantCluster{}
	if err := json.Unmarshal([]byte(a.ok("tenant", "status", "butler-mgmt", "web", "-o", "json").out), tc); err != nil {
		t.Fatal(err)
	}
	nodes, err := tenantAPI(a).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != n {
		t.Fatalf("%d nodes: %v", len(nodes.Items), err)
	}
	seen := map[string]bool{}
	for _, node := range nodes.Items {
		text := node.Status.Addresses[0].Address
		if !isReady(node) || seen[text] || !allocatedFor(tc, v1alpha1.IPAllocationNodes, text) {
			t.Errorf("node %s has %s: %+v", node.Name, text, tc.Status.Allocations)
		}
		seen[text] = true
	}
}

func allocatedFor(tc *v1alpha1.TenantCluster, kind v1alpha1.IPAllocationType, text string) bool {
	address, err := netip.ParseAddr(text)
	return err == nil && slices.ContainsFunc(tc.Status.Allocations, func(a v1alpha1.TenantAddresses) bool {
		r, err := ipam.NewRange(a.StartAddress, a.EndAddress)
		return err == nil && a.Type == kind && r.Contains(ipam.Single(address))
	})
}

// expectReleased wants no allocation of a tenant.
func expectReleased(t *testing.T, a adm) {
	t.Helper()
	var all v1alpha1.IPAllocationList
	if err := a.within("butler-mgmt").List(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	for _, left := range all.Items {
		if left.Spec.TenantClusterRef != nil {
			t.Errorf("IPAllocation %s is left", left.Name)
		}
	}
}

func applyAll(t *testing.T, c client.Client, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			t.Fatal(err)
		}
		if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("test")); err != nil {
			t.Fatal(err)
		}
	}
}
