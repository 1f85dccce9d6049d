// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestAllocationGetsABlockThatGrowsShrinksAndRests(t *testing.T) {
	f := newFixture(t, 8)
	r := reconciler(f)
	f.allocation("a", 3)
	a := f.settle(r, "a")
	if a.Status.Phase != v1alpha1.IPAllocationAllocated || a.Status.StartAddress != "10.0.0.1" || a.Status.EndAddress != "10.0.0.3" || len(a.Status.Addresses) != 3 || a.Status.CIDR != "10.0.0.0/16" {
		t.Errorf("%+v", a.Status)
	}
	resize := func(n int32) *v1alpha1.IPAllocation {
		a := f.read("a")
		a.Spec.Count = n
		f.Must(f.Update(t.Context(), a))
		return f.settle(r, "a")
	}
	if a = resize(5); a.Status.EndAddress != "10.0.0.5" || reason(a) != reasonAllocated {
		t.Errorf("%+v", a.Status)
	}
	f.allocation("b", 1, pin("10.0.0.7", "10.0.0.7"))
	f.settle(r, "b")
	if a = resize(7); a.Status.EndAddress != "10.0.0.5" || reason(a) != reasonExhausted {
		t.Errorf("%+v", a.Status)
	}
	if a = resize(2); a.Status.EndAddress != "10.0.0.2" || reason(a) != reasonAllocated {
		t.Errorf("%+v", a.Status)
	}
	want := map[string]string{"10.0.0.1": "a", "10.0.0.2": "a", "10.0.0.3": "a released", "10.0.0.4": "a released", "10.0.0.5": "a released", "10.0.0.7": "b"}
	if diff := cmp.Diff(want, f.claims()); diff != "" {
		t.Error(diff)
	}
	f.allocation("c", 2)
	if c := f.settle(r, "c"); reason(c) != reasonExhausted || !strings.Contains(c.Status.Conditions[0].Message, "2 of 8 are free, at most 1 in one block") {
		t.Errorf("%+v", c.Status)
	}
	f.Must(f.Delete(t.Context(), f.read("a")))
	if f.settle(r, "a") != nil || f.claims()["10.0.0.1"] != "a released" {
		t.Errorf("%v", f.claims())
	}
}

func TestPinnedAddressesAreGrantedOrRefusedWithTheReason(t *testing.T) {
	f := newFixture(t, 8)
	r := reconciler(f)
	f.allocation("a", 1, pin("10.0.0.4", "10.0.0.5"))
	if a := f.settle(r, "a"); a.Status.StartAddress != "10.0.0.4" || a.Status.AllocatedCount != 2 {
		t.Errorf("%+v", a.Status)
	}
	for name, c := range map[string]struct{ first, last, reason, says string }{
		"taken":     {"10.0.0.5", "10.0.0.6", reasonTaken, "10.0.0.5 is allocated to IPAllocation "},
		"outside":   {"10.0.0.8", "10.0.0.9", reasonNotInPool, "10.0.0.9 cannot be allocated from NetworkPool pool"},
		"network":   {"10.0.0.0", "10.0.0.0", reasonNotInPool, "10.0.0.0 cannot"},
		"backwards": {"10.0.0.3", "10.0.0.2", reasonRange, "ends before it starts"},
	} {
		f.allocation(name, 1, pin(c.first, c.last))
		a := f.settle(r, name)
		if reason(a) != c.reason || !strings.Contains(a.Status.Conditions[0].Message, c.says) || a.Status.StartAddress != "" {
			t.Errorf("%s: %+v", name, a.Status)
		}
	}
	want := map[string]string{"10.0.0.4": "a", "10.0.0.5": "a"}
	if diff := cmp.Diff(want, f.claims()); diff != "" {
		t.Error(diff)
	}
}

