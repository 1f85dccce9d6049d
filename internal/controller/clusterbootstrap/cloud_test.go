// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func meta1(name, namespace string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace}
}

func cloudBootstrap() *v1alpha1.ClusterBootstrap {
	cb := haBootstrap(v1alpha1.ProviderGCP, 1)
	cb.Spec.Network.VIP = ""
	cb.Spec.Talos.Version = "v1.12.0" // finds disks by what they are
	return cb
}

func (w *fixture) balancer() (*v1alpha1.LoadBalancerRequest, error) {
	r := &v1alpha1.LoadBalancerRequest{}
	return r, w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: "dev-cp-lb"}, r)
}

// serveBalancer plays the provider: the load balancer has an endpoint.
func (w *fixture) serveBalancer(endpoint string) {
	w.Helper()
	r, err := w.balancer()
	if err != nil {
		w.Fatal(err)
	}
	r.Status.Phase, r.Status.Endpoint = v1alpha1.LoadBalancerReady, endpoint
	if err := w.Status().Update(w.Context(), r); err != nil {
		w.Fatal(err)
	}
}

// runAll plays the provider: all four machines run.
func (w *fixture) runAll() {
	w.Helper()
	for _, name := range []string{"dev-cp-0", "dev-cp-1", "dev-cp-2", "dev-w-0"} {
		w.run(name)
	}
}

// atBalancer is a cluster whose load balancer is requested.
func atBalancer(t *testing.T, cb *v1alpha1.ClusterBootstrap) *fixture {
	t.Helper()
	w := newFixture(t)
	w.create(configOf(v1alpha1.ProviderGCP))
	w.create(cb)
	w.reconcile("dev")
	return w
}

// inCloud is one whose machines are requested too.
func inCloud(t *testing.T) *fixture {
	t.Helper()
	w := atBalancer(t, cloudBootstrap())
	w.nameBalancer("lb.example.com")
	w.reconcile("dev")
	return w
}

// nameBalancer plays the provider: the load balancer has a name, and is not active yet.
func (w *fixture) nameBalancer(endpoint string) {
	w.Helper()
	r, err := w.balancer()
	w.must(err)
	r.Status.Phase, r.Status.Endpoint = v1alpha1.LoadBalancerCreating, endpoint
	w.must(w.Status().Update(w.Context(), r))
}

// targets are those of the load balancer, by the name of the machine.
func (w *fixture) targets() (names []string) {
	w.Helper()
	r, err := w.balancer()
	if err != nil {
		w.Fatal(err)
	}
	for _, t := range r.Spec.Targets {
		names = append(names, t.InstanceName)
	}
	return names
}

func TestLoadBalancerIsRequestedBeforeAnyMachine(t *testing.T) {
	w := atBalancer(t, cloudBootstrap())
	r, err := w.balancer()
	if err != nil {
		t.Fatal(err)
	}
	want := v1alpha1.LoadBalancerRequestSpec{
		ClusterName: "dev", Port: 6443, AdditionalPorts: []int32{50000}, Scheme: v1alpha1.SchemeInternetFacing,
		ProviderConfigRef: v1alpha1.ProviderReference{Namespace: w.namespace, Name: "harvester"},
	}
	if diff := cmp.Diff(want, r.Spec); diff != "" {
		t.Error(diff)
	}
	if c := progressing(w.get("dev")); c.Reason != "WaitingForLoadBalancer" || len(w.requests()) != 0 {
		t.Errorf("%+v, %d machines are requested", c, len(w.requests()))
	}
	w.reconcile("dev")
	if again, err := w.balancer(); err != nil || again.ResourceVersion != r.ResourceVersion {
		t.Errorf("the request was written again: %v", err)
	}
}

