// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/provider"
)

func TestAPriceServiceHasLimitedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := provider.Platform{Prices: func(ctx context.Context, _ provider.Basket) (provider.PriceList, error) {
			<-ctx.Done()
			return provider.PriceList{Source: "slow"}, ctx.Err()
		}}
		begun := time.Now()
		got := <-askPrices(t.Context(), slow, provider.Basket{Machines: make([]provider.MachineSpec, 1)})
		if got.Err == nil || got.Err.Error() != "slow has not answered within 10s" || time.Since(begun) != pricePatience {
			t.Errorf("after %s: %+v", time.Since(begun), got)
		}
	})
}

func TestPricesAreAskedForWhatIsCreated(t *testing.T) {
	var asked provider.Basket
	platform := provider.Platform{Prices: func(_ context.Context, b provider.Basket) (provider.PriceList, error) {
		asked = b
		return provider.PriceList{Source: "denied"}, errors.New("it is not permitted")
	}}
	resolved := bootstrap.Plan{EndpointKind: bootstrap.EndpointLoadBalancer, Balancer: bootstrap.Balancer{Scheme: "internal", AdditionalPorts: []int32{50000}}}
	machines := []provider.MachineSpec{{MachineRef: provider.MachineRef{Name: "mgmt-cp-0"}}}
	got := <-askPrices(t.Context(), platform, basket("mgmt", resolved, machines))
	if got.Err == nil || got.Err.Error() != "it is not permitted" || got.Asked.IsZero() {
		t.Errorf("%+v", got)
	}
	if b := asked.LoadBalancer; len(asked.Machines) != 1 || b == nil || b.Name != "mgmt-cp-lb" || b.Scheme != "internal" || b.Port != 6443 || len(b.AdditionalPorts) != 1 {
		t.Errorf("%+v", asked)
	}
	if b := basket("mgmt", bootstrap.Plan{}, machines); b.LoadBalancer != nil {
		t.Errorf("without a load balancer: %+v", b)
	}
}

func TestNothingIsAskedWithoutMachinesOrAPriceService(t *testing.T) {
	for reason, c := range map[string]struct {
		platform provider.Platform
		basket   provider.Basket
	}{
		"no price service": {provider.Platform{}, provider.Basket{Machines: make([]provider.MachineSpec, 1)}},
		"no machines":      {provider.Platform{Prices: func(context.Context, provider.Basket) (provider.PriceList, error) { panic("asked") }}, provider.Basket{}},
	} {
		if got := <-askPrices(t.Context(), c.platform, c.basket); got != nil {
			t.Errorf("%s: %+v", reason, got)
		}
	}
}
