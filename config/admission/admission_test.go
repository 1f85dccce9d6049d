// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/config/admission"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

var api *rest.Config

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(planetest.Run(m, plane.Options{AdmissionOff: []string{"ServiceAccount"}}, func(p *plane.Plane) {
		api = p.Config()
	}))
}

func connect(t *testing.T) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(api, client.Options{Scheme: s})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := admission.Apply(t.Context(), api); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// objects is one of each kind that carries an id.
func objects() []client.Object {
	meta := metav1.ObjectMeta{
		Namespace: "default", GenerateName: "a-",
		Annotations: map[string]string{v1alpha1.AnnotationOwnerID: "one", v1alpha1.AnnotationClusterID: "one"},
	}
	pool := v1alpha1.NodePool{Replicas: 1, CPU: 4, MemoryMB: 8192, DiskGB: 50}
	return []client.Object{
		&v1alpha1.MachineRequest{ObjectMeta: meta, Spec: v1alpha1.MachineRequestSpec{
			ProviderRef: v1alpha1.ProviderReference{Name: "a"}, MachineName: "a", Role: v1alpha1.RoleWorker, CPU: 1, MemoryMB: 1024, DiskGB: 10,
		}},
		&v1alpha1.LoadBalancerRequest{ObjectMeta: meta, Spec: v1alpha1.LoadBalancerRequestSpec{
			ClusterName: "a", ProviderConfigRef: v1alpha1.ProviderReference{Name: "a"},
		}},
		&v1alpha1.ClusterBootstrap{ObjectMeta: meta, Spec: v1alpha1.ClusterBootstrapSpec{
			Provider: v1alpha1.ProviderGCP, ProviderRef: v1alpha1.ProviderReference{Name: "a"},
			Cluster: v1alpha1.ClusterSpec{Name: "a", ControlPlane: pool},
			Network: v1alpha1.NetworkSpec{PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12"},
			Talos:   v1alpha1.TalosSpec{Version: "v1.9.2", Schematic: "abc"},
		}},
	}
}

// addresses are the kinds that have the id of their cluster, and none of their own; tenant
// clusters are found by theirs as well.
func addresses() []client.Object {
	id := map[string]string{v1alpha1.AnnotationClusterID: "one"}
	return []client.Object{
		&v1alpha1.IPAllocation{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", Annotations: id}, Spec: v1alpha1.IPAllocationSpec{
			PoolRef: v1alpha1.LocalReference{Name: "a"}, Type: v1alpha1.IPAllocationNodes, MachineRequestRef: &v1alpha1.LocalReference{Name: "a"},
		}},
		&v1alpha1.AddressClaim{ObjectMeta: metav1.ObjectMeta{Name: "10.40.0.16", Annotations: id}, Spec: v1alpha1.AddressClaimSpec{
			Address: "10.40.0.16", PoolRef: v1alpha1.NamespacedReference{Namespace: "default", Name: "a"},
			AllocationRef: v1alpha1.NamespacedReference{Namespace: "default", Name: "a"},
		}},
		&v1alpha1.TenantCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", Annotations: id}, Spec: v1alpha1.TenantClusterSpec{
			KubernetesVersion: "v1.31.0", Workers: v1alpha1.TenantWorkersSpec{Replicas: 1, MachineTemplate: v1alpha1.TenantMachineTemplateSpec{
				CPU: 2, Memory: resource.MustParse("4Gi"), DiskSize: resource.MustParse("40Gi"),
			}},
		}},
	}
}

func TestIdsCanBeSetOnceAndNeverChanged(t *testing.T) {
	c := connect(t)
	for _, o := range objects() {
		if err := c.Create(t.Context(), o, client.FieldOwner("butler-bootstrap")); err != nil {
			t.Fatal(err)
		}
		awaitPolicy(t, c, o)
		for _, id := range []string{v1alpha1.AnnotationOwnerID, v1alpha1.AnnotationClusterID} {
			for change, want := range map[string]map[string]string{"changed": {id: "two"}, "removed": nil} {
				if err := annotate(t, c, o, id, want[id]); err == nil || !strings.Contains(err.Error(), "are immutable") {
					t.Errorf("%T: %s %s: %v", o, id, change, err)
				}
			}
		}
		if err := annotate(t, c, o, "example.com/note", "a"); err != nil {
			t.Errorf("%T: another annotation: %v", o, err)
		}
		bare := o.DeepCopyObject().(client.Object)
		bare.SetResourceVersion("")
		bare.SetName("")
		bare.SetAnnotations(nil)
		if err := c.Create(t.Context(), bare); err != nil {
			t.Fatal(err)
		}
		if err := annotate(t, c, bare, v1alpha1.AnnotationOwnerID, "one"); err != nil {
			t.Errorf("%T: a first id: %v", o, err)
		}
	}
}

// TestAddressesStayThoseOfTheirCluster is what destroy and pivot find addresses by.
func TestAddressesStayThoseOfTheirCluster(t *testing.T) {
	c := connect(t)
	for _, o := range addresses() {
		if err := c.Create(t.Context(), o, client.FieldOwner("butler-bootstrap")); err != nil {
			t.Fatal(err)
		}
		await(t, "the policy is not in force", func() bool { return annotate(t, c, o, v1alpha1.AnnotationClusterID, "two") != nil })
		for change, id := range map[string]string{"changed": "two", "removed": ""} {
			if err := annotate(t, c, o, v1alpha1.AnnotationClusterID, id); err == nil || !strings.Contains(err.Error(), "are immutable") {
				t.Errorf("%T: cluster id %s: %v", o, change, err)
			}
		}
		if err := annotate(t, c, o, v1alpha1.AnnotationPlannedRange, "10.40.0.16"); err != nil {
			t.Errorf("%T: another annotation: %v", o, err)
		}
	}
}

