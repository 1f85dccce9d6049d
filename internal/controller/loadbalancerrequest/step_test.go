// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalancerrequest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// stepwise begins a change with the first Ensure, which only shows in its answer, and
// completes it with the second.
type stepwise struct {
	provider.LoadBalancers
	mu    sync.Mutex
	begun map[string]bool
}

// Ensure implements provider.LoadBalancers.
func (s *stepwise) Ensure(ctx context.Context, spec provider.LoadBalancerSpec) (provider.LoadBalancer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, err := s.Observe(ctx, spec.LoadBalancerRef)
	if key := fmt.Sprint(spec); err != nil || seen.State != provider.StateAbsent && !s.begun[key] {
		s.begun[key] = true
		seen.State, seen.Message = provider.StatePartial, "a port is being opened"
		return seen, err
	}
	return s.LoadBalancers.Ensure(ctx, spec)
}

func TestAChangeThatTakesSeveralStepsIsCompleted(t *testing.T) {
	p := inmemory.New(cloud)
	driver := p.Provider(v1alpha1.ProviderHarvester)
	connect := driver.Connect
	driver.Connect = func(ctx context.Context, c provider.Config) (provider.Platform, error) {
		platform, err := connect(ctx, c)
		platform.LoadBalancers = &stepwise{LoadBalancers: platform.LoadBalancers, begun: map[string]bool{}}
		return platform, err
	}
	w := newFixtureWith(t, p, driver)
	w.Configure()
	l := w.request("lb", "a")
	w.phase(l, v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	base := l.DeepCopy()
	l.Spec.AdditionalPorts = []int32{50000}
	w.Must(w.Patch(t.Context(), l, client.MergeFrom(base)))
	w.Await(func() error {
		if got := w.platform.LoadBalancers()[0]; !slices.Equal(got.AdditionalPorts, []int32{50000}) {
			return fmt.Errorf("on the platform is %+v", got)
		}
		return nil
	})
}
