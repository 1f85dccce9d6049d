// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// TestAPlanThatIsGivenUpLeavesWhatAnEarlierAllocationUses has an allocation that was lost, and an
// old copy of it with another plan: the first address of that is taken.
func TestAPlanThatIsGivenUpLeavesWhatAnEarlierAllocationUses(t *testing.T) {
	for reason, c := range map[string]struct {
		machines []string
		want     string
	}{
		"its machine runs":    {[]string{"a"}, "a"},
		"its machine is gone": {nil, "a released"},
	} {
		t.Run(reason, func(t *testing.T) {
			f := newFixture(t, 6)
			f.allocation("first", 1)
			f.settle(reconciler(f), "first") // has 10.0.0.1
			f.allocationOf("a", "1", "")     // has 10.0.0.2-10.0.0.4
			for _, name := range c.machines {
				f.machine(name)
			}
			f.lose("a")
			f.allocationOf("a", "2", "10.0.0.1-10.0.0.3")
			got := f.claims()
			for _, address := range []string{"10.0.0.2", "10.0.0.3"} {
				if got[address] != c.want {
					t.Errorf("the claim of %s is %q", address, got[address])
				}
			}
		})
	}
}

// TestWhatAnAllocationInUseCannotGrowIntoIsFree has an allocation claim more addresses while its
// machine runs. The last of them is taken, so it gives those up that it got.
func TestWhatAnAllocationInUseCannotGrowIntoIsFree(t *testing.T) {
	f := newFixture(t, 6)
	a := f.allocationOf("a", "1", "") // has 10.0.0.1-10.0.0.3
	f.machine("a")
	f.Must(f.Create(t.Context(), &v1alpha1.AddressClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "10.0.0.5"},
		Spec:       v1alpha1.AddressClaimSpec{Address: "10.0.0.5", PoolRef: f.ref("pool"), AllocationRef: f.ref("rival")},
	}))
	a.Spec.Count = 5
	a.Annotations[v1alpha1.AnnotationPlannedRange] = "10.0.0.1-10.0.0.5"
	f.Must(f.Update(t.Context(), a))
	f.settle(reconciler(f), "a")
	want := map[string]string{"10.0.0.1": "a", "10.0.0.2": "a", "10.0.0.3": "a", "10.0.0.5": "rival"}
	if diff := cmp.Diff(want, f.claims()); diff != "" {
		t.Error(diff)
	}
}

// allocationOf settles an allocation of three addresses for a machine of its name.
func (f *fixture) allocationOf(name, uid, plan string) *v1alpha1.IPAllocation {
	f.Helper()
	a := f.allocation(name, 3, func(s *v1alpha1.IPAllocationSpec) { s.MachineRequestRef.Name = name })
	a.UID = types.UID(uid)
	metav1.SetMetaDataAnnotation(&a.ObjectMeta, v1alpha1.AnnotationPlannedRange, plan)
	f.Must(f.Update(f.Context(), a))
	return f.settle(reconciler(f), name)
}

func (f *fixture) machine(name string) {
	f.Helper()
	f.Must(f.Create(f.Context(), &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: name}}))
}

// lose deletes an allocation by force.
func (f *fixture) lose(name string) {
	f.Helper()
	a := f.read(name)
	a.Finalizers = nil
	f.Must(f.Update(f.Context(), a))
	f.Must(f.Delete(f.Context(), a))
}