func TestAddressesAreNotReleasedWhileWhatUsesThemExists(t *testing.T) {
	machine := &v1alpha1.MachineRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "user"},
		Spec:       v1alpha1.MachineRequestSpec{ProviderRef: v1alpha1.ProviderReference{Name: "x"}, MachineName: "user", Role: v1alpha1.RoleWorker, CPU: 1, MemoryMB: 1024, DiskGB: 10},
	}
	cluster, tenant := bootstrapOf("user"), tenantOf("user")
	for _, user := range []client.Object{machine, cluster, tenant} {
		f := newFixture(t, 4)
		r := reconciler(f)
		f.allocation("a", 1, func(s *v1alpha1.IPAllocationSpec) {
			if s.MachineRequestRef.Name = "user"; user == client.Object(cluster) {
				s.MachineRequestRef, s.ClusterBootstrapRef = nil, &v1alpha1.LocalReference{Name: "user"}
			}
			if user == client.Object(tenant) { // in another namespace
				s.MachineRequestRef, s.TenantClusterRef = nil, &v1alpha1.NamespacedReference{Namespace: "default", Name: "user"}
			}
		})
		f.settle(r, "a")
		if user.GetNamespace() == "" {
			user.SetNamespace(f.Namespace)
		}
		f.Must(f.Create(t.Context(), user))
		if user == client.Object(cluster) {
			f.list(cluster, "a")
		}
		if user == client.Object(tenant) {
			tenant.Status.Allocations = []v1alpha1.TenantAddresses{{Name: "a", Type: v1alpha1.IPAllocationLoadBalancer}}
			f.Must(f.Status().Update(t.Context(), tenant))
		}
		f.Must(f.Delete(t.Context(), f.read("a")))
		if again, err := r.pass(t.Context(), f.read("a")); err != nil || again.RequeueAfter != lookAgain {
			t.Errorf("looks again after %s: %v", again.RequeueAfter, err)
		}
		if a := f.settle(r, "a"); a == nil || reason(a) != reasonInUse || a.Status.Phase != v1alpha1.IPAllocationAllocated || a.Status.StartAddress != "10.0.0.1" || f.claims()["10.0.0.1"] != "a" {
			t.Errorf("%+v, %v", a, f.claims())
		}
		f.Must(f.Delete(t.Context(), user))
		if f.settle(r, "a") != nil || f.claims()["10.0.0.1"] != "a released" {
			t.Errorf("the allocation is still there, or its address: %v", f.claims())
		}
	}
}

// TestAddressesInUseAreNotGivenUpByASmallerCount: a cluster still announces them.
func TestAddressesInUseAreNotGivenUpByASmallerCount(t *testing.T) {
	f := newFixture(t, 4)
	r := reconciler(f)
	cb := bootstrapOf("user")
	cb.Namespace = f.Namespace
	f.Must(f.Create(t.Context(), cb))
	f.allocation("a", 3, func(s *v1alpha1.IPAllocationSpec) {
		s.MachineRequestRef, s.ClusterBootstrapRef = nil, &v1alpha1.LocalReference{Name: "user"}
	})
	a := f.settle(r, "a")
	f.list(cb, "a")
	resize := func(n int32) *v1alpha1.IPAllocation {
		a = f.read("a")
		a.Spec.Count = n
		f.Must(f.Update(t.Context(), a))
		return f.settle(r, "a")
	}
	all := map[string]string{"10.0.0.1": "a", "10.0.0.2": "a", "10.0.0.3": "a"}
	if a = resize(1); reason(a) != reasonInUse || a.Status.AllocatedCount != 3 || a.Status.Phase != v1alpha1.IPAllocationAllocated || !maps.Equal(all, f.claims()) {
		t.Errorf("%+v, %v", a.Status, f.claims())
	}
	if says := a.Status.Conditions[0].Message; !strings.Contains(says, "ClusterBootstrap user uses them; restore spec.count") {
		t.Error(says)
	}
	if again, err := r.pass(t.Context(), f.read("a")); err != nil || again.RequeueAfter != lookAgain {
		t.Errorf("looks again after %s: %v", again.RequeueAfter, err)
	}
	if a = resize(4); reason(a) != reasonAllocated || a.Status.AllocatedCount != 4 {
		t.Errorf("%+v", a.Status)
	}
	resize(1)
	cb.Status.Allocations = nil
	f.Must(f.Status().Update(t.Context(), cb))
	if a = f.settle(r, "a"); reason(a) != reasonAllocated || a.Status.AllocatedCount != 1 || f.claims()["10.0.0.4"] != "a released" {
		t.Errorf("%+v, %v", a.Status, f.claims())
	}
}

