// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package networkpool

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/addressclaim"
	"github.com/butlerdotdev/butler/internal/controller/controllertest"
	"github.com/butlerdotdev/butler/internal/ipam"
)

var api *rest.Config

func TestMain(m *testing.M) { controllertest.Main(m, &api) }

// fixture is a namespace; the test calls the reconciler itself.
type fixture struct {
	*controllertest.Fixture
	r *Reconciler
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Fixture: controllertest.New(t, api)}
	t.Cleanup(func() { // claims have no namespace, and pools concern those of others
		_ = f.DeleteAllOf(context.Background(), &v1alpha1.AddressClaim{})
		f.finish()
	})
	f.r = &Reconciler{Client: f, Live: f, Fence: addressclaim.Fence{Cache: f, Live: f}, Recorder: events.NewFakeRecorder(100)}
	return f
}

func (f *fixture) pool(name, cidr string, change func(*v1alpha1.NetworkPoolSpec)) *v1alpha1.NetworkPool {
	f.Helper()
	p := &v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: name}, Spec: v1alpha1.NetworkPoolSpec{CIDR: cidr}}
	if change != nil {
		change(&p.Spec)
	}
	f.Must(f.Create(f.Context(), p))
	return p
}

// finish deletes the pools of the test.
func (f *fixture) finish() {
	pools := &v1alpha1.NetworkPoolList{}
	if err := f.List(context.Background(), pools); err != nil {
		f.Error(err)
	}
	for _, p := range pools.Items {
		p.Finalizers = nil
		_ = f.Update(context.Background(), &p)
		_ = f.Delete(context.Background(), &p)
	}
}

func (f *fixture) claim(address string, released *metav1.Time) {
	f.Helper()
	f.Must(f.Create(f.Context(), &v1alpha1.AddressClaim{
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.AddressClaimName(netip.MustParseAddr(address))},
		Spec: v1alpha1.AddressClaimSpec{
			Address: address, PoolRef: v1alpha1.NamespacedReference{Namespace: f.Namespace, Name: "pool"},
			AllocationRef: v1alpha1.NamespacedReference{Namespace: f.Namespace, Name: "of-" + address}, ReleasedAt: released,
		},
	}))
}

// reconcile passes over a pool until its finalizer is set and its status is written, or until
// it is gone: then its name is empty.
func (f *fixture) reconcile(p *v1alpha1.NetworkPool) {
	f.Helper()
	for range 3 {
		err := f.Get(f.Context(), client.ObjectKeyFromObject(p), p)
		if client.IgnoreNotFound(err) != nil {
			f.Fatal(err)
		}
		if err != nil {
			p.Name = ""
			return
		}
		_, err = f.r.Reconcile(f.Context(), p)
		f.Must(err)
	}
}

func ready(p *v1alpha1.NetworkPool) metav1.Condition {
	if c := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionReady); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func TestStatusCountsAddresses(t *testing.T) {
	f := newFixture(t)
	p := f.pool("pool", "10.0.0.0/28", func(s *v1alpha1.NetworkPoolSpec) { s.Reserved = []v1alpha1.ReservedRange{{CIDR: "10.0.0.8/30"}} })
	f.claim("10.0.0.2", nil)
	f.claim("10.0.0.4", &metav1.Time{Time: time.Now()})
	f.reconcile(p)
	s := p.Status
	if s.TotalIPs != 10 || s.AvailableIPs != 8 || s.AllocatedIPs != 1 || s.RestingIPs != 1 || s.ReservedIPs != 6 || s.AllocationCount != 1 || s.LargestFreeBlock != 3 || s.FragmentationPercent != 62 {
		t.Errorf("%+v", s)
	}
	if got := ready(p); got.Status != metav1.ConditionTrue || got.ObservedGeneration != p.Generation {
		t.Errorf("%+v", got)
	}
}

func TestPoolThatCannotBeUsedSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		reason, says string
		prepare      func(*fixture)
		change       func(*v1alpha1.NetworkPoolSpec)
	}{
		"range outside": {reason: reasonInvalid, says: "10.0.1.1-10.0.1.9 is not in the network", change: func(s *v1alpha1.NetworkPoolSpec) {
			s.TenantAllocation = &v1alpha1.TenantAllocation{Start: "10.0.1.1", End: "10.0.1.9"}
		}},
		"ranges overlap": {reason: reasonInvalid, says: "ranges 10.0.0.1-10.0.0.9 and 10.0.0.9-10.0.0.12 overlap", change: func(s *v1alpha1.NetworkPoolSpec) {
			s.TenantAllocation = &v1alpha1.TenantAllocation{Ranges: []v1alpha1.AddressRange{{Start: "10.0.0.1", End: "10.0.0.9"}, {Start: "10.0.0.9", End: "10.0.0.12"}}}
		}},
		"overlap": {reason: reasonOverlap, says: "/other, 10.0.0.0/16", prepare: func(f *fixture) { f.pool("other", "10.0.0.0/16", nil) }},
		"overlap with another namespace": {reason: reasonOverlap, says: "/other, 10.0.0.0/16", prepare: func(f *fixture) {
			here := f.Namespace
			f.Namespace = f.NewNamespace()
			f.pool("other", "10.0.0.0/16", nil)
			f.Namespace = here
		}},
		"shrunk": {reason: reasonOutside, says: "/of-10.0.0.9;", prepare: func(f *fixture) { f.claim("10.0.0.9", nil) }, change: func(s *v1alpha1.NetworkPoolSpec) {
			s.TenantAllocation = &v1alpha1.TenantAllocation{Start: "10.0.0.1", End: "10.0.0.8"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			if c.prepare != nil {
				c.prepare(f)
			}
			p := f.pool("pool", "10.0.0.0/24", c.change)
			f.reconcile(p)
			if got := ready(p); got.Reason != c.reason || got.Status != metav1.ConditionFalse || !strings.Contains(got.Message, c.says) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestPoolStaysWhileAddressesAreAllocated(t *testing.T) {
	f := newFixture(t)
	p := f.pool("pool", "10.0.0.0/24", nil)
	f.claim("10.0.0.9", nil)
	f.claim("10.0.0.10", &metav1.Time{Time: time.Now()})
	f.reconcile(p)
	f.Must(f.Delete(t.Context(), p))
	f.reconcile(p)
	if got := ready(p); p.Name == "" || got.Reason != reasonInUse || !strings.Contains(got.Message, "of-10.0.0.9") {
		t.Fatalf("%+v", p)
	}
	f.Must(f.Delete(t.Context(), &v1alpha1.AddressClaim{ObjectMeta: metav1.ObjectMeta{Name: "10.0.0.9"}}))
	if f.reconcile(p); p.Name != "" {
		t.Errorf("%+v", p)
	}
	left := &v1alpha1.AddressClaimList{}
	f.Must(f.List(t.Context(), left))
	if len(left.Items) != 1 {
		t.Errorf("%d claims are left; the released one must rest", len(left.Items))
	}
}

// TestAPoolOfAFencedClusterIsLeftAlone has a pool that is just being moved.
func TestAPoolOfAFencedClusterIsLeftAlone(t *testing.T) {
	f := newFixture(t)
	cb := &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "mgmt", Annotations: map[string]string{v1alpha1.AnnotationFenced: "moving"}}}
	f.r.Fence = addressclaim.Fence{Cache: fencedBy(f, nil), Live: fencedBy(f, cb)}
	p := f.pool("pool", "10.0.0.0/24", nil)
	if f.reconcile(p); len(p.Finalizers) != 0 || len(p.Status.Conditions) != 0 {
		t.Errorf("%+v", p)
	}
	f.r.Fence = addressclaim.Fence{Cache: fencedBy(f, nil), Live: fencedBy(f, nil)}
	if f.reconcile(p); ready(p).Reason != reasonReady {
		t.Errorf("%+v", p)
	}
}

// fencedBy is a reader that knows one ClusterBootstrap, or none.
func fencedBy(f *fixture, cb *v1alpha1.ClusterBootstrap) client.Reader {
	return interceptor.NewClient(f, interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
		all, ok := list.(*metav1.PartialObjectMetadataList)
		if !ok {
			return errors.New("not a list of metadata")
		}
		if cb != nil {
			all.Items = []metav1.PartialObjectMetadata{{ObjectMeta: cb.ObjectMeta}}
		}
		return nil
	}})
}

func TestServersOfTheNetworkAreNeverAllocated(t *testing.T) {
	pool := &v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}, Spec: v1alpha1.NetworkPoolSpec{CIDR: "10.0.0.0/29"}}
	config := v1alpha1.ProviderConfig{Spec: v1alpha1.ProviderConfigSpec{Network: &v1alpha1.ProviderNetworkSpec{
		PoolRefs: []v1alpha1.NetworkPoolReference{{Name: "pool"}}, Gateway: "10.0.0.1", DNSServers: []string{"10.0.0.2", "1.1.1.1"}, TimeServers: []string{"time.example.com", "10.0.0.3"},
	}}}
	p, err := ipam.Describe(pool, []v1alpha1.ProviderConfig{config})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []string{"10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.7"} {
		if p.Allows(netip.MustParseAddr(a)) {
			t.Errorf("%s may be allocated", a)
		}
	}
	if !p.Allows(netip.MustParseAddr("10.0.0.4")) {
		t.Error("10.0.0.4 may not be allocated")
	}
}
