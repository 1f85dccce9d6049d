// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/addressclaim"
	"github.com/butlerdotdev/butler/internal/controller/lag"
)

// fixture is an API server in memory with a pool; the test calls the reconciler itself.
type fixture struct {
	testing.TB
	client.WithWatch

	Namespace string
	pool      *v1alpha1.NetworkPool
}

// Must ends the test with an error.
func (f *fixture) Must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func newScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// newFixture is one whose pool has n addresses, from 10.0.0.1 on, and is ready.
func newFixture(t testing.TB, n int) *fixture {
	t.Helper()
	api := fake.NewClientBuilder().WithScheme(newScheme(t)).WithStatusSubresource(&v1alpha1.IPAllocation{}, &v1alpha1.NetworkPool{}, &v1alpha1.ClusterBootstrap{}, &v1alpha1.TenantCluster{}).Build()
	f := &fixture{TB: t, WithWatch: api, Namespace: "ns"}
	f.pool = &v1alpha1.NetworkPool{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "pool"},
		Spec: v1alpha1.NetworkPoolSpec{
			CIDR: "10.0.0.0/16", TenantAllocation: &v1alpha1.TenantAllocation{Start: "10.0.0.1", End: netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}).String()},
			ReuseAfter: &metav1.Duration{Duration: time.Hour},
		},
	}
	f.Must(f.Create(t.Context(), f.pool))
	f.ready(metav1.ConditionTrue, "")
	return f
}

// ready says that addresses can be allocated from the pool, or why not.
func (f *fixture) ready(is metav1.ConditionStatus, message string) {
	f.Helper()
	f.Must(f.Get(f.Context(), client.ObjectKeyFromObject(f.pool), f.pool))
	f.pool.Status.ObservedGeneration = f.pool.Generation
	meta.SetStatusCondition(&f.pool.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: is, Reason: "Test", Message: message, ObservedGeneration: f.pool.Generation,
	})
	f.Must(f.Status().Update(f.Context(), f.pool))
}

// allocation asks for n addresses.
func (f *fixture) allocation(name string, n int32, change ...func(*v1alpha1.IPAllocationSpec)) *v1alpha1.IPAllocation {
	f.Helper()
	a := &v1alpha1.IPAllocation{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: name},
		Spec: v1alpha1.IPAllocationSpec{
			PoolRef: v1alpha1.LocalReference{Name: "pool"}, Type: v1alpha1.IPAllocationLoadBalancer, Count: n,
			MachineRequestRef: &v1alpha1.LocalReference{Name: "machine"},
		},
	}
	for _, c := range change {
		c(&a.Spec)
	}
	f.Must(f.Create(f.Context(), a))
	return a
}

func pin(first, last string) func(*v1alpha1.IPAllocationSpec) {
	return func(s *v1alpha1.IPAllocationSpec) {
		s.PinnedRange = &v1alpha1.PinnedRange{StartAddress: first, EndAddress: last}
	}
}

// reconciler has no cache, and acts by a client.
func reconciler(c client.Client) *Reconciler {
	return &Reconciler{
		Client: c, Registry: addressclaim.Registry{Client: c, Live: c}, Fence: addressclaim.Fence{Cache: c, Live: c},
		Recorder: events.NewFakeRecorder(1000), Name: "test",
	}
}

// pass reconciles once, and knows all claims that there are.
func (r *Reconciler) pass(ctx context.Context, a *v1alpha1.IPAllocation) (reconcile.Result, error) {
	all := &v1alpha1.AddressClaimList{}
	if err := r.Client.List(ctx, all); err != nil {
		return reconcile.Result{}, err
	}
	r.free = newFree(all.Items)
	return r.Reconcile(ctx, a)
}

// settle reconciles until nothing changes; it returns nil once the allocation is gone.
func (f *fixture) settle(r *Reconciler, name string) *v1alpha1.IPAllocation {
	f.Helper()
	for range 20 {
		a := f.read(name)
		if a == nil {
			return nil
		}
		before := a.ResourceVersion
		result, err := r.pass(f.Context(), a)
		f.Must(err)
		if after := f.read(name); after != nil && after.ResourceVersion == before && result.RequeueAfter != lag.Again {
			return after
		}
	}
	f.Fatalf("%s does not settle", name)
	return nil
}

func (f *fixture) read(name string) *v1alpha1.IPAllocation {
	f.Helper()
	a := &v1alpha1.IPAllocation{}
	err := f.Get(f.Context(), client.ObjectKey{Namespace: f.Namespace, Name: name}, a)
	if client.IgnoreNotFound(err) != nil {
		f.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return a
}

// sweep reconciles all claims, as their controller does.
func (f *fixture) sweep() {
	f.Helper()
	all := &v1alpha1.AddressClaimList{}
	f.Must(f.List(f.Context(), all))
	r := reconciler(f)
	claims := &addressclaim.Reconciler{Registry: r.Registry, Fence: r.Fence}
	for i := range all.Items {
		_, err := claims.Reconcile(f.Context(), &all.Items[i])
		f.Must(err)
	}
}

// claims are the claims by address, with the allocation and whether it was released.
func (f *fixture) claims() map[string]string {
	f.Helper()
	list := &v1alpha1.AddressClaimList{}
	f.Must(f.List(f.Context(), list))
	out := map[string]string{}
	for _, c := range list.Items {
		out[c.Spec.Address] = c.Spec.AllocationRef.Name
		if c.Spec.AllocationRef.Namespace != f.Namespace {
			out[c.Spec.Address] = c.Spec.AllocationRef.Namespace + "/" + c.Spec.AllocationRef.Name
		}
		if c.Spec.ReleasedAt != nil {
			out[c.Spec.Address] += " released"
		}
	}
	return out
}

func reason(a *v1alpha1.IPAllocation) string {
	if c := meta.FindStatusCondition(a.Status.Conditions, v1alpha1.ConditionReady); c != nil {
		return c.Reason
	}
	return ""
}

var errCrash = errors.New("crash")

// crashing is a client that dies at its n-th write, before or after it has taken effect.
func crashing(c client.WithWatch, n int, takesEffect bool) (client.Client, *int) {
	writes := 0
	write := func(do func() error) error {
		writes++
		if writes > n || writes == n && !takesEffect {
			return errCrash
		}
		if err := do(); err != nil || writes < n {
			return err
		}
		return errCrash
	}
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return write(func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return write(func() error { return c.Update(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return write(func() error { return c.Patch(ctx, o, p, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return write(func() error { return c.Delete(ctx, o, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return write(func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
	}), &writes
}
