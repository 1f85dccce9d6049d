// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon/install"
	"github.com/butlerdotdev/butler/internal/controller/lag"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/talos/talostest"
)

var api *plane.Plane

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(planetest.Run(m, plane.Options{}, func(p *plane.Plane) { api = p }))
}

// fixture is a namespace of its own with a reconciler that nothing but the test
// calls, and nodes that never answer.
type fixture struct {
	*testing.T
	client.Client
	*Reconciler
	namespace string
	events    *events.FakeRecorder
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(api.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	recorder := events.NewFakeRecorder(100)
	refuse := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route to host") }
	r := &Reconciler{Client: c, Live: c, Dial: refuse, Addons: install.New(install.Options{}), Recorder: recorder, Clock: time.Now, NewSecrets: talostest.NewSecrets}
	t.Cleanup(r.Addons.Close)
	return &fixture{t, c, r, namespace.Name, recorder}
}

// restart replaces the reconciler by one without memory.
func (w *fixture) restart() {
	w.Reconciler = withoutMemory(w.Reconciler)
	w.Addons = install.New(install.Options{})
	w.Cleanup(w.Addons.Close)
}

// withoutMemory is a reconciler like another, without its memory.
func withoutMemory(r *Reconciler) *Reconciler {
	return &Reconciler{Client: r.Client, Live: r.Live, Dial: r.Dial, Addons: r.Addons, Digests: r.Digests, Recorder: r.Recorder, Clock: r.Clock, NewSecrets: r.NewSecrets}
}

func (w *fixture) create(o client.Object) {
	w.Helper()
	o.SetNamespace(w.namespace)
	if err := w.Create(w.Context(), o); err != nil {
		w.Fatal(err)
	}
}

func (w *fixture) reconcile(name string) *v1alpha1.ClusterBootstrap {
	w.Helper()
	cb := w.get(name)
	if _, err := w.Reconcile(w.Context(), cb); err != nil {
		w.Fatal(err)
	}
	return w.get(name)
}

func (w *fixture) get(name string) *v1alpha1.ClusterBootstrap {
	w.Helper()
	cb := &v1alpha1.ClusterBootstrap{}
	if err := w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, cb); err != nil {
		w.Fatal(err)
	}
	return cb
}

func (w *fixture) request(name string) (*v1alpha1.MachineRequest, error) {
	r := &v1alpha1.MachineRequest{}
	return r, w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, r)
}

func providerConfig() *v1alpha1.ProviderConfig {
	return &v1alpha1.ProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Name: "harvester"},
		Spec: v1alpha1.ProviderConfigSpec{
			Provider:       v1alpha1.ProviderHarvester,
			CredentialsRef: &v1alpha1.SecretReference{Name: "credentials"},
			Harvester:      &v1alpha1.HarvesterSpec{NetworkName: "default/workloads"},
		},
	}
}

