// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"
	"net/netip"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/lag"
)

// ending is a reader that runs a function once, after the first read of a claim.
type ending struct {
	client.Reader

	end func(*v1alpha1.AddressClaim)
}

func (e *ending) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := e.Reader.Get(ctx, key, o, opts...)
	if c, ok := o.(*v1alpha1.AddressClaim); ok && err == nil && e.end != nil {
		end := e.end
		e.end = nil
		end(c.DeepCopy())
	}
	return err
}

// TestAnAddressWhoseRestEndsWhileItIsRefusedIsFreeAgain has the claim of the only address end
// after it was read, and before the reconciler takes note of what it has read. The watch has
// reported the end by then, and does not do so again.
func TestAnAddressWhoseRestEndsWhileItIsRefusedIsFreeAgain(t *testing.T) {
	f := newFixture(t, 1)
	resting := &v1alpha1.AddressClaim{ObjectMeta: metav1.ObjectMeta{Name: "10.0.0.1"}, Spec: v1alpha1.AddressClaimSpec{
		Address: "10.0.0.1", PoolRef: v1alpha1.NamespacedReference{Namespace: f.Namespace, Name: "pool"},
		AllocationRef: v1alpha1.NamespacedReference{Namespace: f.Namespace, Name: "former"}, ReleasedAt: &metav1.Time{Time: time.Now()},
	}}
	f.Must(f.Create(t.Context(), resting))
	r, now := reconciler(f), time.Now()
	r.Registry.Clock = func() time.Time { return now }
	r.free = newFree(nil) // the watch has not brought the claim yet
	r.Registry.Live = &ending{f, func(c *v1alpha1.AddressClaim) {
		f.Must(f.Delete(t.Context(), c))
		r.free.add(c)
		r.free.remove(c)
	}}
	f.allocation("a", 1)
	pass := func() time.Duration {
		t.Helper()
		result, err := r.Reconcile(t.Context(), f.read("a"))
		f.Must(err)
		return result.RequeueAfter
	}
	if again := pass(); again != lag.Again {
		t.Fatalf("again after %s", again)
	}
	again := pass()
	if a := f.read("a"); reason(a) != reasonExhausted || again <= 0 || again > noticeFor {
		t.Fatalf("%+v, again after %s", a.Status, again)
	}
	now = now.Add(again)
	pass()
	if a := f.read("a"); a.Status.StartAddress != "10.0.0.1" {
		t.Errorf("%+v", a.Status)
	}
}

// TestWhatTheWatchReportsOutlastsANotice has a claim that was noticed first and then brought
// by the watch, and one whose end the watch has brought.
func TestWhatTheWatchReportsOutlastsANotice(t *testing.T) {
	f := newFixture(t, 3)
	r, now := reconciler(f), time.Now()
	r.Registry.Clock = func() time.Time { return now }
	r.free = newFree(nil)
	claims := map[string]*v1alpha1.AddressClaim{}
	for _, address := range []string{"10.0.0.1", "10.0.0.2"} {
		claims[address] = &v1alpha1.AddressClaim{Spec: v1alpha1.AddressClaimSpec{Address: address}}
		r.free.notice(netip.MustParseAddr(address), now)
		r.free.add(claims[address])
	}
	r.free.remove(claims["10.0.0.2"])
	now = now.Add(noticeFor)
	if r.free.forget(now) {
		t.Error("a notice stays")
	}
	f.allocation("a", 2)
	if _, err := r.Reconcile(t.Context(), f.read("a")); err != nil {
		t.Fatal(err)
	}
	if a := f.read("a"); a.Status.StartAddress != "10.0.0.2" {
		t.Errorf("%+v", a.Status)
	}
}
