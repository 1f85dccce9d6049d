// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/ipallocation"
)

// allocateFrom has the addresses of the site's machines come from a NetworkPool, and runs what
// allocates them until the test ends.
func (s *site) allocateFrom(first, last string) {
	s.Helper()
	c := &v1alpha1.ProviderConfig{}
	s.must(s.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: providerConfig().Name}, c))
	c.Spec.Network = &v1alpha1.ProviderNetworkSpec{Mode: v1alpha1.NetworkModeIPAM, PoolRefs: []v1alpha1.NetworkPoolReference{{Name: "lan"}}, Gateway: "10.0.0.254"}
	s.must(s.Update(s.Context(), c))
	s.create(&v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Name: "lan"}, Spec: v1alpha1.NetworkPoolSpec{
		CIDR: "10.0.0.0/24", TenantAllocation: &v1alpha1.TenantAllocation{Start: first, End: last}, ReuseAfter: &metav1.Duration{},
	}})
	m, err := manager.New(api.Config(), manager.Options{
		Scheme: s.Scheme(), Metrics: server.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{s.namespace: {}}},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	s.must(err)
	s.must(ipallocation.Register(m, ipallocation.Options{Name: "butler-controller"}))
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := m.Start(ctx); err != nil {
			s.Error(err)
		}
	})
	s.Cleanup(func() { cancel(); running.Wait() })
}

// claims are the allocations of the site by address, with the UID of the claim. One that rests
// is an error.
func (s *site) claims() map[string]string {
	s.Helper()
	all := &v1alpha1.AddressClaimList{}
	s.must(s.List(s.Context(), all))
	out := map[string]string{}
	for _, c := range all.Items {
		if c.Spec.AllocationRef.Namespace != s.namespace {
			continue
		}
		if c.Spec.ReleasedAt != nil {
			s.Errorf("%s of %s is released", c.Spec.Address, c.Spec.AllocationRef.Name)
		}
		out[c.Spec.Address] = c.Spec.AllocationRef.Name + " " + string(c.UID)
	}
	return out
}

// TestALostWorkerIsReplacedAtItsOwnAddress loses a worker whose address comes from a pool in
// which released addresses do not rest. Its allocation outlives the request, so that nothing
// else gets the address in between, and the new machine has it.
func TestALostWorkerIsReplacedAtItsOwnAddress(t *testing.T) {
	s := newSite(t, v1alpha1.ProviderHarvester, false)
	s.allocateFrom("10.0.0.20", "10.0.0.40")
	cb := haBootstrap(v1alpha1.ProviderHarvester, 2) // most nodes stay Ready
	cb.Spec.Cluster.ControlPlane.Replicas, cb.Spec.Network.VIP, cb.Spec.Remediation = 1, "", v1alpha1.RemediationReplaceWorkers
	s.create(cb)
	s.walkUntil("Ready", isReady)
	before, claims := s.identities(), s.claims()
	old, err := s.request("dev-w-0")
	s.must(err)
	s.lose("dev-w-0")
	s.forsake("dev-w-0")
	s.walkUntil("a new worker", func(cb *v1alpha1.ClusterBootstrap) bool {
		return isReady(cb) && cb.Annotations[replacingKey] == "" && s.identities()["dev-w-0"] != before["dev-w-0"]
	})
	s.isNew("dev-w-0", before)
	r, err := s.request("dev-w-0")
	s.must(err)
	if r.UID == old.UID || r.Spec.Network == nil || r.Spec.Network.Address != old.Spec.Network.Address || r.Status.IPAddress+"/24" != r.Spec.Network.Address {
		t.Errorf("it was requested with %+v, and now with %+v; it has %s", old.Spec.Network, r.Spec.Network, r.Status.IPAddress)
	}
	if diff := cmp.Diff(claims, s.claims()); diff != "" || len(claims) != 4 {
		t.Errorf("%d claims: %s", len(claims), diff)
	}
}
