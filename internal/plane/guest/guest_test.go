// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

// user is the cluster of a user, without the kinds of this project at first.
var user *plane.Plane

func TestMain(m *testing.M) {
	o := plane.Options{AdmissionOff: []string{"ServiceAccount"}, Definitions: []*apiextensionsv1.CustomResourceDefinition{}}
	os.Exit(planetest.Run(m, o, func(p *plane.Plane) { user = p }))
}

func connect(t *testing.T) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(s), v1alpha1.AddToScheme(s), apiextensionsv1.AddToScheme(s)); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(user.Config(), client.Options{Scheme: s})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// stateDir is a directory with the kubeconfig of the user.
func stateDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	data, err := ReadKubeconfig(user.KubeconfigPath())
	must(t, errors.Join(err, plane.WriteFile(KubeconfigPath(dir), data)))
	return dir
}

func options(t *testing.T, namespace string) Options {
	t.Helper()
	dir := stateDir(t)
	data, err := os.ReadFile(KubeconfigPath(dir))
	must(t, err)
	is, err := Identify(t.Context(), data)
	must(t, err)
	return Options{Dir: dir, Cluster: is.Cluster, Namespace: namespace, ID: namespace + "-id", Holder: "butleradm bootstrap " + namespace, leaseTime: 2 * time.Second}
}

func open(t *testing.T, o Options) *Plane {
	t.Helper()
	p, err := Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() {
		if err := p.Stop(); err != nil && !errors.Is(err, os.ErrClosed) { // by the test itself
			t.Error(err)
		}
	})
	return p
}

func expectUsage(t *testing.T, err error, want string) {
	t.Helper()
	if failure.KindOf(err) != failure.Usage || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestOneCommandAtATimeWorksInANamespace(t *testing.T) {
	o := options(t, "held")
	first := open(t, o)
	if _, err := Open(t.Context(), o); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("the same directory: %v", err)
	}
	copied := o
	copied.Dir = stateDir(t)
	if _, err := Open(t.Context(), copied); !errors.Is(err, lock.ErrHeld) || !strings.Contains(err.Error(), "butleradm bootstrap held on ") {
		t.Errorf("a copy of the directory: %v", err)
	}
	open(t, options(t, "beside")) // another cluster on the same plane
	must(t, first.Stop())
	if first.Err() != nil {
		t.Error(first.Err())
	}
	open(t, copied) // at once: the lease was released
}

