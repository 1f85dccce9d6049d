// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/provider"
)

// pricePatience is how long a price service has for an answer, beside the other checks.
const pricePatience = 10 * time.Second

// Prices are what the platform's price service was asked for, and has answered.
type Prices struct {
	provider.PriceList
	Asked time.Time
	// Err is why there is no answer.
	Err error
}

// basket is what prices are asked for.
func basket(cluster string, p bootstrap.Plan, machines []provider.MachineSpec) provider.Basket {
	b := provider.Basket{Machines: machines}
	if p.EndpointKind == bootstrap.EndpointLoadBalancer {
		b.LoadBalancer = &provider.LoadBalancerSpec{
			LoadBalancerRef: provider.LoadBalancerRef{Name: bootstrap.BalancerName(cluster)}, Port: bootstrap.APIServerPort,
			AdditionalPorts: p.Balancer.AdditionalPorts, Scheme: p.Balancer.Scheme, AllowedCIDRs: p.Balancer.AllowedCIDRs,
		}
	}
	return b
}

// askPrices begins to ask for prices. The answer is nil without machines, and for a platform
// without a price service.
func askPrices(ctx context.Context, platform provider.Platform, b provider.Basket) <-chan *Prices {
	answer := make(chan *Prices, 1)
	if platform.Prices == nil || len(b.Machines) == 0 {
		answer <- nil
		return answer
	}
	go func() {
		ctx, cancel := context.WithTimeout(ctx, pricePatience)
		defer cancel()
		p := &Prices{Asked: time.Now().UTC().Truncate(time.Second)}
		p.PriceList, p.Err = platform.Prices(ctx, b)
		if p.Err != nil && ctx.Err() != nil {
			p.Err = fmt.Errorf("%s has not answered within %s", cmp.Or(p.Source, "the price service"), pricePatience)
		}
		answer <- p
	}()
	return answer
}
