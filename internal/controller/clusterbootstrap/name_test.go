// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// createEarlier creates a ClusterBootstrap that an earlier release worked on: workers
// were requested under these names, and no status was written so far.
func (w *fixture) createEarlier(cb *v1alpha1.ClusterBootstrap, workers ...string) {
	w.Helper()
	cb.Annotations = map[string]string{v1alpha1.AnnotationClusterID: uuid.NewString()}
	w.create(cb)
	for _, name := range workers {
		w.createOwned(&v1alpha1.MachineRequest{ObjectMeta: owned(cb, name), Spec: v1alpha1.MachineRequestSpec{
			ProviderRef: v1alpha1.ProviderReference{Name: "harvester"}, MachineName: name, Role: v1alpha1.RoleWorker,
			CPU: 8, MemoryMB: 16384, DiskGB: 100, ExtraDisks: cb.Spec.Cluster.Workers.ExtraDisks,
		}})
	}
}

// createOwned creates a request in the name of the bootstrap.
func (w *fixture) createOwned(o client.Object) {
	w.Helper()
	o.SetNamespace(w.namespace)
	if err := w.Create(w.Context(), o, client.FieldOwner("butler-bootstrap")); err != nil {
		w.Fatal(err)
	}
}

// owned is the metadata of a request of a cluster.
func owned(cb *v1alpha1.ClusterBootstrap, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:   name,
		Labels: map[string]string{v1alpha1.LabelClusterBootstrap: cb.Name, v1alpha1.LabelCluster: cb.Spec.Cluster.Name},
		Annotations: map[string]string{
			v1alpha1.AnnotationClusterID: cb.Annotations[v1alpha1.AnnotationClusterID], v1alpha1.AnnotationOwnerID: uuid.NewString(),
		},
	}
}

func (w *fixture) requestNames() (names []string) {
	w.Helper()
	var all v1alpha1.MachineRequestList
	if err := w.List(w.Context(), &all, client.InNamespace(w.namespace)); err != nil {
		w.Fatal(err)
	}
	for _, r := range all.Items {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return names
}

// TestNamesOfAnEarlierReleaseStay also is about a request whose status names nothing
// so far, and about one that was deleted.
func TestNamesOfAnEarlierReleaseStay(t *testing.T) {
	w := newFixture(t)
	w.create(configOf(v1alpha1.ProviderGCP))
	cb := cloudBootstrap()
	cb.Spec.Cluster.Workers.Replicas = 3
	w.createEarlier(cb, "dev-worker-0", "dev-worker-2")
	w.createOwned(&v1alpha1.LoadBalancerRequest{ObjectMeta: owned(cb, "dev-api"), Spec: v1alpha1.LoadBalancerRequestSpec{
		ClusterName: "dev", ProviderConfigRef: v1alpha1.ProviderReference{Name: "harvester"},
	}})
	w.create(&v1alpha1.LoadBalancerRequest{ObjectMeta: metav1.ObjectMeta{Name: "dev-cp-lb"}, Spec: v1alpha1.LoadBalancerRequestSpec{
		ClusterName: "other", ProviderConfigRef: v1alpha1.ProviderReference{Name: "harvester"},
	}})
	api := &v1alpha1.LoadBalancerRequest{}
	w.must(w.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "dev-api"}, api))
	api.Status.Endpoint = "lb.example.com"
	w.must(w.Status().Update(t.Context(), api))
	want := []string{"dev-cp-0", "dev-cp-1", "dev-cp-2", "dev-w-1", "dev-worker-0", "dev-worker-2"}
	for range 2 {
		w.reconcile("dev")
		if diff := cmp.Diff(want, w.requestNames()); diff != "" {
			t.Fatal(diff)
		}
	}
	for _, name := range want {
		w.run(name)
	}
	w.reconcile("dev")
	for name, targets := range map[string]int{"dev-api": 3, "dev-cp-lb": 0} {
		r := &v1alpha1.LoadBalancerRequest{}
		if err := w.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, r); err != nil || len(r.Spec.Targets) != targets {
			t.Errorf("%s: %v, %v", name, r.Spec.Targets, err)
		}
	}
	r, err := w.request("dev-worker-2")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if c := progressing(w.reconcile("dev")); c.Reason != "MachineRequestDeleted" {
		t.Errorf("%+v", c)
	}
	if diff := cmp.Diff(want[:5], w.requestNames()); diff != "" {
		t.Error(diff)
	}
	w.deletionTakesAll()
}

// deletionTakesAll sees that nothing of a cluster is left behind, whatever its name.
func (w *fixture) deletionTakesAll() {
	w.Helper()
	if err := w.Delete(w.Context(), w.get("dev")); err != nil {
		w.Fatal(err)
	}
	if _, err := w.Reconcile(w.Context(), w.get("dev")); err != nil {
		w.Fatal(err)
	}
	if left := w.requestNames(); len(left) > 0 {
		w.Errorf("left: %v", left)
	}
	err := w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: "dev-api"}, &v1alpha1.LoadBalancerRequest{})
	if !apierrors.IsNotFound(err) {
		w.Errorf("the load balancer's request is still there: %v", err)
	}
}