func TestLoadBalancerFollowsTheSpec(t *testing.T) {
	w := newFixture(t)
	w.create(configOf(v1alpha1.ProviderGCP))
	cb := cloudBootstrap()
	cb.Spec.Network.LoadBalancer = &v1alpha1.ControlPlaneLoadBalancerSpec{Scheme: v1alpha1.SchemeInternal}
	w.create(cb)
	w.reconcile("dev")
	if r, err := w.balancer(); err != nil || r.Spec.Scheme != v1alpha1.SchemeInternal || len(r.Spec.AllowedCIDRs) != 0 {
		t.Errorf("%v, %+v", err, r.Spec)
	}
	office := []string{"203.0.113.0/24"}
	w.change("dev", func(s *v1alpha1.ClusterBootstrapSpec) { s.Network.LoadBalancer.AllowedCIDRs = office })
	w.reconcile("dev")
	if r, err := w.balancer(); err != nil || !slices.Equal(r.Spec.AllowedCIDRs, office) {
		t.Errorf("%v, clients %v", err, r.Spec.AllowedCIDRs)
	}
}

func TestMachinesAreRequestedWithTheirConfiguration(t *testing.T) {
	w := inCloud(t)
	if c := progressing(w.get("dev")); c.Reason != "WaitingForMachines" || w.get("dev").Status.ControlPlaneEndpoint != "lb.example.com" {
		t.Errorf("%+v", w.get("dev").Status)
	}
	for _, r := range w.requests() {
		if data := r.Spec.UserData; !strings.Contains(data, "endpoint: https://lb.example.com:6443") || strings.Contains(data, "install:\n        disk") {
			t.Errorf("user data of %s:\n%s", r.Name, data)
		}
	}
	w.runAll()
	w.serveBalancer("lb.example.com")
	if cb := w.reconcile("dev"); cb.Status.Phase != v1alpha1.BootstrapConfiguringTalos || progressing(cb).Reason != "WaitingForTalos" {
		t.Errorf("phase %s, %+v", cb.Status.Phase, progressing(cb))
	}
	for _, r := range w.requests() {
		if r.Spec.UserData != "" {
			t.Errorf("%s still has its user data", r.Name)
		}
	}
	if got := w.targets(); !slices.Equal(got, []string{"dev-cp-0", "dev-cp-1", "dev-cp-2"}) {
		t.Errorf("targets are %v", got)
	}
}

func TestMachinesWithPublicAddressesAreRequestedWithoutUserData(t *testing.T) {
	w := newFixture(t)
	config := configOf(v1alpha1.ProviderGCP)
	config.Spec.GCP.PublicIP = true
	w.create(config)
	w.create(cloudBootstrap())
	w.reconcile("dev")
	if all := w.requests(); len(all) != 4 || all[0].Spec.UserData != "" {
		t.Errorf("%d machines are requested before the load balancer has a name", len(all))
	}
}

func TestUserDataThatIsTooLargeIsAFailureBeforeThereAreMachines(t *testing.T) {
	cb := cloudBootstrap()
	cb.Spec.Talos.StrategicPatches = []v1alpha1.TalosStrategicPatch{{Patch: "machine: {env: {x: " + strings.Repeat("x", 256<<10) + "}}"}}
	w := atBalancer(t, cb)
	w.nameBalancer("lb.example.com")
	cb = w.reconcile("dev")
	if cb.Status.FailureReason != "UserDataTooLarge" || !strings.Contains(cb.Status.FailureMessage, "publicIP: true") || len(w.requests()) != 0 {
		t.Errorf("%s: %s, %d machines", cb.Status.FailureReason, cb.Status.FailureMessage, len(w.requests()))
	}
}

func TestFailedLoadBalancerIsReportedWhileMachinesAreAwaited(t *testing.T) {
	w := inCloud(t)
	r, err := w.balancer()
	w.must(err)
	r.Status.Phase = v1alpha1.LoadBalancerFailed
	w.must(w.Status().Update(t.Context(), r))
	if c := progressing(w.reconcile("dev")); c.Reason != "WaitingForLoadBalancer" || !strings.Contains(c.Message, "is Failed") {
		t.Errorf("%+v", c)
	}
}