func clusterBootstrap() *v1alpha1.ClusterBootstrap {
	return &v1alpha1.ClusterBootstrap{
		ObjectMeta: metav1.ObjectMeta{Name: "dev"},
		Spec: v1alpha1.ClusterBootstrapSpec{
			Provider:    v1alpha1.ProviderHarvester,
			ProviderRef: v1alpha1.ProviderReference{Name: "harvester"},
			Cluster: v1alpha1.ClusterSpec{
				Name: "dev", Topology: v1alpha1.TopologySingleNode,
				ControlPlane: v1alpha1.NodePool{
					Replicas: 1, CPU: 4, MemoryMB: 8192, DiskGB: 50,
					ExtraDisks: []v1alpha1.DiskSpec{{SizeGB: 10, StorageClass: "fast"}},
				},
			},
			Network: v1alpha1.NetworkSpec{PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12", VIP: "10.40.0.100"},
			Talos:   v1alpha1.TalosSpec{Version: "v1.9.2", Schematic: "abc"},
			Addons:  bare(),
		},
	}
}

// bare is without all addons that can be switched off, but kube-vip.
func bare() (a v1alpha1.AddonsSpec) {
	const none = "none"
	a.CNI.Type, a.Storage.Type, a.LoadBalancer.Type, a.Ingress.Type, a.ControlPlaneProvider.Type, a.GitOps.Type = none, none, none, none, none, none
	a.CertManager.Enabled, a.CAPI.Enabled, a.ButlerController.Enabled = new(false), new(false), new(false)
	return a
}

func progressing(cb *v1alpha1.ClusterBootstrap) metav1.Condition {
	if c := meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionProgressing); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func TestMissingProviderConfigIsAnObstacleThatHeals(t *testing.T) {
	w := newFixture(t)
	w.create(clusterBootstrap())
	cb := w.reconcile("dev")
	if c := progressing(cb); c.Reason != "ProviderConfigMissing" || cb.Status.Phase != v1alpha1.BootstrapPending {
		t.Fatalf("phase %s, %+v", cb.Status.Phase, c)
	}
	w.create(providerConfig())
	if cb = w.reconcile("dev"); cb.Status.Phase != v1alpha1.BootstrapProvisioningMachines {
		t.Errorf("phase %s", cb.Status.Phase)
	}
}

func TestRequestsCarryTheSpecAndTheIdentityOfTheCluster(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	cb := w.reconcile("dev")
	r, err := w.request("dev-cp-0")
	if err != nil {
		t.Fatal(err)
	}
	want := v1alpha1.MachineRequestSpec{
		ProviderRef: v1alpha1.ProviderReference{Namespace: w.namespace, Name: "harvester"},
		MachineName: "dev-cp-0", Role: v1alpha1.RoleControlPlane, CPU: 4, MemoryMB: 8192, DiskGB: 50,
		ExtraDisks:   []v1alpha1.DiskSpec{{SizeGB: 10, StorageClass: "fast"}},
		TalosVersion: "v1.9.2", Schematic: "abc",
		Labels: map[string]string{v1alpha1.LabelCluster: "dev", v1alpha1.LabelRole: "control-plane"},
	}
	if diff := cmp.Diff(want, r.Spec); diff != "" {
		t.Error(diff)
	}
	id := cb.Annotations[v1alpha1.AnnotationClusterID]
	if id == "" || r.Annotations[v1alpha1.AnnotationClusterID] != id || r.Annotations[v1alpha1.AnnotationOwnerID] == "" {
		t.Errorf("cluster %q, request %v", id, r.Annotations)
	}
}

func TestReconcilingAgainChangesNothing(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	first := w.reconcile("dev")
	before, err := w.request("dev-cp-0")
	if err != nil {
		t.Fatal(err)
	}
	if second := w.reconcile("dev"); second.ResourceVersion != first.ResourceVersion {
		t.Errorf("the status was written again:\n%s", cmp.Diff(first.Status, second.Status))
	}
	if after, err := w.request("dev-cp-0"); err != nil || after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the request was written again: %v", err)
	}
}

func TestOutdatedReadIsNoFailure(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	old := w.get("dev")
	w.reconcile("dev")
	result, err := w.Reconcile(t.Context(), old)
	if err != nil || result.RequeueAfter != lag.Again {
		t.Errorf("got %v, %v", result, err)
	}
}

func TestSecretsAreMadeOnceWhateverACacheSays(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	w.reconcile("dev")
	key := client.ObjectKey{Namespace: w.namespace, Name: "dev-talos-secrets"}
	first, second := &corev1.Secret{}, &corev1.Secret{}
	if err := w.Get(t.Context(), key, first); err != nil {
		t.Fatal(err)
	}
	w.Live = blind{w.Client}
	if _, err := w.Reconcile(t.Context(), w.get("dev")); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a blind reconciler got %v", err)
	}
	if err := w.Get(t.Context(), key, second); err != nil || first.ResourceVersion != second.ResourceVersion {
		t.Errorf("the secrets were replaced: %v", err)
	}
}

// blind finds nothing, as a cache may that is behind.
type blind struct{ client.Reader }

func (blind) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewNotFound(corev1.Resource("secrets"), key.Name)
}

