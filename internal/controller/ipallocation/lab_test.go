// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/addressclaim"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// lab has a pool with few addresses, allocations that compete for them, and controllers that
// act on old objects, die at any moment, and take turns at every single call.
type lab struct {
	random  *rand.Rand
	api     client.WithWatch
	now     time.Time
	actors  []*actor
	uses    map[string]netip.Addr // by machine
	trace   []string
	wrong   string
	objects int
	defect  defect
}

const (
	labNamespace = "lab"
	labNames     = 4
	labAddresses = 6
)

func newLab(t testing.TB, seed uint64, d defect) *lab {
	t.Helper()
	pool := &v1alpha1.NetworkPool{
		ObjectMeta: metav1.ObjectMeta{Namespace: labNamespace, Name: "pool", Generation: 1},
		Spec: v1alpha1.NetworkPoolSpec{
			CIDR: "10.0.0.0/24", TenantAllocation: &v1alpha1.TenantAllocation{Start: "10.0.0.1", End: fmt.Sprintf("10.0.0.%d", labAddresses)},
			ReuseAfter: &metav1.Duration{},
		},
		Status: v1alpha1.NetworkPoolStatus{Conditions: []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, ObservedGeneration: 1}}},
	}
	l := &lab{
		random: rand.New(rand.NewPCG(seed, 17)), now: time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC), uses: map[string]netip.Addr{}, defect: d,
		api: fake.NewClientBuilder().WithScheme(newScheme(t)).WithStatusSubresource(&v1alpha1.IPAllocation{}).WithObjects(pool).Build(),
	}
	for range 3 {
		l.actors = append(l.actors, newActor(l))
	}
	return l
}

// run lets the lab go through a number of turns. It returns what went wrong.
func (l *lab) run(turns int) string {
	for range turns {
		if l.wrong != "" {
			break
		}
		l.now = l.now.Add(time.Second)
		switch n := l.random.IntN(20); {
		case n < 4:
			l.happen()
		case n < 6:
			l.actors[l.random.IntN(len(l.actors))].refresh()
		default:
			l.actors[l.random.IntN(len(l.actors))].turn()
		}
	}
	for _, a := range l.actors {
		a.end()
	}
	if l.wrong == "" {
		l.settle()
	}
	return l.wrong
}

// settle lets one controller with a fresh view finish everything, and wants claims and
// allocations to agree.
func (l *lab) settle() {
	last := newActor(l)
	for range 12 {
		for _, name := range last.names() {
			last.refresh()
			last.finish(name)
		}
		l.now = l.now.Add(11 * time.Minute)
	}
	l.check("the end")
	for _, c := range l.claims() {
		address := netip.MustParseAddr(c.Spec.Address)
		a := &v1alpha1.IPAllocation{}
		held := l.api.Get(context.Background(), addressclaim.AllocationOf(&c), a) == nil && addressclaim.Has(a, address)
		if used := c.Spec.UsedBy != nil && l.exists(c.Spec.UsedBy.Name); !held && !used {
			l.violate("%s is claimed by %s, which does not have it", address, c.Spec.AllocationRef.Name)
		}
	}
}

func (l *lab) claims() []v1alpha1.AddressClaim {
	all := &v1alpha1.AddressClaimList{}
	if err := l.api.List(context.Background(), all); err != nil {
		l.violate("%s", err)
	}
	return all.Items
}

func (l *lab) allocations() []v1alpha1.IPAllocation {
	all := &v1alpha1.IPAllocationList{}
	if err := l.api.List(context.Background(), all); err != nil {
		l.violate("%s", err)
	}
	return all.Items
}

// check wants no address to be handed out twice, and none that a machine of another has.
func (l *lab) check(after string) {
	owner := map[netip.Addr]string{}
	for machine, address := range l.uses {
		owner[address] = machine
	}
	for _, a := range l.allocations() {
		has, ok := addressclaim.HandedOut(&a)
		if !ok || a.Status.Phase == v1alpha1.IPAllocationReleased {
			continue
		}
		for address := range has.All() {
			if other := owner[address]; other != "" && other != a.Name {
				l.violate("%s is %s's and %s's after %s", address, other, a.Name, after)
			}
			owner[address] = a.Name
		}
	}
}

