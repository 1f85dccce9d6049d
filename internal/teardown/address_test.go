// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestLedgerCountsAddressesUntilTheyAreReleased(t *testing.T) {
	claim := func(address, id string, released *metav1.Time) *v1alpha1.AddressClaim {
		return &v1alpha1.AddressClaim{
			ObjectMeta: metav1.ObjectMeta{Name: address, Annotations: map[string]string{v1alpha1.AnnotationClusterID: id}},
			Spec:       v1alpha1.AddressClaimSpec{Address: address, AllocationRef: v1alpha1.NamespacedReference{Name: "a-cp-0"}, ReleasedAt: released},
		}
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	l := &ledger{}
	for _, state := range []struct {
		released *metav1.Time
		want     string
	}{{nil, "created 1, deleted 0, left 1: 1 address"}, {&metav1.Time{Time: metav1.Now().Time}, "created 1, deleted 1, left 0: 1 address"}} {
		c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(claim("10.40.0.1", "one", state.released), claim("10.40.0.2", "two", nil)).Build()
		found, err := addressesOf(t.Context(), c, "one")
		if err != nil {
			t.Fatal(err)
		}
		l.record(found)
		if got := l.line("created"); got != state.want {
			t.Errorf("got %s, want %s", got, state.want)
		}
	}
}

func TestPoolOfAnotherProviderConfigStays(t *testing.T) {
	other := v1alpha1.ProviderConfig{Spec: v1alpha1.ProviderConfigSpec{Network: &v1alpha1.ProviderNetworkSpec{PoolRefs: []v1alpha1.NetworkPoolReference{{Name: "lan"}}}}}
	all := []v1alpha1.ProviderConfig{{}, other}
	if !refersTo(all, "lan") || refersTo(all, "wan") {
		t.Error("references are not seen")
	}
}
