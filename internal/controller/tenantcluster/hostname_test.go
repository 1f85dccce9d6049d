// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// TestATenantLivesBehindAHostname has no name server, and the account of the chart: what it may
// not read or write keeps a tenant from getting Ready.
func TestATenantLivesBehindAHostname(t *testing.T) {
	for mode, tc := range map[string]struct {
		exposure v1alpha1.ControlPlaneExposureSpec
		port     string
		// proxy are objects of the proxy, which are there in the end.
		proxy  func(namespace, name string) []string
		rights []right
	}{
		"Gateway": {
			exposure: v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureGateway, Hostname: "*.k8s.example.com", GatewayRef: "butler-system/tenants"},
			port:     "6443",
			proxy: func(namespace, name string) []string {
				return []string{
					`{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {namespace: butler-system, name: tenants}, spec: {listeners: [` + apiListener + `, ` + agentListener + `]}, status: {addresses: [{value: ` + proxyAddress + `}]}}`,
					`{apiVersion: gateway.networking.k8s.io/v1alpha2, kind: TLSRoute, metadata: {namespace: ` + namespace + `, name: ` + name + `}, status: {parents: [{conditions: []}]}}`,
				}
			},
			rights: []right{{"gateway.networking.k8s.io", "gateways", "watch"}, {"gateway.networking.k8s.io", "tlsroutes", "watch"}},
		},
		"nginx": {
			exposure: v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureIngress, Hostname: "*.k8s.example.com", ControllerType: "nginx"},
			port:     "443",
			proxy: func(namespace, name string) []string {
				return []string{`{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: ` + namespace + `, name: ` + name + `}, spec: {defaultBackend: {service: {name: a, port: {number: 1}}}}, status: {loadBalancer: {ingress: [{ip: ` + proxyAddress + `}]}}}`}
			},
			rights: []right{{"networking.k8s.io", "ingresses", "watch"}, {"networking.k8s.io", "ingresses", "create"}, {"networking.k8s.io", "ingresses", "patch"}},
		},
		"Traefik": {
			exposure: v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureIngress, Hostname: "*.k8s.example.com", ControllerType: "traefik"},
			port:     "443",
			proxy: func(string, string) []string {
				return []string{
					`{apiVersion: v1, kind: Namespace, metadata: {name: traefik}}`,
					`{apiVersion: v1, kind: Service, metadata: {namespace: traefik, name: traefik}, spec: {type: LoadBalancer, ports: [{port: 443}]}, status: {loadBalancer: {ingress: [{ip: ` + proxyAddress + `}]}}}`,
				}
			},
			rights: []right{{"", "services", "watch"}},
		},
	} {
		t.Run(mode, func(t *testing.T) {
			f := newFixture(t)
			f.expose(tc.exposure)
			cluster := f.tenant()
			f.Must(f.Create(t.Context(), cluster))
			now := f.until(cluster, func(tc *v1alpha1.TenantCluster) bool {
				return condition(tc, v1alpha1.ConditionControlPlaneReady).Reason == reasonExposure
			})
			host := cluster.Name + ".butler-tenants.k8s.example.com"
			if now.Status.ControlPlaneEndpoint != host+":"+tc.port {
				t.Errorf("endpoint %s", now.Status.ControlPlaneEndpoint)
			}
			appeared := time.Now()
			f.put(tc.proxy(now.Status.TenantNamespace, cluster.Name))
			now = f.until(cluster, isReady)
			if took := time.Since(appeared); took >= upkeep {
				t.Errorf("no event of the proxy wakes a cluster that waits for it: Ready after %s", took)
			}
			if now.Status.KubeconfigSecretRef.Name != cluster.Name+"-admin-kubeconfig" {
				t.Errorf("kubeconfig %s", now.Status.KubeconfigSecretRef.Name)
			}
			expectHostEntry(f, now, host)
			f.change(cluster, func(tc *v1alpha1.TenantCluster) { tc.Spec.Workers.Replicas = 3 })
			f.until(cluster, func(tc *v1alpha1.TenantCluster) bool { return isReady(tc) && tc.Status.WorkerNodesReady == 3 })
			f.gone(cluster)
			done := asked(t)
			for _, r := range tc.rights {
				if !done[r] {
					t.Errorf("%s may %s %s and never does", Owner, r.Verb, r.Resource)
				}
			}
		})
	}
}

// expose sets the exposure of the ButlerConfig until the test ends.
func (f *fixture) expose(e v1alpha1.ControlPlaneExposureSpec) {
	f.Helper()
	config := &v1alpha1.ButlerConfig{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.ButlerConfigName}}
	config.Spec.ControlPlaneExposure = &e
	f.Must(f.Create(f.Context(), config))
	f.Cleanup(func() { f.Must(client.IgnoreNotFound(f.Delete(context.Background(), config))) })
}

// put creates objects with their status, until the test ends.
func (f *fixture) put(texts []string) {
	f.Helper()
	for _, text := range texts {
		o := &unstructured.Unstructured{}
		f.Must(yaml.Unmarshal([]byte(text), o))
		status := o.Object["status"]
		f.Must(client.IgnoreAlreadyExists(f.Create(f.Context(), o)))
		if o.GetKind() != "Namespace" {
			f.Cleanup(func() { f.Must(client.IgnoreNotFound(f.Delete(context.Background(), o))) })
		}
		if o.GetKind() == "Ingress" || o.GetKind() == "Service" {
			o.Object["status"] = status
			f.Must(f.Status().Update(f.Context(), o))
		}
	}
}

// expectHostEntry wants the name in the configuration of the workers, and no KubePrism.
func expectHostEntry(f *fixture, tc *v1alpha1.TenantCluster, host string) {
	f.Helper()
	var data corev1.SecretList
	f.Must(f.List(f.Context(), &data, client.InNamespace(tc.Status.TenantNamespace), client.MatchingLabels{labelData: "true"}))
	if len(data.Items) != 1 {
		f.Fatalf("%d configurations", len(data.Items))
	}
	text := string(data.Items[0].Data["value"])
	for _, want := range []string{"ip: " + proxyAddress, "- " + host, "- " + strings.Replace(host, ".k8s.", ".konnectivity.", 1), "https://" + host} {
		if !strings.Contains(text, want) {
			f.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "kubePrism") {
		f.Error("KubePrism is configured")
	}
}
