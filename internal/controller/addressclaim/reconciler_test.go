// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addressclaim

import (
	"context"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/lag"
)

const namespace = "ns"

// start is the time at which claims of these tests are created.
var start = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// reconciler has the objects, and a clock that is past their creation by the given time.
func reconciler(t *testing.T, past time.Duration, objects ...client.Object) *Reconciler {
	t.Helper()
	c := fake.NewClientBuilder().WithScheme(scheme(t)).WithStatusSubresource(&v1alpha1.IPAllocation{}).WithObjects(objects...).Build()
	return &Reconciler{
		Registry: Registry{Client: c, Live: c, Clock: func() time.Time { return start.Add(past) }},
		Fence:    Fence{Cache: c, Live: c},
	}
}

// claim is one of 10.0.0.1 by the allocation a.
func claim(change func(*v1alpha1.AddressClaimSpec)) *v1alpha1.AddressClaim {
	c := &v1alpha1.AddressClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "10.0.0.1", CreationTimestamp: metav1.NewTime(start)},
		Spec: v1alpha1.AddressClaimSpec{
			Address: "10.0.0.1", PoolRef: v1alpha1.NamespacedReference{Namespace: namespace, Name: "pool"},
			AllocationRef: v1alpha1.NamespacedReference{Namespace: namespace, Name: "a"},
			UsedBy:        &v1alpha1.AddressUser{Kind: "MachineRequest", Name: "machine"},
		},
	}
	if change != nil {
		change(&c.Spec)
	}
	return c
}

func allocation(planned, has string) *v1alpha1.IPAllocation {
	return &v1alpha1.IPAllocation{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a", Annotations: map[string]string{v1alpha1.AnnotationPlannedRange: planned}},
		Status:     v1alpha1.IPAllocationStatus{StartAddress: has, EndAddress: has},
	}
}

// after reconciles once; it returns the claim, nil if it is gone.
func after(t *testing.T, r *Reconciler) (*v1alpha1.AddressClaim, time.Duration) {
	t.Helper()
	c := &v1alpha1.AddressClaim{}
	if err := r.Client.Get(t.Context(), client.ObjectKey{Name: "10.0.0.1"}, c); err != nil {
		t.Fatal(err)
	}
	result, err := r.Reconcile(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	err = r.Client.Get(t.Context(), client.ObjectKey{Name: "10.0.0.1"}, c)
	if apierrors.IsNotFound(err) {
		return nil, result.RequeueAfter
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, result.RequeueAfter
}

func TestAReleasedAddressRests(t *testing.T) {
	pool := &v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pool"}, Spec: v1alpha1.NetworkPoolSpec{ReuseAfter: &metav1.Duration{Duration: time.Hour}}}
	for name, c := range map[string]struct {
		released time.Duration // after the start
		past     time.Duration
		pool     bool
		recorded time.Duration // how long the claim says
		gone     bool
		again    time.Duration
	}{
		"rests":                       {past: 59 * time.Minute, pool: true, again: time.Minute},
		"has rested":                  {past: time.Hour, pool: true, gone: true},
		"without its pool":            {past: 9 * time.Minute, again: time.Minute},
		"has rested without its pool": {past: 10 * time.Minute, gone: true},
		"as a pool said that is gone": {past: 10 * time.Minute, recorded: 2 * time.Hour, again: 110 * time.Minute},
		"has rested as it said":       {past: time.Minute, recorded: time.Minute, gone: true},
		"as the pool says by now":     {past: time.Hour, pool: true, recorded: 2 * time.Hour, gone: true},
		"a clock that is ahead":       {released: 30 * time.Second, pool: true, again: time.Hour + 30*time.Second},
		"a clock that was wrong":      {released: 20 * time.Hour, pool: true, again: lag.Again},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{claim(func(s *v1alpha1.AddressClaimSpec) {
				s.ReleasedAt = &metav1.Time{Time: start.Add(c.released)}
				if c.recorded > 0 {
					s.ReuseAfter = &metav1.Duration{Duration: c.recorded}
				}
			})}
			if c.pool {
				objects = append(objects, pool.DeepCopy())
			}
			got, again := after(t, reconciler(t, c.past, objects...))
			if (got == nil) != c.gone || again != c.again {
				t.Errorf("%+v, again after %s; want %s", got, again, c.again)
			}
			if got != nil && got.Spec.ReleasedAt.After(start.Add(time.Minute)) {
				t.Errorf("rests from %s on", got.Spec.ReleasedAt)
			}
		})
	}
}

