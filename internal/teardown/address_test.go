// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"bytes"
	"io"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
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

// TestPoolWithAddressesOfOthersStays: its finalizer would hold it, and the command would wait.
func TestPoolWithAddressesOfOthersStays(t *testing.T) {
	allocation := func(name, id, pool string) *v1alpha1.IPAllocation {
		return &v1alpha1.IPAllocation{ObjectMeta: metaOf(name, id), Spec: v1alpha1.IPAllocationSpec{PoolRef: v1alpha1.LocalReference{Name: pool}}}
	}
	for name, tc := range map[string]struct {
		user  *v1alpha1.IPAllocation
		stays bool
	}{
		"the cluster's":     {allocation("dev-cp-0", "x", "lan"), false},
		"another one's":     {allocation("printer", "", "lan"), true},
		"another cluster's": {allocation("test-cp-0", "y", "lan"), true},
		"of another pool":   {allocation("printer", "", "wan"), false},
	} {
		pool := &v1alpha1.NetworkPool{ObjectMeta: metaOf("lan", "")}
		plane := indexedPlane(t, pool, tc.user)
		o := operation.New(t.Context(), workspace.Workspace{}, operation.Hooks{})
		o.Local = plane
		mine := &v1alpha1.ProviderConfig{ObjectMeta: metaOf("config", "x"), Spec: v1alpha1.ProviderConfigSpec{Network: &v1alpha1.ProviderNetworkSpec{PoolRefs: []v1alpha1.NetworkPoolReference{{Name: "lan"}}}}}
		var said bytes.Buffer
		x := &destruction{Operation: o, target: &target{config: mine, id: "x"}, progress: ui.NewReporter(io.Discard, &said, "plain")}
		if err := x.removePools(); err != nil {
			t.Fatal(err)
		}
		err := plane.Get(t.Context(), client.ObjectKeyFromObject(pool), pool)
		if (err == nil) != tc.stays || strings.Contains(said.String(), "NetworkPool here/lan is kept: IPAllocation "+tc.user.Name) != tc.stays {
			t.Errorf("%s: %v, %s", name, err, said.String())
		}
	}
}

func TestWaitForAPoolReportsItsConditionOnce(t *testing.T) {
	pool := &v1alpha1.NetworkPool{ObjectMeta: metaOf("lan", "")}
	pool.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Message: "IPAllocation printer has addresses"}}
	var said bytes.Buffer
	see := reportReady(ui.NewReporter(io.Discard, &said, "plain"))
	first, again := see(pool), see(pool)
	if first || again || strings.Count(said.String(), "IPAllocation printer has addresses") != 1 {
		t.Error(said.String())
	}
}