func TestALostLeaseEndsThePlane(t *testing.T) {
	p := open(t, options(t, "lost"))
	c := connect(t)
	lease := &unstructured.Unstructured{}
	lease.SetAPIVersion("coordination.k8s.io/v1")
	lease.SetKind("Lease")
	must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "lost", Name: leaseName}, lease))
	must(t, c.Patch(t.Context(), lease, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"holderIdentity":"another","leaseDurationSeconds":60}}`))))
	select {
	case <-p.Done():
	case <-time.After(time.Minute):
		t.Fatal("it continues without its lease")
	}
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "the lease of namespace lost of the plane was lost") {
		t.Error(err)
	}
}

func TestNamespacesOfOthersAreRefused(t *testing.T) {
	c := connect(t)
	open(t, options(t, "mine"))
	other := options(t, "mine")
	other.ID = "another"
	_, err := Open(t.Context(), other)
	expectUsage(t, err, "namespace mine of the plane is that of another state directory (butleradm bootstrap mine)")

	must(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "occupied"}}))
	must(t, c.Create(t.Context(), &v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Namespace: "occupied", Name: "lan"}, Spec: v1alpha1.NetworkPoolSpec{CIDR: "10.0.0.0/24"}}))
	_, err = Open(t.Context(), options(t, "occupied"))
	expectUsage(t, err, "has objects already, for example networkpools lan")

	must(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "prepared"}}))
	open(t, options(t, "prepared"))
}

func TestAnotherClusterThanTheRecordedOneIsRefused(t *testing.T) {
	o := options(t, "elsewhere")
	o.Cluster = "another"
	_, err := Open(t.Context(), o)
	expectUsage(t, err, "reaches another cluster than the one that is the plane")
}

func TestAPlaneWithControllersOfItsOwnIsRefused(t *testing.T) {
	c := connect(t)
	labels := map[string]string{"app.kubernetes.io/part-of": "butler"}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "butler-bootstrap", Labels: labels}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "a", Image: "a"}}
	must(t, c.Create(t.Context(), d))
	_, err := Open(t.Context(), options(t, "acted"))
	expectUsage(t, err, "runs controllers of its own, Deployment default/butler-bootstrap")
	must(t, c.Delete(t.Context(), d))
	open(t, options(t, "acted"))
}

func TestKindsOfTheUserStayAsTheyAre(t *testing.T) {
	c := connect(t)
	open(t, options(t, "kinds"))
	d := &apiextensionsv1.CustomResourceDefinition{}
	key := client.ObjectKey{Name: "networkpools." + v1alpha1.Group}
	change := func(label string) {
		t.Helper()
		must(t, c.Get(t.Context(), key, d))
		d.Labels = map[string]string{managedBy: label}
		d.Spec.Versions[0].Schema.OpenAPIV3Schema.Description = "another"
		must(t, c.Update(t.Context(), d))
	}
	change("Helm")
	_, err := Open(t.Context(), options(t, "kinds"))
	expectUsage(t, err, "CustomResourceDefinition networkpools.butler.butlerlabs.dev of the plane is of another version")
	must(t, c.Get(t.Context(), key, d))
	if d.Spec.Versions[0].Schema.OpenAPIV3Schema.Description != "another" {
		t.Error("it was changed all the same")
	}
	change(ours)
	o := options(t, "kinds")
	o.ID = "kinds-id"
	if _, err := Open(t.Context(), o); err != nil && !errors.Is(err, lock.ErrHeld) {
		t.Errorf("its own kind: %v", err)
	}
	must(t, c.Get(t.Context(), key, d))
	if d.Spec.Versions[0].Schema.OpenAPIV3Schema.Description == "another" {
		t.Error("its own kind was not updated")
	}
}

func TestReleaseRemovesWhatWasWrittenAndNothingElse(t *testing.T) {
	c := connect(t)
	o := options(t, "released")
	p := open(t, o)
	in := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "released", Name: name} }
	held := v1alpha1.NetworkPool{ObjectMeta: in("lan"), Spec: v1alpha1.NetworkPoolSpec{CIDR: "10.1.0.0/24"}}
	held.Finalizers = []string{v1alpha1.FinalizerNetworkPool}
	claim := func(namespace, address string) *v1alpha1.AddressClaim {
		ref := v1alpha1.NamespacedReference{Namespace: namespace, Name: "a"}
		return &v1alpha1.AddressClaim{ObjectMeta: metav1.ObjectMeta{Name: address}, Spec: v1alpha1.AddressClaimSpec{Address: address, PoolRef: ref, AllocationRef: ref}}
	}
	written := []client.Object{&held, &corev1.ConfigMap{ObjectMeta: in("dev-ledger"), Data: map[string]string{"a": "b"}}, &corev1.Secret{ObjectMeta: in("credentials"), StringData: map[string]string{"a": "b"}}, claim("released", "10.1.0.1")}
	users := []client.Object{&corev1.Secret{ObjectMeta: in("mine"), StringData: map[string]string{"a": "b"}}, &corev1.ConfigMap{ObjectMeta: in("notes"), Data: map[string]string{"a": "b"}}, claim("elsewhere", "10.2.0.1")}
	for _, o := range written {
		must(t, c.Create(t.Context(), o, client.FieldOwner("butleradm")))
	}
	for _, o := range users {
		must(t, c.Create(t.Context(), o, client.FieldOwner("kubectl")))
	}
	must(t, p.Stop())
	must(t, Release(t.Context(), o))
	for _, o := range written {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("%T %s is left: %v", o, o.GetName(), err)
		}
	}
	for _, o := range users {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Errorf("%T %s of the user: %v", o, o.GetName(), err)
		}
	}
	n := &corev1.Namespace{}
	must(t, c.Get(t.Context(), client.ObjectKey{Name: "released"}, n))
	if n.Annotations[annotationClaim] != "" {
		t.Error("the namespace is not free")
	}
	if err := c.List(t.Context(), &v1alpha1.ClusterBootstrapList{}); meta.IsNoMatchError(err) {
		t.Error("the kinds are gone")
	}
	other := options(t, "released")
	other.ID = "another"
	open(t, other)
	must(t, Release(t.Context(), o)) // it is another's by now
	must(t, c.Get(t.Context(), client.ObjectKey{Name: "released"}, n))
	if !strings.HasPrefix(n.Annotations[annotationClaim], "another ") {
		t.Errorf("the claim is %q", n.Annotations[annotationClaim])
	}
}