func TestAnAddressThatNoAllocationHasIsReleased(t *testing.T) {
	deleting := allocation("10.0.0.7", "10.0.0.7")
	deleting.DeletionTimestamp, deleting.Finalizers = &metav1.Time{Time: start}, []string{v1alpha1.FinalizerIPAllocation}
	elsewhere := allocation("10.0.0.1", "10.0.0.1")
	elsewhere.Namespace = "other"
	machine := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "machine"}}
	for name, c := range map[string]struct {
		past     time.Duration
		objects  []client.Object
		released bool
	}{
		"planned":                                  {past: time.Hour, objects: []client.Object{allocation("10.0.0.1-10.0.0.3", "")}},
		"handed out":                               {past: time.Hour, objects: []client.Object{allocation("", "10.0.0.1")}},
		"another address":                          {objects: []client.Object{allocation("10.0.0.2", "10.0.0.2")}, released: true},
		"another address, but its machine":         {objects: []client.Object{allocation("10.0.0.2", "10.0.0.2"), machine}},
		"being deleted":                            {past: time.Hour, objects: []client.Object{deleting}},
		"no allocation yet":                        {past: 9 * time.Minute},
		"no allocation":                            {past: 10 * time.Minute, released: true},
		"no allocation, but its machine":           {past: time.Hour, objects: []client.Object{machine}},
		"one of that name in another namespace":    {past: time.Hour, objects: []client.Object{elsewhere}, released: true},
		"a cluster that moves, but no allocation":  {past: time.Hour, objects: []client.Object{fenced()}},
		"a cluster that moves, another allocation": {objects: []client.Object{fenced(), allocation("10.0.0.2", "")}},
	} {
		t.Run(name, func(t *testing.T) {
			got, again := after(t, reconciler(t, c.past, append(c.objects, claim(nil))...))
			if got == nil || (got.Spec.ReleasedAt != nil) != c.released {
				t.Errorf("%+v, want released %t", got, c.released)
			}
			if waits := name == "no allocation yet" || strings.HasSuffix(name, "but its machine"); waits != (again > 0) {
				t.Errorf("again after %s", again)
			}
		})
	}
}

// TestTheRestOfAnAddressOutlivesItsPool releases an address, and deletes its pool.
func TestTheRestOfAnAddressOutlivesItsPool(t *testing.T) {
	pool := &v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pool"}, Spec: v1alpha1.NetworkPoolSpec{ReuseAfter: &metav1.Duration{Duration: 3 * time.Hour}}}
	r := reconciler(t, time.Hour, claim(nil), pool)
	got, _ := after(t, r)
	if got == nil || got.Spec.ReleasedAt == nil || got.Spec.ReuseAfter == nil || got.Spec.ReuseAfter.Duration != 3*time.Hour {
		t.Fatalf("%+v", got)
	}
	if err := r.Client.Delete(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	if got, again := after(t, r); got == nil || again != 3*time.Hour {
		t.Errorf("%+v, again after %s", got, again)
	}
}

func fenced() *v1alpha1.ClusterBootstrap {
	return &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mgmt", Annotations: map[string]string{v1alpha1.AnnotationFenced: "moving"}}}
}

// hooked is a reader that runs a function after each read of an allocation.
type hooked struct {
	client.Reader

	after func()
}

func (h hooked) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := h.Reader.Get(ctx, key, o, opts...)
	if _, ok := o.(*v1alpha1.IPAllocation); ok {
		h.after()
	}
	return err
}

// TestAReleaseFailsIfTheAllocationCountsOnTheClaimMeanwhile has an allocation plan the
// address and find its claim, between the decision to release it and the release.
func TestAReleaseFailsIfTheAllocationCountsOnTheClaimMeanwhile(t *testing.T) {
	r := reconciler(t, 0, allocation("10.0.0.2", ""), claim(nil))
	registry := r.Registry
	r.Live = hooked{registry.Client, func() {
		a := &v1alpha1.IPAllocation{}
		if err := registry.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "a"}, a); err != nil {
			t.Fatal(err)
		}
		a.Annotations[v1alpha1.AnnotationPlannedRange] = "10.0.0.1"
		if err := registry.Client.Update(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		planned, _ := Planned(a)
		if err := registry.Claim(t.Context(), a, planned); err != nil {
			t.Fatal(err)
		}
	}}
	got, again := after(t, r)
	if got == nil || got.Spec.ReleasedAt != nil || again != lag.Again {
		t.Errorf("%+v, again after %s", got, again)
	}
}