func TestUnreachableNodeIsAnObstacleWithItsAddress(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	w.reconcile("dev")
	w.run("dev-cp-0")
	cb := w.reconcile("dev")
	if c := progressing(cb); cb.Status.Phase != v1alpha1.BootstrapConfiguringTalos || !strings.Contains(c.Message, "dev-cp-0 (10.40.0.10) does not answer") {
		t.Errorf("phase %s: %s", cb.Status.Phase, c.Message)
	}
	want := []v1alpha1.BootstrapMachineStatus{{Name: "dev-cp-0", Role: v1alpha1.RoleControlPlane, Phase: v1alpha1.MachineRunning, IPAddress: "10.40.0.10"}}
	if diff := cmp.Diff(want, cb.Status.Machines); diff != "" {
		t.Error(diff)
	}
	if cb.Status.ControlPlaneEndpoint != "10.40.0.100" {
		t.Errorf("endpoint %q", cb.Status.ControlPlaneEndpoint)
	}
}

func TestCredentialsAreInTheStatusIfAskedForAlone(t *testing.T) {
	for asked, inline := range map[v1alpha1.StatusCredentials]bool{
		"": false, v1alpha1.StatusCredentialsSecretOnly: false, v1alpha1.StatusCredentialsInline: true,
	} {
		t.Run("spec.statusCredentials="+string(asked), func(t *testing.T) {
			w := newFixture(t)
			w.create(providerConfig())
			cb := clusterBootstrap()
			cb.Spec.StatusCredentials = asked
			w.create(cb)
			w.reconcile("dev")
			w.run("dev-cp-0")
			got := w.reconcile("dev")
			if got.Status.Talosconfig != "" != inline {
				t.Errorf("the status has %d bytes of talosconfig", len(got.Status.Talosconfig))
			}
			secret := &corev1.Secret{}
			if err := w.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "dev-talosconfig"}, secret); err != nil || len(secret.Data["talosconfig"]) == 0 {
				t.Errorf("the talosconfig is not in its Secret: %v", err)
			}
			c := meta.FindStatusCondition(got.Status.Conditions, v1alpha1.ConditionCredentialsAvailable)
			if c == nil || c.Reason != "KubeconfigPending" || !strings.Contains(c.Message, "Secret "+w.namespace+"/dev-talosconfig holds the talosconfig") {
				t.Errorf("no condition names the Secret: %+v", c)
			}
		})
	}
}

// run plays the provider: the machine runs.
func (w *fixture) run(name string) {
	w.Helper()
	r, err := w.request(name)
	if err != nil {
		w.Fatal(err)
	}
	r.Status.Phase, r.Status.IPAddress = v1alpha1.MachineRunning, "10.40.0.10"
	if err := w.Status().Update(w.Context(), r); err != nil {
		w.Fatal(err)
	}
}

func TestDeletedRequestIsNotCreatedAgain(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	w.reconcile("dev")
	r, err := w.request("dev-cp-0")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if c := progressing(w.reconcile("dev")); c.Reason != "MachineRequestDeleted" {
		t.Errorf("%+v", c)
	}
	if _, err := w.request("dev-cp-0"); !apierrors.IsNotFound(err) {
		t.Errorf("the request is there again: %v", err)
	}
}

func TestUnsupportedSpecFailsAndAChangedOneRevives(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	broken := clusterBootstrap()
	broken.Spec.Talos.Version = "v9.9.9"
	w.create(broken)
	cb := w.reconcile("dev")
	if cb.Status.Phase != v1alpha1.BootstrapFailed || cb.Status.FailureReason != "InvalidSpec" || !meta.IsStatusConditionTrue(cb.Status.Conditions, v1alpha1.ConditionFailed) {
		t.Fatalf("status %+v", cb.Status)
	}
	if _, err := w.request("dev-cp-0"); !apierrors.IsNotFound(err) {
		t.Errorf("a machine was requested: %v", err)
	}
	select {
	case e := <-w.events.Events:
		if !strings.HasPrefix(e, "Warning Failed") {
			t.Errorf("event %q", e)
		}
	default:
		t.Error("there is no event")
	}
	cb.Spec.Talos.Version = "v1.9.2"
	if err := w.Update(t.Context(), cb); err != nil {
		t.Fatal(err)
	}
	cb = w.reconcile("dev")
	if cb.Status.Phase != v1alpha1.BootstrapProvisioningMachines || cb.Status.FailureReason != "" || cb.Status.ObservedGeneration != cb.Generation {
		t.Errorf("status %+v", cb.Status)
	}
}

