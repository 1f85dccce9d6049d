// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// another is a pool of the same network.
func another(first, last string) *v1alpha1.NetworkPool {
	return &v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Spec: v1alpha1.NetworkPoolSpec{
		CIDR: "10.40.0.0/24", TenantAllocation: &v1alpha1.TenantAllocation{Start: first, End: last},
	}}
}

// claim has an address allocated to another cluster, until the test ends.
func (w *fixture) claim(address string) *v1alpha1.AddressClaim {
	w.Helper()
	c := &v1alpha1.AddressClaim{ObjectMeta: metav1.ObjectMeta{Name: address}, Spec: v1alpha1.AddressClaimSpec{
		Address: address, PoolRef: v1alpha1.NamespacedReference{Namespace: w.namespace, Name: "lan"},
		AllocationRef: v1alpha1.NamespacedReference{Namespace: w.namespace, Name: "other-vip"},
	}}
	w.must(w.Create(w.Context(), c))
	w.Cleanup(func() { w.must(w.Delete(context.Background(), c)) })
	return c
}

func (w *fixture) gateway(address string) {
	w.Helper()
	c := &v1alpha1.ProviderConfig{}
	w.must(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: providerConfig().Name}, c))
	c.Spec.Network.Gateway = address
	w.must(w.Update(w.Context(), c))
}

func (w *fixture) vip(address string) {
	w.Helper()
	cb := w.get("dev")
	cb.Spec.Network.VIP = address
	w.must(w.Update(w.Context(), cb))
}

// TestANetworkThatCannotWorkIsReportedAndHeals has each mistake in the network of a cluster
// that is not in the manifest alone: no machine is requested, the message says what to do,
// and the cluster continues when that is done.
func TestANetworkThatCannotWorkIsReportedAndHeals(t *testing.T) {
	for name, c := range map[string]struct {
		spoil, repair func(*fixture)
		reason, says  string
	}{
		"pools overlap": {
			func(w *fixture) { w.create(another("10.40.0.20", "10.40.0.30")) },
			func(w *fixture) {
				o := another("", "")
				o.Namespace = w.namespace
				w.must(w.Delete(w.Context(), o))
			},
			"NetworkPoolOverlap", "have addresses in common; delete one of them, or limit them by spec.tenantAllocation.ranges",
		},
		"pool is exhausted": {
			func(w *fixture) { w.setLast("10.40.0.10"); w.claim("10.40.0.10") },
			func(w *fixture) { w.setLast("10.40.0.12") },
			"NetworkPoolTooSmall", "lan has 0 of 1 free, at most 0 in one block; add a range to a pool, or another pool to spec.network.poolRefs",
		},
		"gateway of another network": {
			func(w *fixture) { w.gateway("10.41.0.1") }, func(w *fixture) { w.gateway("10.40.0.1") },
			"NetworkInvalid", "spec.network.gateway 10.41.0.1 of ProviderConfig " + providerConfig().Name + " is not in the network of NetworkPool lan, 10.40.0.0/24, so that machines would not reach it; correct one of them",
		},
		"VIP is the gateway": {
			func(w *fixture) { w.vip("10.40.0.1") }, func(w *fixture) { w.vip("") },
			"NetworkInvalid", "spec.network.vip 10.40.0.1 is the gateway or a server of ProviderConfig " + providerConfig().Name + "; choose another address, or leave it out",
		},
		"VIP in the range of another cluster": {
			func(w *fixture) { w.vip("10.40.0.15"); w.claim("10.40.0.15") }, func(w *fixture) { w.vip("10.40.0.16") },
			"NetworkInvalid", "spec.network.vip 10.40.0.15 is allocated, or rests, in NetworkPool lan (IPAllocation other-vip); choose free addresses, or leave it out",
		},
		"VIP of another cluster, of a pool that this one does not use": {
			func(w *fixture) { w.vip("10.40.0.99"); w.claim("10.40.0.99") }, func(w *fixture) { w.vip("") },
			"NetworkInvalid", "spec.network.vip 10.40.0.99 is allocated, or rests",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.fromPool("10.40.0.20")
			c.spoil(w)
			w.expect(c.reason, c.says)
			c.repair(w)
			w.expect("WaitingForAddresses", "has no addresses of NetworkPool lan yet")
		})
	}
}

// setLast changes the range of the pool.
func (w *fixture) setLast(address string) {
	w.Helper()
	pool := &v1alpha1.NetworkPool{}
	w.must(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: "lan"}, pool))
	pool.Spec.TenantAllocation.End = address
	w.must(w.Update(w.Context(), pool))
}