// TestAPinnedAllocationThatIsCreatedAgainTakesItsAddressesBack, unless they were for another user.
func TestAPinnedAllocationThatIsCreatedAgainTakesItsAddressesBack(t *testing.T) {
	for name, c := range map[string]struct {
		user string
		end  string // of the pool
		want string
	}{
		"the same user":              {"machine", "10.0.0.8", reasonAllocated},
		"another user":               {"other", "10.0.0.8", reasonTaken},
		"a pool without the address": {"machine", "10.0.0.4", reasonNotInPool},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 8)
			r := reconciler(f)
			f.allocation("a", 2, pin("10.0.0.4", "10.0.0.5"))
			a := f.settle(r, "a")
			a.Finalizers = nil
			f.Must(f.Update(t.Context(), a))
			f.Must(f.Delete(t.Context(), a))
			f.pool.Spec.TenantAllocation.End = c.end
			f.Must(f.Update(t.Context(), f.pool))
			f.ready(metav1.ConditionTrue, "")
			f.allocation("a", 2, pin("10.0.0.4", "10.0.0.5"), func(s *v1alpha1.IPAllocationSpec) { s.MachineRequestRef.Name = c.user })
			if a = f.settle(r, "a"); reason(a) != c.want || (a.Status.AllocatedCount == 2) != (c.want == reasonAllocated) {
				t.Errorf("%+v", a.Status)
			}
			if diff := cmp.Diff(map[string]string{"10.0.0.4": "a", "10.0.0.5": "a"}, f.claims()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func bootstrapOf(name string) *v1alpha1.ClusterBootstrap {
	return &v1alpha1.ClusterBootstrap{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.ClusterBootstrapSpec{
			Provider: v1alpha1.ProviderHarvester, ProviderRef: v1alpha1.ProviderReference{Name: "x"},
			Cluster: v1alpha1.ClusterSpec{Name: name, Topology: v1alpha1.TopologySingleNode, ControlPlane: v1alpha1.NodePool{Replicas: 1, CPU: 4, MemoryMB: 8192, DiskGB: 50}},
			Network: v1alpha1.NetworkSpec{PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12"},
			Talos:   v1alpha1.TalosSpec{Version: "v1.9.2", Schematic: "0a"},
		},
	}
}

// tenantOf is a tenant cluster in another namespace than the allocations.
func tenantOf(name string) *v1alpha1.TenantCluster {
	return &v1alpha1.TenantCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// list puts an allocation on the list of a cluster.
func (f *fixture) list(cb *v1alpha1.ClusterBootstrap, allocation string) {
	f.Helper()
	cb.Status.Allocations = []v1alpha1.BootstrapAllocation{{Name: allocation, Pool: "pool", CIDR: "10.0.0.0/24", StartAddress: "10.0.0.1", EndAddress: "10.0.0.1"}}
	f.Must(f.Status().Update(f.Context(), cb))
}

// TestClusterHasTheAddressesThatItListsUntilItsLastMachineIsGone: it waits for its
// allocations itself, so that they must not wait for its end.
func TestClusterHasTheAddressesThatItListsUntilItsLastMachineIsGone(t *testing.T) {
	f := newFixture(t, 4)
	r := reconciler(f)
	cb := bootstrapOf("user")
	cb.Namespace, cb.Finalizers = f.Namespace, []string{"example.com/held"}
	f.Must(f.Create(t.Context(), cb))
	of := func(s *v1alpha1.IPAllocationSpec) {
		s.MachineRequestRef, s.ClusterBootstrapRef = nil, &v1alpha1.LocalReference{Name: "user"}
	}
	f.allocation("unlisted", 1, of)
	f.settle(r, "unlisted")
	f.Must(f.Delete(t.Context(), f.read("unlisted")))
	if a := f.settle(r, "unlisted"); a != nil {
		t.Errorf("an allocation that the cluster does not use is still there: %+v", a.Status)
	}
	f.allocation("a", 1, of)
	f.settle(r, "a")
	f.list(cb, "a")
	machine := &v1alpha1.MachineRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "m", Labels: map[string]string{v1alpha1.LabelClusterBootstrap: "user"}},
		Spec:       v1alpha1.MachineRequestSpec{ProviderRef: v1alpha1.ProviderReference{Name: "x"}, MachineName: "m", Role: v1alpha1.RoleWorker, CPU: 1, MemoryMB: 1024, DiskGB: 10},
	}
	f.Must(f.Create(t.Context(), machine))
	f.Must(f.Delete(t.Context(), cb))
	f.Must(f.Delete(t.Context(), f.read("a")))
	if a := f.settle(r, "a"); a == nil || reason(a) != reasonInUse {
		t.Errorf("released although there is a machine: %+v", a)
	}
	f.Must(f.Delete(t.Context(), machine))
	if a := f.settle(r, "a"); a != nil {
		t.Errorf("still there although the last machine is gone: %+v", a.Status)
	}
}

// TestTwoControllersNeverGiveAnAddressTwice has both allocate all addresses of a pool at
// once, each without what the other does in its cache.
func TestTwoControllersNeverGiveAnAddressTwice(t *testing.T) {
	f := newFixture(t, 24)
	for i := range 24 {
		f.allocation(fmt.Sprintf("a-%d", i), 1)
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			r := reconciler(f)
			for i := range 24 {
				for range 10 {
					if a := f.read(fmt.Sprintf("a-%d", i)); a.Status.Phase != v1alpha1.IPAllocationAllocated {
						_, _ = r.pass(t.Context(), a) // what one of both does not finish, the other does
					}
				}
			}
		})
	}
	both.Wait()
	f.checkAll(24)
}