// TestAMachineThatIsNotReachedIsNamedWithTheWaysOut has machines that run for a minute.
func TestAMachineThatIsNotReachedIsNamedWithTheWaysOut(t *testing.T) {
	w := inCloud(t)
	w.runAll()
	w.reconcile("dev")
	w.serveBalancer("lb.example.com")
	for _, m := range w.requests() {
		m.Status.Conditions = []metav1.Condition{{
			Type: "Ready", Status: "True", Reason: "VMRunning", LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Minute)),
		}}
		w.must(w.Status().Update(t.Context(), &m))
	}
	c := progressing(w.reconcile("dev"))
	for _, part := range []string{"dev-cp-0 (10.40.0.10) does not answer", "through the load balancer lb.example.com", "TCP 50000", "publicIP: true"} {
		if !strings.Contains(c.Message, part) {
			t.Errorf("%q is not in %s", part, c.Message)
		}
	}
}

func TestTargetsFollowMachinesAcrossARestart(t *testing.T) {
	w := inCloud(t)
	before, err := w.balancer()
	if err != nil {
		t.Fatal(err)
	}
	w.run("dev-cp-1")
	w.restart()
	w.reconcile("dev")
	if got := w.targets(); !slices.Equal(got, []string{"dev-cp-1"}) {
		t.Errorf("targets are %v", got)
	}
	w.runAll()
	w.restart()
	w.reconcile("dev")
	if got := w.targets(); !slices.Equal(got, []string{"dev-cp-0", "dev-cp-1", "dev-cp-2"}) {
		t.Errorf("targets are %v", got)
	}
	if after, err := w.balancer(); err != nil || after.UID != before.UID {
		t.Errorf("another request took its place: %v", err)
	}
}

func TestNameOfTheUserIsTheEndpointBeforeTheLoadBalancers(t *testing.T) {
	cb := cloudBootstrap()
	cb.Spec.Network.VIP = "api.example.com"
	w := atBalancer(t, cb)
	w.nameBalancer("203.0.113.9")
	if cb := w.reconcile("dev"); cb.Status.ControlPlaneEndpoint != "api.example.com" {
		t.Errorf("endpoint %q", cb.Status.ControlPlaneEndpoint)
	}
	r, err := w.request("dev-cp-0")
	w.must(err)
	for _, part := range []string{"endpoint: https://api.example.com:6443", "certSANs:\n        - 203.0.113.9\n        - api.example.com"} {
		if !strings.Contains(r.Spec.UserData, part) {
			t.Errorf("%q is not in\n%s", part, r.Spec.UserData)
		}
	}
}

func TestTargetsFollowTheMachines(t *testing.T) {
	w := inCloud(t)
	w.runAll()
	w.reconcile("dev")
	r, err := w.request("dev-cp-1")
	if err != nil {
		t.Fatal(err)
	}
	r.Status.IPAddress, r.Status.ProviderID = "10.244.1.27", "machine-77" // of a pod network
	r.Status.IPAddresses = []string{"10.244.1.27", "10.40.0.77"}
	if err := w.Status().Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	w.reconcile("dev")
	lb, err := w.balancer()
	if err != nil {
		t.Fatal(err)
	}
	if got := lb.Spec.Targets[1]; got != (v1alpha1.LoadBalancerTarget{IP: "10.40.0.77", InstanceID: "machine-77", InstanceName: "dev-cp-1"}) {
		t.Errorf("%+v", got)
	}
}

