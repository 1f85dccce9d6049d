// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalancerrequest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

var cloud = inmemory.Options{LoadBalancers: true}

func TestARequestBecomesAReadyLoadBalancer(t *testing.T) {
	w := newFixture(t, cloud)
	w.Configure()
	l := w.request("mgmt-cp-lb", "a", "b")
	w.phase(l, v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	want := v1alpha1.LoadBalancerRequestStatus{
		Phase: v1alpha1.LoadBalancerReady, ResourceID: "load-balancer-1", Endpoint: "10.0.0.1", RegisteredTargets: 2, ObservedGeneration: 1,
		Conditions: []metav1.Condition{{
			Type: "Ready", Status: "True", Reason: "LoadBalancerReady", Message: "Load balancer is ready", ObservedGeneration: 1,
		}},
	}
	if diff := cmp.Diff(want, l.Status, cmpopts.IgnoreTypes(metav1.Time{}, &metav1.Time{})); diff != "" {
		t.Errorf("status (-want +got)\n%s", diff)
	}
	if !slices.Contains(l.Finalizers, "loadbalancerrequest.butler.butlerlabs.dev/harvester-finalizer") {
		t.Errorf("finalizers are %v", l.Finalizers)
	}
	wanted := []provider.LoadBalancerSpec{{
		LoadBalancerRef: provider.LoadBalancerRef{Name: "mgmt-cp-lb", Owner: provider.Owner{ID: l.Annotations[v1alpha1.AnnotationOwnerID]}},
		Port:            6443, HealthCheckPort: 6443, Scheme: v1alpha1.SchemeInternetFacing,
		Targets: []provider.Target{{ID: "id-a", Name: "a", IP: "10.0.0.1"}, {ID: "id-b", Name: "b", IP: "10.0.0.2"}},
	}}
	if diff := cmp.Diff(wanted, w.platform.LoadBalancers()); diff != "" {
		t.Errorf("on the platform (-want +got)\n%s", diff)
	}
	w.Event(l, "LoadBalancerCreated")
	w.Event(l, "LoadBalancerReady")
}

func TestChangedTargetsAreAppliedAtOnce(t *testing.T) {
	w := newFixture(t, cloud)
	w.Configure()
	l := w.request("lb")
	w.phase(l, v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	for _, names := range [][]string{{"a", "b", "c"}, {"a", "b", "d"}} {
		base := l.DeepCopy()
		l.Spec.Targets = targets(names...)
		began := time.Now()
		w.Must(w.Patch(t.Context(), l, client.MergeFrom(base)))
		generation := l.Generation
		w.Await(func() error {
			if err := w.read(l); err != nil {
				return err
			}
			if l.Status.ObservedGeneration != generation || l.Status.RegisteredTargets != 3 {
				return fmt.Errorf("status is %+v", l.Status)
			}
			return nil
		})
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the change took %v", took)
		}
		if got := w.platform.LoadBalancers()[0].Targets[2].Name; got != names[2] {
			t.Errorf("the third target is %s, want %s", got, names[2])
		}
	}
	w.Event(l, "TargetsChanged")
}

func TestAChangedSpecIsAppliedAtOnce(t *testing.T) {
	w := newFixture(t, cloud)
	w.Configure()
	l := w.request("lb", "a")
	w.phase(l, v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	base := l.DeepCopy()
	l.Spec.Port, l.Spec.AdditionalPorts, l.Spec.AllowedCIDRs = 7443, []int32{50000}, []string{"203.0.113.0/24"}
	w.Must(w.Patch(t.Context(), l, client.MergeFrom(base)))
	w.Await(func() error {
		got := w.platform.LoadBalancers()[0]
		if got.Port != 7443 || got.HealthCheckPort != 7443 || !slices.Equal(got.AdditionalPorts, []int32{50000}) || !slices.Equal(got.AllowedCIDRs, []string{"203.0.113.0/24"}) {
			return fmt.Errorf("on the platform is %+v", got)
		}
		return nil
	})
}

func TestTheEndpointIsReportedBeforeTheLoadBalancerIsActive(t *testing.T) {
	w := newFixture(t, inmemory.Options{LoadBalancers: true, ActiveDelay: time.Hour})
	w.Configure()
	l := w.request("lb", "a")
	w.Await(func() error {
		if err := w.read(l); err != nil {
			return err
		}
		if l.Status.Phase != v1alpha1.LoadBalancerCreating || l.Status.Endpoint == "" {
			return fmt.Errorf("phase %q, endpoint %q", l.Status.Phase, l.Status.Endpoint)
		}
		return nil
	})
}

func TestATargetThatIsNamedTwiceIsRegisteredOnce(t *testing.T) {
	w := newFixture(t, cloud)
	w.Configure()
	l := w.request("lb")
	base := l.DeepCopy()
	l.Spec.Targets = append(targets("a"), targets("a")...)
	w.Must(w.Patch(t.Context(), l, client.MergeFrom(base)))
	w.Await(func() error {
		if err := w.read(l); err != nil {
			return err
		}
		if l.Status.ObservedGeneration != 2 || l.Status.RegisteredTargets != 1 {
			return fmt.Errorf("status is %+v", l.Status)
		}
		return nil
	})
	w.phase(l, v1alpha1.LoadBalancerReady, "LoadBalancerReady")
}

func TestNewTargetsThatAreRefusedLeaveItReadyAndSaySo(t *testing.T) {
	w := newFixture(t, cloud)
	w.Configure()
	l := w.request("lb")
	w.phase(l, v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	w.platform.Fail(inmemory.EnsureLoadBalancer, &provider.Error{Kind: provider.Invalid, Reason: "TargetNotFound", Op: "ensure", Hint: "correct it"})
	base := l.DeepCopy()
	l.Spec.Targets = targets("a")
	w.Must(w.Patch(t.Context(), l, client.MergeFrom(base)))
	w.phase(l, v1alpha1.LoadBalancerReady, "TargetNotFound")
	w.Event(l, "TargetNotFound")
	w.Nudge()
	w.phase(l, v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	if l.Status.RegisteredTargets != 1 {
		t.Errorf("%d targets are registered", l.Status.RegisteredTargets)
	}
}

func TestAPlatformWithoutLoadBalancersIsSaid(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	l := w.request("lb")
	w.phase(l, v1alpha1.LoadBalancerFailed, "LoadBalancersUnsupported")
	if !strings.Contains(l.Status.FailureMessage, "harvester has no load balancers; delete this request") || len(l.Finalizers) != 0 {
		t.Errorf("failure %q, finalizers %v", l.Status.FailureMessage, l.Finalizers)
	}
	w.Must(w.Delete(t.Context(), l))
	w.Gone(l)
}

func TestAPartialLoadBalancerIsCompleted(t *testing.T) {
	w := newFixture(t, cloud)
	w.platform.HalveLoadBalancer()
	w.Configure()
	w.phase(w.request("lb", "a"), v1alpha1.LoadBalancerReady, "LoadBalancerReady")
}

func TestAFailedRequestRecovers(t *testing.T) {
	w := newFixture(t, cloud)
	w.platform.Fail(inmemory.EnsureLoadBalancer, &provider.Error{Kind: provider.Unauthorized, Reason: "Refused", Op: "ensure", Err: errors.New("no")})
	w.Configure()
	l := w.request("lb", "a")
	w.phase(l, v1alpha1.LoadBalancerFailed, "Refused")
	w.Event(l, "Refused")
	w.Nudge()
	w.phase(l, v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	if l.Status.FailureReason != "" || l.Status.FailureMessage != "" {
		t.Errorf("failure is still %s: %s", l.Status.FailureReason, l.Status.FailureMessage)
	}
	w.Event(l, "LoadBalancerRecovered")
}

func TestDeletionWaitsForTheLoadBalancerToBeGone(t *testing.T) {
	w := newFixture(t, inmemory.Options{LoadBalancers: true, DeleteDelay: 2 * time.Second})
	w.Configure()
	l := w.request("lb", "a")
	w.phase(l, v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	w.Must(w.Delete(t.Context(), l))
	w.phase(l, v1alpha1.LoadBalancerDeleting, "LoadBalancerDeleting")
	if n := len(w.platform.LoadBalancers()); n != 1 || len(l.Finalizers) != 1 {
		t.Errorf("%d load balancers, finalizers %v", n, l.Finalizers)
	}
	w.Gone(l)
	if n := len(w.platform.LoadBalancers()); n != 0 {
		t.Errorf("%d load balancers are left", n)
	}
	w.Event(l, "LoadBalancerDeleting")
	w.Event(l, "LoadBalancerDeleted")
}

func TestALoadBalancerOfTheSameNameInAnotherNamespaceIsAConflict(t *testing.T) {
	first := newFixture(t, cloud)
	first.Configure()
	first.phase(first.request("lb"), v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	second := newFixtureOn(t, first.platform)
	second.Configure()
	l := second.request("lb", "a")
	second.phase(l, v1alpha1.LoadBalancerFailed, "NameTaken")
	second.Must(second.Delete(t.Context(), l))
	second.Gone(l)
	if all := first.platform.LoadBalancers(); len(all) != 1 || len(all[0].Targets) != 0 {
		t.Errorf("the first one was touched: %+v", all)
	}
}

func TestTheProviderConfigMayBeInAnotherNamespace(t *testing.T) {
	l := &v1alpha1.LoadBalancerRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "own", Name: "lb"}}
	l.Spec.ClusterName, l.Spec.ProviderConfigRef = "mgmt", v1alpha1.ProviderReference{Name: "config", Namespace: "platform"}
	if got := l.ProviderConfig(); got.Namespace != "platform" || got.Name != "config" {
		t.Errorf("the ProviderConfig is %s", got)
	}
	l.Spec.ProviderConfigRef.Namespace = ""
	if got := l.ProviderConfig(); got.Namespace != l.Namespace {
		t.Errorf("without a namespace the ProviderConfig is %s", got)
	}
}

func TestRequestsOfOtherProvidersAreNotTouched(t *testing.T) {
	w := newFixture(t, cloud)
	w.Must(w.Create(t.Context(), w.Secret()))
	w.Must(w.Create(t.Context(), w.Config(v1alpha1.ProviderProxmox)))
	foreign := w.request("foreign")
	orphan := &v1alpha1.LoadBalancerRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "orphan"}, Spec: foreign.Spec}
	orphan.Spec.ProviderConfigRef.Name = "missing"
	w.Must(w.Create(t.Context(), orphan))
	claimed := &v1alpha1.LoadBalancerRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "claimed"}, Spec: orphan.Spec}
	claimed.Finalizers = []string{v1alpha1.FinalizerLoadBalancerRequest(v1alpha1.ProviderProxmox)}
	w.Must(w.Create(t.Context(), claimed))
	w.Must(w.Delete(t.Context(), claimed)) // by now only its own provider may let it go
	w.Must(w.read(claimed))
	w.Nudge()
	time.Sleep(500 * time.Millisecond)
	for _, l := range []*v1alpha1.LoadBalancerRequest{foreign, orphan, claimed} {
		before := l.ResourceVersion
		w.Must(w.read(l))
		if l.ResourceVersion != before {
			t.Errorf("%s was written: %+v", l.Name, l.Status)
		}
	}
	if n := len(w.platform.LoadBalancers()); n != 0 {
		t.Errorf("%d load balancers were made", n)
	}
}

func TestNothingIsWrittenWhileNothingChanges(t *testing.T) {
	w := newFixture(t, cloud)
	w.Configure()
	l := w.request("lb", "a")
	w.phase(l, v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	seen := w.platform.Calls(inmemory.ObserveLoadBalancer)
	for range 3 {
		w.Nudge()
		time.Sleep(100 * time.Millisecond)
	}
	if w.platform.Calls(inmemory.ObserveLoadBalancer) == seen {
		t.Fatal("the request did not come up again")
	}
	version, stamp := l.ResourceVersion, l.Status.LastUpdated.Time
	w.Must(w.read(l))
	if l.ResourceVersion != version || !l.Status.LastUpdated.Time.Equal(stamp) {
		t.Errorf("the request was written: %+v", l.Status)
	}
	if n := w.platform.Calls(inmemory.EnsureLoadBalancer); n != 1 {
		t.Errorf("%d ensures were sent", n)
	}
}

func TestWithoutProviderConfigNothingIsReleased(t *testing.T) {
	w := newFixture(t, cloud)
	w.Configure()
	l := w.request("lb", "a")
	w.phase(l, v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	w.Must(w.Delete(t.Context(), w.Config(v1alpha1.ProviderHarvester)))
	w.Must(w.Delete(t.Context(), l))
	w.phase(l, v1alpha1.LoadBalancerDeleting, "ProviderConfigNotFound")
	w.Must(w.Create(t.Context(), w.Config(v1alpha1.ProviderHarvester)))
	w.Gone(l)
	if n := len(w.platform.LoadBalancers()); n != 0 {
		t.Errorf("%d load balancers are left", n)
	}
}

func TestADeletionIsHeldWhileAnotherPlatformAnswers(t *testing.T) {
	w := newFixture(t, inmemory.Options{LoadBalancers: true})
	w.Configure()
	l := w.request("a", "m")
	w.phase(l, v1alpha1.LoadBalancerReady, reasonReady)
	w.platform.Redirect(inmemory.New(inmemory.Options{LoadBalancers: true}))
	w.Nudge()
	w.Must(w.Delete(w.Context(), l))
	w.phase(l, v1alpha1.LoadBalancerDeleting, request.ReasonPlatformChanged)
	if n := len(w.platform.LoadBalancers()); n != 1 {
		t.Errorf("%d load balancers are left", n)
	}
	w.platform.Lift()
	w.Nudge()
	w.Gone(l)
	if n := len(w.platform.LoadBalancers()); n != 0 {
		t.Errorf("%d load balancers are left in the end", n)
	}
}