func (l *lab) violate(format string, args ...any) {
	if l.wrong == "" {
		l.wrong = fmt.Sprintf(format, args...) + "\n" + strings.Join(l.trace, "\n")
	}
}

func (l *lab) note(format string, args ...any) {
	l.trace = append(l.trace, fmt.Sprintf(format, args...))
}

// happen lets a user, a bootstrap or an operator do something to one allocation.
func (l *lab) happen() {
	ctx, name := context.Background(), fmt.Sprintf("a-%d", l.random.IntN(labNames))
	a := &v1alpha1.IPAllocation{}
	if l.api.Get(ctx, client.ObjectKey{Namespace: labNamespace, Name: name}, a) != nil {
		l.create(name)
		return
	}
	switch n := l.random.IntN(20); {
	case n < 6 && a.DeletionTimestamp.IsZero():
		l.use(a)
	case n < 11:
		l.unuse(name)
	case n < 15:
		a.Spec.Count = int32(1 + l.random.IntN(3))
		l.note("count of %s is %d", name, a.Spec.Count)
		_ = l.api.Update(ctx, a)
	case n < 19:
		l.note("%s is deleted", name)
		_ = l.api.Delete(ctx, a)
	default:
		l.lose(a)
	}
}

// lose deletes an allocation by force.
func (l *lab) lose(a *v1alpha1.IPAllocation) {
	l.note("%s is deleted by force", a.Name)
	a.Finalizers = nil
	_ = l.api.Update(context.Background(), a)
	_ = l.api.Delete(context.Background(), a)
}

// create creates an allocation, sometimes as an old copy: with the plan of another time.
func (l *lab) create(name string) {
	count, plan := 1+l.random.IntN(3), ""
	if l.random.IntN(4) == 0 {
		first := netip.AddrFrom4([4]byte{10, 0, 0, byte(1 + l.random.IntN(labAddresses))})
		plan = ipam.Single(first).Head(uint64(count)).String()
	}
	l.add(name, count, plan)
}

// add creates an allocation for a machine of the same name.
func (l *lab) add(name string, count int, plan string) {
	a := &v1alpha1.IPAllocation{
		ObjectMeta: metav1.ObjectMeta{Namespace: labNamespace, Name: name, UID: l.uid()},
		Spec: v1alpha1.IPAllocationSpec{
			PoolRef: v1alpha1.LocalReference{Name: "pool"}, Type: v1alpha1.IPAllocationLoadBalancer, Count: int32(count),
			MachineRequestRef: &v1alpha1.LocalReference{Name: name},
		},
	}
	if plan != "" {
		a.Annotations = map[string]string{v1alpha1.AnnotationPlannedRange: plan}
	}
	l.note("%s is created: %d %s", name, count, plan)
	if err := l.api.Create(context.Background(), a); err != nil {
		l.violate("%s", err)
	}
}

// use creates the machine of an allocation, as a bootstrap does once it is allocated.
func (l *lab) use(a *v1alpha1.IPAllocation) {
	has, ok := addressclaim.HandedOut(a)
	if !ok || l.exists(a.Name) || a.Status.Phase != v1alpha1.IPAllocationAllocated {
		return
	}
	l.note("machine %s uses %s", a.Name, has.First)
	l.uses[a.Name] = has.First
	m := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: labNamespace, Name: a.Name}}
	if err := l.api.Create(context.Background(), m); err != nil {
		l.violate("%s", err)
	}
}

func (l *lab) unuse(name string) {
	if l.exists(name) {
		l.note("machine %s is gone", name)
		delete(l.uses, name)
		_ = l.api.Delete(context.Background(), &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: labNamespace, Name: name}})
	}
}

func (l *lab) exists(machine string) bool { return l.uses[machine].IsValid() }
