// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const movable = `
spec:
  provider: harvester
  providerRef: {name: harvester-prod}
  cluster:
    name: mgmt
    topology: ha
    controlPlane: {replicas: 3, cpu: 4, memoryMB: 16384, diskGB: 100}
  network: {podCIDR: 10.244.0.0/16, serviceCIDR: 10.96.0.0/12, vip: 10.40.0.200}
  talos: {version: v1.9.2, schematic: ce4c9805}
`

// putCluster makes a ClusterBootstrap, and returns its name.
func (a adm) putCluster(c client.Client, annotations map[string]string) client.ObjectKey {
	a.Helper()
	cb := &v1alpha1.ClusterBootstrap{}
	if err := yaml.Unmarshal([]byte(movable), cb); err != nil {
		a.Fatal(err)
	}
	cb.Namespace, cb.Name, cb.Annotations = system, "mgmt", annotations
	for _, o := range []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: system}}, cb} {
		if err := c.Create(a.Context(), o); err != nil {
			a.Fatal(err)
		}
	}
	return client.ObjectKeyFromObject(cb)
}

// annotate sets an annotation of a ClusterBootstrap, or removes it if the value is
// empty.
func (a adm) annotate(c client.Client, key client.ObjectKey, name, value string) {
	a.Helper()
	cb := &v1alpha1.ClusterBootstrap{}
	if err := c.Get(a.Context(), key, cb); err != nil {
		a.Fatal(err)
	}
	if cb.Annotations[name] = value; value == "" {
		delete(cb.Annotations, name)
	}
	if err := c.Update(a.Context(), cb); err != nil {
		a.Fatal(err)
	}
}

// expectFence looks at why a plane is not in charge.
func (a adm) expectFence(c client.Client, key client.ObjectKey, want string) {
	a.Helper()
	cb := &v1alpha1.ClusterBootstrap{}
	if err := c.Get(a.Context(), key, cb); err != nil {
		a.Fatal(err)
	}
	if got := cb.Annotations[v1alpha1.AnnotationFenced]; !strings.Contains(got, want) {
		a.Errorf("fenced with %q, want %q", got, want)
	}
	if cb.DeletionTimestamp != nil {
		a.Error("it is being deleted")
	}
}

// A plane that was restored from a copy of before the pivot does not know of it. It
// is fenced once the cluster has answered: also if another operator has taken the
// plane back from the cluster since.
func TestPlaneFromAnOlderCopyIsFenced(t *testing.T) {
	a := newAdm(t)
	here, there := filepath.Join(a.home, "clusters", "mgmt", "plane"), filepath.Join(a.home, "the-cluster")
	for _, dir := range []string{here, there} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var key client.ObjectKey
	a.withPlane(there, func(cluster client.Client) {
		key = a.putCluster(cluster, map[string]string{
			v1alpha1.AnnotationClusterID: "one", v1alpha1.AnnotationPlane: v1alpha1.PlaneSelf, v1alpha1.AnnotationEpoch: "2",
			v1alpha1.AnnotationFenced: "moved to workstation second at epoch 2 (move 1)",
		})
		way, err := os.ReadFile(filepath.Join(there, "kubeconfig"))
		if err != nil {
			t.Fatal(err)
		}
		a.withPlane(here, func(local client.Client) {
			a.putCluster(local, map[string]string{v1alpha1.AnnotationClusterID: "one", v1alpha1.AnnotationPlane: v1alpha1.PlaneLocal})
			secret := &corev1.Secret{Data: map[string][]byte{"kubeconfig": way}}
			secret.Namespace, secret.Name, secret.Annotations = system, "mgmt-kubeconfig", map[string]string{v1alpha1.AnnotationClusterID: "one"}
			if err := local.Create(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
		})
		// Neither plane has the ProviderConfig, so that nothing more comes of it.
		a.run("destroy", "mgmt", "--yes").expect(t, 1, "the ProviderConfig is gone from the plane")
		a.withPlane(here, func(local client.Client) {
			a.expectFence(local, key, "older than epoch 2, at which cluster mgmt was moved to workstation second at epoch 2 (move 1)")
			a.annotate(local, key, v1alpha1.AnnotationFenced, "")
		})
		a.annotate(cluster, key, v1alpha1.AnnotationFenced, "")
		a.run("destroy", "mgmt", "--yes").expect(t, 1, "the ProviderConfig is gone from the plane")
	})
	a.withPlane(here, func(local client.Client) {
		a.expectFence(local, key, "older than epoch 2, at which cluster mgmt manages itself")
		// The cluster is silent by now, and this plane is another command's.
		r := a.stopAfter(time.Minute, os.Kill, "status")
		r.expect(t, 0, "note: mgmt manages itself, and does not answer", "this is its state at the pivot")
		if n := strings.Count(r.out, "mgmt "); n != 1 {
			t.Errorf("%d lines of the cluster:\n%s", n, r.out)
		}
	})
}