// checkAll wants n allocations with an address each, claimed by them alone.
func (f *fixture) checkAll(n int) {
	f.Helper()
	want := map[string]string{}
	for i := range n {
		a := f.settle(reconciler(f), fmt.Sprintf("a-%d", i))
		if other, twice := want[a.Status.StartAddress]; twice || a.Status.Phase != v1alpha1.IPAllocationAllocated {
			f.Errorf("%s has %q, %s has it too: %+v", a.Name, a.Status.StartAddress, other, a.Status)
		}
		want[a.Status.StartAddress] = a.Name
	}
	if got := f.claims(); !maps.Equal(want, got) {
		f.Error(cmp.Diff(want, got))
	}
}

// TestACrashAtAnyWriteLosesNoAddress kills the controller at each write of the life of an
// allocation, which loses a planned address to another, grows, shrinks and is deleted.
func TestACrashAtAnyWriteLosesNoAddress(t *testing.T) {
	for _, takesEffect := range []bool{true, false} {
		for n := 1; ; n++ {
			f := newFixture(t, 8)
			died := f.life(n, takesEffect)
			want := map[string]string{"10.0.0.1": "rival", "10.0.0.2": "a released", "10.0.0.3": "a released", "10.0.0.4": "a released"}
			got := f.claims()
			if !died {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
				break
			}
			for address, holder := range got {
				if holder == "a" || address > "10.0.0.4" {
					t.Errorf("death at write %d, effect %t: %v", n, takesEffect, got)
				}
			}
		}
	}
}

// life goes through one allocation; at the n-th write the controller dies, and another one
// takes over. It returns whether it died.
func (f *fixture) life(n int, takesEffect bool) (died bool) {
	f.Helper()
	dying, _ := crashing(f.WithWatch, n, takesEffect)
	r := reconciler(dying)
	pass := func() {
		for range 12 {
			a := f.read("a")
			if a == nil {
				return
			}
			if _, err := r.pass(f.Context(), a); errors.Is(err, errCrash) {
				died, r = true, reconciler(f)
			}
		}
	}
	f.allocation("a", 2)
	a := f.read("a")
	f.plan(a, "10.0.0.1-10.0.0.2")
	f.Must(f.Create(f.Context(), &v1alpha1.AddressClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "10.0.0.1", CreationTimestamp: metav1.Now()},
		Spec:       v1alpha1.AddressClaimSpec{Address: "10.0.0.1", PoolRef: f.ref("pool"), AllocationRef: f.ref("rival")},
	}))
	pass()
	for _, count := range []int32{3, 1} {
		a = f.read("a")
		a.Spec.Count = count
		f.Must(f.Update(f.Context(), a))
		pass()
		f.sweep()
		if a = f.read("a"); a.Status.AllocatedCount != count || a.Status.StartAddress != "10.0.0.2" {
			f.Errorf("death at write %d, effect %t: count %d: %+v", n, takesEffect, count, a.Status)
		}
	}
	f.Must(f.Delete(f.Context(), f.read("a")))
	pass()
	if f.read("a") != nil {
		f.Errorf("death at write %d, effect %t: the allocation is still there", n, takesEffect)
	}
	return died
}

func (f *fixture) ref(name string) v1alpha1.NamespacedReference {
	return v1alpha1.NamespacedReference{Namespace: f.Namespace, Name: name}
}

// plan records a plan as if a controller had died after it.
func (f *fixture) plan(a *v1alpha1.IPAllocation, text string) {
	f.Helper()
	before := a.DeepCopy()
	a.Annotations = map[string]string{v1alpha1.AnnotationPlannedRange: text}
	f.Must(f.Patch(f.Context(), a, client.MergeFrom(before)))
}

// TestARestoredAllocationDoesNotTakeWhatIsAnothers restores an allocation whose address was
// given to another one in between.
func TestARestoredAllocationDoesNotTakeWhatIsAnothers(t *testing.T) {
	f := newFixture(t, 4)
	r := reconciler(f)
	f.allocation("b", 1)
	f.settle(r, "b")
	old := f.allocation("old", 1)
	old.Status = v1alpha1.IPAllocationStatus{Phase: v1alpha1.IPAllocationAllocated, StartAddress: "10.0.0.1", EndAddress: "10.0.0.1", AllocatedCount: 1}
	f.Must(f.Status().Update(t.Context(), old))
	a := f.settle(r, "old")
	if a.Status.Phase != v1alpha1.IPAllocationFailed || reason(a) != reasonTaken || !strings.Contains(a.Status.Conditions[0].Message, "/b, and to this one") {
		t.Errorf("%+v", a.Status)
	}
	f.Must(f.Delete(t.Context(), a))
	if f.settle(r, "old") != nil || f.claims()["10.0.0.1"] != "b" {
		t.Errorf("%v", f.claims())
	}
}