func TestARequestWithAnOwnerIDIsCreatedByItsMintersAlone(t *testing.T) {
	c := connect(t)
	for _, o := range objects()[:2] {
		made := o.DeepCopyObject().(client.Object)
		if err := c.Create(t.Context(), made, client.FieldOwner("butler-bootstrap")); err != nil {
			t.Fatal(err)
		}
		awaitPolicy(t, c, made)
		for manager, allowed := range map[string]bool{
			"butler-bootstrap": true, "butler-pivot": true, "butler-restore": true, "": false, "kubectl-create": false, "velero": false,
		} {
			options := []client.CreateOption{client.DryRunAll}
			if manager != "" {
				options = append(options, client.FieldOwner(manager))
			}
			err := c.Create(t.Context(), o.DeepCopyObject().(client.Object), options...)
			if refused := err != nil && strings.Contains(err.Error(), "belongs to another object"); refused == allowed || allowed && err != nil {
				t.Errorf("%T by %q: %v", o, manager, err)
			}
		}
		bare := o.DeepCopyObject().(client.Object)
		bare.SetAnnotations(map[string]string{v1alpha1.AnnotationClusterID: "one"})
		if err := c.Create(t.Context(), bare, client.DryRunAll); err != nil {
			t.Errorf("%T without an owner id: %v", o, err)
		}
	}
}

func TestAnOwnerIDIsClaimedForTheRequestItself(t *testing.T) {
	c := connect(t)
	for _, o := range objects()[:2] {
		if err := c.Create(t.Context(), o, client.FieldOwner("butler-bootstrap")); err != nil {
			t.Fatal(err)
		}
		awaitPolicy(t, c, o)
		if err := annotate(t, c, o, v1alpha1.AnnotationClaimedBy, "another"); err == nil || !strings.Contains(err.Error(), "metadata.uid of the object") {
			t.Errorf("%T: claimed by another: %v", o, err)
		}
		if err := annotate(t, c, o, v1alpha1.AnnotationClaimedBy, string(o.GetUID())); err != nil {
			t.Errorf("%T: claimed: %v", o, err)
		}
	}
	copied := objects()[0]
	copied.SetAnnotations(map[string]string{v1alpha1.AnnotationOwnerID: "two", v1alpha1.AnnotationClaimedBy: "another"})
	if err := c.Create(t.Context(), copied, client.FieldOwner("butler-restore")); err != nil {
		t.Fatal(err)
	}
	if err := annotate(t, c, copied, "example.com/note", "a"); err != nil {
		t.Errorf("another annotation of a copy: %v", err)
	}
	if err := annotate(t, c, copied, v1alpha1.AnnotationClaimedBy, ""); err != nil {
		t.Errorf("a copy is handed over: %v", err)
	}
}

func TestAClusterThatManagesItselfKeepsItsNamespaceAndKinds(t *testing.T) {
	c := connect(t)
	for _, name := range []string{"butler-system", "elsewhere", "free", "copy"} {
		if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	in := func(namespace string, annotations map[string]string) *v1alpha1.ClusterBootstrap {
		cb := objects()[2].(*v1alpha1.ClusterBootstrap)
		cb.Namespace, cb.Annotations = namespace, annotations
		if err := c.Create(t.Context(), cb); err != nil {
			t.Fatal(err)
		}
		return cb
	}
	self := map[string]string{v1alpha1.AnnotationPlane: v1alpha1.PlaneSelf}
	cb := in("butler-system", self)
	in("elsewhere", self)
	in("free", map[string]string{v1alpha1.AnnotationPlane: v1alpha1.PlaneLocal})
	in("copy", map[string]string{v1alpha1.AnnotationPlane: v1alpha1.PlaneSelf, v1alpha1.AnnotationClaimedBy: "another"})
	remove := func(o client.Object, name string) error {
		o.SetName(name)
		return c.Delete(t.Context(), o, client.DryRunAll)
	}
	kind := func() error {
		return remove(&apiextensionsv1.CustomResourceDefinition{}, "machinerequests."+v1alpha1.Group)
	}
	refused := func(err error) bool { return err != nil && strings.Contains(err.Error(), "manages itself") }
	await(t, "the policy is not in force", func() bool { return refused(kind()) })
	for name, want := range map[string]bool{"butler-system": true, "elsewhere": true, "free": false, "copy": false} {
		if err := remove(&corev1.Namespace{}, name); refused(err) != want || !want && err != nil {
			t.Errorf("delete namespace %s: %v", name, err)
		}
	}
	base := cb.DeepCopy()
	cb.Annotations[v1alpha1.AnnotationFenced] = "its management was taken back"
	if err := c.Patch(t.Context(), cb, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	await(t, "it is kept behind a fence", func() bool { return kind() == nil && remove(&corev1.Namespace{}, "butler-system") == nil })
}

// annotate tries an update with one annotation replaced, or removed if empty.
func annotate(t *testing.T, c client.Client, o client.Object, key, value string) error {
	t.Helper()
	o = o.DeepCopyObject().(client.Object)
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	if annotations[key] = value; value == "" {
		delete(annotations, key)
	}
	o.SetAnnotations(annotations)
	return c.Update(t.Context(), o, client.DryRunAll)
}

// awaitPolicy waits until the policy is in force, which takes a moment.
func awaitPolicy(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	await(t, "the policy is not in force", func() bool { return annotate(t, c, o, v1alpha1.AnnotationOwnerID, "two") != nil })
}

func await(t *testing.T, otherwise string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if done() {
			return
		}
	}
	t.Fatal(otherwise)
}
