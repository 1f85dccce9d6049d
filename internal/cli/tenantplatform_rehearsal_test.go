// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"net/netip"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// tenantOn is the example of a tenant cluster, on the example of a management cluster.
type tenantOn struct {
	adm
	provider, cluster string
}

func TestTenantClustersLiveOnEveryPlatform(t *testing.T) {
	for provider, tc := range map[string]struct {
		cluster    string
		providerID string // what those of nodes begin with
	}{
		"aws":     {"butler-mgmt", "aws:///eu-central-1"},
		"gcp":     {"butler-prod", "gce://butler-example/europe-west3-a/"},
		"azure":   {"butler-mgmt", "azure:///subscriptions/"},
		"nutanix": {"butler-mgmt", "nutanix://"},
	} {
		t.Run(provider, func(t *testing.T) {
			a := tenantOn{newAdm(t), provider, tc.cluster}
			a.ok("bootstrap", provider, "-c", "../../configs/examples/"+provider+"-ha.yaml", "--rehearse")
			a.create()
			a.expectNodes(2, tc.providerID)
			a.expectAddress()
			a.ok("tenant", "scale", tc.cluster, "web", "--replicas", "3")
			a.expectNodes(3, tc.providerID)
			a.expectNoViolation("web-workers-")
			if r := a.ok("tenant", "delete", tc.cluster, "web", "--yes"); !strings.Contains(r.err, "tenant cluster web is deleted") {
				t.Errorf("delete said\n%s", r.err)
			}
			if out := a.ok("sim", "check", tc.cluster).out; strings.Contains(out, "web-workers-") {
				t.Errorf("left of the tenant cluster:\n%s", out)
			}
			a.create()
			r := a.ok("destroy", tc.cluster, "--yes", "--with-tenants")
			if !strings.Contains(r.out+r.err, "left 0") || !strings.Contains(r.out+r.err, "1 tenant cluster") {
				t.Errorf("destroy said\n%s%s", r.out, r.err)
			}
		})
	}
}

func (a tenantOn) create() {
	a.Helper()
	r := a.ok("tenant", "create", a.cluster, "-f", "../../configs/examples/tenant-"+a.provider+".yaml")
	if !strings.Contains(r.err, "tenant cluster web is Ready") {
		a.Errorf("create said\n%s", r.err)
	}
}

// expectNodes reads the nodes with the kubeconfig that users get.
func (a tenantOn) expectNodes(count int, providerID string) {
	a.Helper()
	tenant := kubernetes.NewForConfigOrDie(a.config([]byte(a.ok("tenant", "kubeconfig", a.cluster, "web").out)))
	nodes, err := tenant.CoreV1().Nodes().List(a.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != count {
		a.Fatalf("the tenant cluster has %d nodes, want %d: %v", len(nodes.Items), count, err)
	}
	for _, n := range nodes.Items {
		if !isReady(n) || !strings.HasPrefix(n.Spec.ProviderID, providerID) {
			a.Errorf("node %s has provider ID %q, and is Ready: %v", n.Name, n.Spec.ProviderID, isReady(n))
		}
	}
}

// expectAddress reads how the control plane is reached: on AWS its load balancer has a name, and
// the endpoint is an address of that.
func (a tenantOn) expectAddress() {
	a.Helper()
	management, tc, service := a.within(a.cluster), &v1alpha1.TenantCluster{}, &corev1.Service{}
	err := management.Get(a.Context(), client.ObjectKey{Namespace: "butler-tenants", Name: "web"}, tc)
	if err == nil {
		err = management.Get(a.Context(), client.ObjectKey{Namespace: tc.Status.TenantNamespace, Name: "web"}, service)
	}
	if err != nil || len(service.Status.LoadBalancer.Ingress) != 1 {
		a.Fatalf("%+v: %v", service.Status, err)
	}
	if named := service.Status.LoadBalancer.Ingress[0].Hostname != ""; named != (a.provider == "aws") {
		a.Errorf("the load balancer of the control plane is %+v", service.Status.LoadBalancer.Ingress[0])
	}
	if _, err := netip.ParseAddrPort(tc.Status.ControlPlaneEndpoint); err != nil {
		a.Errorf("endpoint: %v", err)
	}
}

func (a tenantOn) expectNoViolation(machines string) {
	a.Helper()
	if r := a.ok("sim", "check", a.cluster); !strings.Contains(r.out+r.err, "0 violations") || !strings.Contains(r.out, machines) {
		a.Errorf("%s%s", r.out, r.err)
	}
}
