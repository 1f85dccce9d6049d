// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package butlercontroller

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/controllertest"
	"github.com/butlerdotdev/butler/internal/controller/ipallocation"
)

var api *rest.Config

func TestMain(m *testing.M) { controllertest.Main(m, &api) }

// fixture has controllers at work.
type fixture struct{ *controllertest.Fixture }

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	f := &fixture{controllertest.New(tb, api)}
	m := f.Manager()
	f.Must(ipallocation.Register(m, ipallocation.Options{Name: Name}))
	controllertest.Run(tb, m)
	return f
}

func (f *fixture) pool(cidr string, last int, reuse time.Duration) *v1alpha1.NetworkPool {
	f.Helper()
	p := &v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "pool"}}
	first := netip.MustParsePrefix(cidr).Addr().As4()
	p.Spec = v1alpha1.NetworkPoolSpec{CIDR: cidr, ReuseAfter: &metav1.Duration{Duration: reuse}, TenantAllocation: &v1alpha1.TenantAllocation{
		Start: netip.AddrFrom4([4]byte{first[0], first[1], 0, 1}).String(), End: netip.AddrFrom4([4]byte{first[0], first[1], byte(last >> 8), byte(last)}).String(),
	}}
	f.Must(f.Create(f.Context(), p))
	return p
}

func (f *fixture) allocation(name string) *v1alpha1.IPAllocation {
	f.Helper()
	a := &v1alpha1.IPAllocation{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: name}}
	a.Spec = v1alpha1.IPAllocationSpec{
		PoolRef: v1alpha1.LocalReference{Name: "pool"}, Type: v1alpha1.IPAllocationNodes, MachineRequestRef: &v1alpha1.LocalReference{Name: name},
	}
	f.Must(f.Create(f.Context(), a))
	return a
}

// allocated are the addresses by allocation.
func (f *fixture) allocated() (map[string]string, error) {
	all, out := &v1alpha1.IPAllocationList{}, map[string]string{}
	err := f.List(context.Background(), all, client.InNamespace(f.Namespace))
	for _, a := range all.Items {
		if a.Status.Phase == v1alpha1.IPAllocationAllocated {
			out[a.Name] = a.Status.StartAddress
		}
	}
	return out, err
}

func (f *fixture) awaitAllocated(n int) map[string]string {
	f.Helper()
	var got map[string]string
	f.Await(func() (err error) {
		if got, err = f.allocated(); err == nil && len(got) != n {
			err = fmt.Errorf("%d are allocated, want %d", len(got), n)
		}
		return err
	})
	return got
}

// TestAWaitingAllocationGetsAReleasedAddress starts with allocations before their pool, has more
// of them than addresses, and deletes one.
func TestAWaitingAllocationGetsAReleasedAddress(t *testing.T) {
	f := newFixture(t)
	for i := range 4 {
		f.allocation(fmt.Sprintf("a-%d", i))
	}
	p := f.pool("10.70.0.0/16", 3, time.Second)
	got := f.awaitAllocated(3)
	f.Await(func() error {
		f.Must(f.Get(t.Context(), client.ObjectKeyFromObject(p), p))
		if p.Status.AllocatedIPs != 3 || p.Status.AvailableIPs != 0 || p.Status.TotalIPs != 3 {
			return fmt.Errorf("%+v", p.Status)
		}
		return nil
	})
	var waiting string
	for i := range 4 {
		if name := fmt.Sprintf("a-%d", i); got[name] == "" {
			waiting = name
		}
	}
	released := fmt.Sprintf("a-%d", (int(waiting[2]-'0')+1)%4)
	f.Must(f.Delete(t.Context(), &v1alpha1.IPAllocation{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: released}}))
	f.Await(func() error {
		now, err := f.allocated()
		if err == nil && now[waiting] != got[released] {
			err = fmt.Errorf("%s has %q, want %s", waiting, now[waiting], got[released])
		}
		return err
	})
}

// TestAClaimThatIsDeletedByHandComesBack is about an address that is in use.
func TestAClaimThatIsDeletedByHandComesBack(t *testing.T) {
	f := newFixture(t)
	f.pool("10.71.0.0/16", 3, time.Second)
	f.allocation("a-0")
	f.awaitAllocated(1)
	c := &v1alpha1.AddressClaim{ObjectMeta: metav1.ObjectMeta{Name: "10.71.0.1"}}
	f.Must(f.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	before := c.UID
	f.Must(f.Delete(t.Context(), c))
	f.Await(func() error {
		if err := f.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		if c.UID == before {
			return fmt.Errorf("not deleted yet")
		}
		return nil
	})
}

// BenchmarkNodes allocates addresses to many nodes at once: the time for one must not grow with
// their number.
func BenchmarkNodes(b *testing.B) {
	for i, n := range []int{250, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := newFixture(b)
			f.pool(fmt.Sprintf("10.%d.0.0/16", 80+i), 60_000, time.Hour)
			for round := 1; b.Loop(); round++ {
				start := time.Now()
				for j := range n {
					f.allocation(fmt.Sprintf("a-%d-%d", round, j))
				}
				for got := map[string]string(nil); len(got) < n*round; time.Sleep(50 * time.Millisecond) {
					var err error
					got, err = f.allocated()
					f.Must(err)
				}
				b.ReportMetric(float64(n)/time.Since(start).Seconds(), "nodes/s")
			}
		})
	}
}