func TestTargetsFollowAReplacedMachine(t *testing.T) {
	w := inCloud(t)
	w.runAll()
	w.reconcile("dev")
	w.serveBalancer("lb.example.com")
	cb := w.reconcile("dev")
	cb.Status.Phase = v1alpha1.BootstrapReady
	w.must(w.Status().Update(t.Context(), cb))
	mark := "dev-cp-1 " + time.Now().Format(time.RFC3339)
	cb.Annotations[v1alpha1.AnnotationReplacing] = mark
	w.must(w.Update(t.Context(), cb))
	old, err := w.request("dev-cp-1")
	w.must(err)
	old.Status.Phase, old.Status.FailureReason = v1alpha1.MachineFailed, v1alpha1.ReasonVMLost
	w.must(w.Status().Update(t.Context(), old))
	w.reconcile("dev")
	if got := w.targets(); !slices.Equal(got, []string{"dev-cp-0", "dev-cp-2"}) {
		t.Errorf("targets without the lost machine are %v", got)
	}
	w.must(w.Delete(t.Context(), old))
	successor := &v1alpha1.MachineRequest{ObjectMeta: owned(cb, "dev-cp-1"), Spec: old.Spec}
	successor.Annotations[v1alpha1.AnnotationReplacement] = mark
	w.createOwned(successor)
	w.run("dev-cp-1")
	w.reconcile("dev")
	if got := w.targets(); !slices.Equal(got, []string{"dev-cp-0", "dev-cp-1", "dev-cp-2"}) {
		t.Errorf("targets with its successor are %v", got)
	}
}

func TestDeletedLoadBalancerIsNotCreatedAgainOnceItsEndpointIsInUse(t *testing.T) {
	w := inCloud(t)
	w.runAll()
	w.reconcile("dev")
	w.serveBalancer("lb.example.com")
	w.reconcile("dev")
	if err := w.Delete(t.Context(), &v1alpha1.LoadBalancerRequest{ObjectMeta: meta1("dev-cp-lb", w.namespace)}); err != nil {
		t.Fatal(err)
	}
	if c := progressing(w.reconcile("dev")); c.Reason != "LoadBalancerRequestDeleted" {
		t.Errorf("%+v", c)
	}
	if _, err := w.balancer(); !apierrors.IsNotFound(err) {
		t.Errorf("it is there again: %v", err)
	}
}

func TestLoadBalancerOfAnotherClusterIsNotTaken(t *testing.T) {
	w := newFixture(t)
	w.create(configOf(v1alpha1.ProviderGCP))
	w.create(cloudBootstrap())
	w.create(&v1alpha1.LoadBalancerRequest{ObjectMeta: metav1.ObjectMeta{Name: "dev-cp-lb"}, Spec: v1alpha1.LoadBalancerRequestSpec{
		ClusterName: "other", ProviderConfigRef: v1alpha1.ProviderReference{Name: "harvester"},
	}})
	if cb := w.reconcile("dev"); cb.Status.FailureReason != "NameTaken" {
		t.Errorf("%+v", cb.Status)
	}
	if r, err := w.balancer(); err != nil || len(r.Spec.Targets) != 0 {
		t.Errorf("it was changed: %v", err)
	}
}

func TestDeletionHalfWayWaitsForTheLoadBalancer(t *testing.T) {
	w := inCloud(t)
	w.reconcile("dev")
	r, err := w.balancer()
	if err != nil {
		t.Fatal(err)
	}
	r.Finalizers = []string{"example.com/load-balancer-still-there"}
	if err := w.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(t.Context(), w.get("dev")); err != nil {
		t.Fatal(err)
	}
	if c := progressing(w.reconcile("dev")); c.Reason != "Deleting" || !strings.Contains(c.Message, "dev-cp-lb") {
		t.Errorf("%+v", c)
	}
	if made := w.made(); made["dev-talos-secrets"] == "" || made["dev-cp-0"] != "" {
		t.Errorf("left: %v", made)
	}
	if r, err = w.balancer(); err != nil || r.DeletionTimestamp.IsZero() {
		t.Fatalf("the request is not being deleted: %v", err)
	}
	r.Finalizers = nil
	if err := w.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Reconcile(t.Context(), w.get("dev")); err != nil {
		t.Fatal(err)
	}
	if made := w.made(); len(made) != 0 {
		t.Errorf("left: %v", made)
	}
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "dev"}, &v1alpha1.ClusterBootstrap{}); !apierrors.IsNotFound(err) {
		t.Errorf("the ClusterBootstrap is still there: %v", err)
	}
}