func TestTeamScopedProviderConfigIsRefused(t *testing.T) {
	w := newFixture(t)
	pc := providerConfig()
	pc.Spec.Scope = &v1alpha1.ProviderScope{Type: v1alpha1.ScopeTeam, TeamRef: &v1alpha1.LocalReference{Name: "team"}}
	w.create(pc)
	w.create(clusterBootstrap())
	if cb := w.reconcile("dev"); cb.Status.FailureReason != "ProviderScope" {
		t.Errorf("status %+v", cb.Status)
	}
}

func TestPausedChangesNothing(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	cb := clusterBootstrap()
	cb.Spec.Paused = true
	w.create(cb)
	got := w.reconcile("dev")
	if c := progressing(got); c.Reason != "Paused" || len(got.Finalizers) != 0 || got.Status.Phase != v1alpha1.BootstrapPending {
		t.Errorf("phase %q, %+v, finalizers %v", got.Status.Phase, c, got.Finalizers)
	}
	if _, err := w.request("dev-cp-0"); !apierrors.IsNotFound(err) {
		t.Errorf("a machine was requested: %v", err)
	}
}

func TestPausedDoesNotKeepFromDeletion(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	cb := w.reconcile("dev")
	cb.Spec.Paused = true
	if err := w.Update(t.Context(), cb); err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(t.Context(), cb); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Reconcile(t.Context(), w.get("dev")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.request("dev-cp-0"); !apierrors.IsNotFound(err) {
		t.Errorf("the request is still there: %v", err)
	}
}

func TestDeletionWaitsForRequestsAndRemovesSecrets(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	w.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "another-owners", Labels: map[string]string{v1alpha1.LabelClusterBootstrap: "dev"}}})
	w.reconcile("dev")
	r, err := w.request("dev-cp-0")
	if err != nil {
		t.Fatal(err)
	}
	r.Finalizers = []string{"example.com/machine-still-there"}
	if err := w.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(t.Context(), w.get("dev")); err != nil {
		t.Fatal(err)
	}
	cb := w.reconcile("dev")
	if c := progressing(cb); c.Reason != "Deleting" || !strings.Contains(c.Message, "dev-cp-0") || cb.Status.ObservedGeneration != cb.Generation {
		t.Errorf("%+v at generation %d", c, cb.Status.ObservedGeneration)
	}
	if r, err = w.request("dev-cp-0"); err != nil || r.DeletionTimestamp.IsZero() {
		t.Fatalf("the request is not being deleted: %v", err)
	}
	r.Finalizers = nil
	if err := w.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Reconcile(t.Context(), w.get("dev")); err != nil {
		t.Fatal(err)
	}
	err = w.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "dev"}, &v1alpha1.ClusterBootstrap{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the ClusterBootstrap is still there: %v", err)
	}
	var left corev1.SecretList
	if err := w.List(t.Context(), &left, client.InNamespace(w.namespace)); err != nil || len(left.Items) != 1 || left.Items[0].Name != "another-owners" {
		t.Errorf("secrets left: %d, %v", len(left.Items), err)
	}
}

func TestClusterWhoseIDWasTakenOffIsStillTheSame(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	before := w.reconcile("dev")
	replacement := clusterBootstrap() // as kubectl replace sends it
	replacement.Namespace, replacement.ResourceVersion = w.namespace, before.ResourceVersion
	if err := w.Update(t.Context(), replacement); err != nil {
		t.Fatal(err)
	}
	const id = v1alpha1.AnnotationClusterID
	cb := w.reconcile("dev")
	if cb.Annotations[id] != before.Annotations[id] || cb.Status.Phase != before.Status.Phase {
		t.Errorf("phase %s: %s; id %s was %s", cb.Status.Phase, cb.Status.FailureMessage, cb.Annotations[id], before.Annotations[id])
	}
	delete(cb.Annotations, id)
	if err := w.Update(t.Context(), cb); err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(t.Context(), cb); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Reconcile(t.Context(), w.get("dev")); err != nil {
		t.Fatal(err)
	}
	if made := w.made(); len(made) != 0 {
		t.Errorf("left: %v", made)
	}
}
