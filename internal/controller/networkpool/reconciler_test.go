// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package networkpool

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/controllertest"
	"github.com/butlerdotdev/butler/internal/ipam"
)

var api *rest.Config

func TestMain(m *testing.M) { controllertest.Main(m, &api) }

// fixture is a namespace; the test calls the reconciler itself, at a time of its own.
type fixture struct {
	*controllertest.Fixture
	r   *Reconciler
	now time.Time
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Fixture: controllertest.New(t, api), now: time.Now().Truncate(time.Second)}
	f.r = &Reconciler{Client: f, Live: f, Recorder: events.NewFakeRecorder(100), Clock: func() time.Time { return f.now }}
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

func (f *fixture) claim(address string, released *metav1.Time) {
	f.Helper()
	f.Must(f.Create(f.Context(), &v1alpha1.AddressClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: v1alpha1.AddressClaimName(netip.MustParseAddr(address))},
		Spec: v1alpha1.AddressClaimSpec{
			Address: address, PoolRef: v1alpha1.LocalReference{Name: "pool"}, AllocationRef: v1alpha1.LocalReference{Name: "of-" + v1alpha1.AddressClaimName(netip.MustParseAddr(address))}, ReleasedAt: released,
		},
	}))
}

// reconcile passes over a pool until its finalizer is set and its status is written, or until
// it is gone. It returns when it is looked at again.
func (f *fixture) reconcile(p *v1alpha1.NetworkPool) (again time.Duration) {
	f.Helper()
	for range 3 {
		err := f.Get(f.Context(), client.ObjectKeyFromObject(p), p)
		if client.IgnoreNotFound(err) != nil {
			f.Fatal(err)
		}
		if err != nil {
			p.Name = ""
			return 0
		}
		result, err := f.r.Reconcile(f.Context(), p)
		f.Must(err)
		again = result.RequeueAfter
	}
	return again
}

func ready(p *v1alpha1.NetworkPool) metav1.Condition {
	if c := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionReady); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func TestStatusCountsAndRestedAddressesAreFreeAgain(t *testing.T) {
	f := newFixture(t)
	p := f.pool("pool", "10.0.0.0/28", func(s *v1alpha1.NetworkPoolSpec) {
		s.Reserved = []v1alpha1.ReservedRange{{CIDR: "10.0.0.8/30"}}
		s.ReuseAfter = &metav1.Duration{Duration: time.Minute}
	})
	f.claim("10.0.0.2", nil)
	f.claim("10.0.0.4", &metav1.Time{Time: f.now.Add(-50 * time.Second)})
	if again := f.reconcile(p); again != 10*time.Second {
		t.Errorf("looks again after %s", again)
	}
	s := p.Status
	if s.TotalIPs != 10 || s.AvailableIPs != 8 || s.AllocatedIPs != 1 || s.RestingIPs != 1 || s.ReservedIPs != 6 || s.AllocationCount != 1 || s.LargestFreeBlock != 3 || s.FragmentationPercent != 62 {
		t.Errorf("%+v", s)
	}
	f.now = f.now.Add(11 * time.Second)
	if again := f.reconcile(p); again != 0 || p.Status.RestingIPs != 0 || p.Status.AvailableIPs != 9 || ready(p).Status != metav1.ConditionTrue {
		t.Errorf("%s, %+v", again, p.Status)
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
		"overlap": {reason: reasonOverlap, says: "NetworkPool other, 10.0.0.0/16", prepare: func(f *fixture) { f.pool("other", "10.0.0.0/16", nil) }},
		"shrunk": {reason: reasonOutside, says: "to of-10.0.0.9;", prepare: func(f *fixture) { f.claim("10.0.0.9", nil) }, change: func(s *v1alpha1.NetworkPoolSpec) {
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
	f.claim("10.0.0.10", &metav1.Time{Time: f.now})
	f.reconcile(p)
	f.Must(f.Delete(t.Context(), p))
	f.reconcile(p)
	if got := ready(p); p.Name == "" || got.Reason != reasonInUse || !strings.Contains(got.Message, "of-10.0.0.9") {
		t.Fatalf("%+v", p)
	}
	f.Must(f.DeleteAllOf(t.Context(), &v1alpha1.AddressClaim{}, client.InNamespace(f.Namespace), client.MatchingFields{"metadata.name": "10.0.0.9"}))
	if f.reconcile(p); p.Name != "" {
		t.Errorf("%+v", p)
	}
	left := &v1alpha1.AddressClaimList{}
	f.Must(f.List(t.Context(), left, client.InNamespace(f.Namespace)))
	if len(left.Items) != 0 {
		t.Errorf("%d claims are left", len(left.Items))
	}
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
