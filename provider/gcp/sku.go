// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/api/cloudbilling/v1"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

const (
	// mostSKUs is how many SKUs one page has; Compute Engine has more than 30,000.
	mostSKUs = 5000
	// skuFields are the parts of an SKU that are used: all of them would be 40 MB.
	skuFields = "nextPageToken,skus(category(usageType),description,pricingInfo(effectiveTime,pricingExpression(tieredRates,usageUnit)),serviceRegions)"

	hintCatalogue = "enable cloudbilling.googleapis.com for the project to see prices; it is optional"
)

// skus are those of the region, which are read once and in the background: the service does
// not search for them.
type skus struct {
	region string
	done   chan struct{}
	found  []*cloudbilling.Sku
	err    error
}

func (p *platform) readCatalogue(ctx context.Context) *skus {
	c := &skus{region: p.spec.Region, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.err = p.readServices(ctx, c)
	}()
	return c
}

func (p *platform) readServices(ctx context.Context, into *skus) error {
	with := []option.ClientOption{option.WithHTTPClient(p.http)}
	if p.base != "" {
		with = append(with, option.WithEndpoint(p.base))
	}
	api, err := cloudbilling.NewService(ctx, with...)
	if err != nil {
		return err
	}
	services := []string{ofCompute, ofNetworking}
	found, errs := make([][]*cloudbilling.Sku, len(services)), make([]error, len(services))
	var all sync.WaitGroup
	for i, service := range services {
		all.Go(func() { found[i], errs[i] = into.read(ctx, api, service) })
	}
	all.Wait()
	into.found = slices.Concat(found...)
	for _, err := range errs {
		if err != nil {
			return priceError(err)
		}
	}
	return nil
}

// read lists the SKUs of a service and keeps those on demand of the region.
func (c *skus) read(ctx context.Context, api *cloudbilling.APIService, service string) (kept []*cloudbilling.Sku, err error) {
	list := api.Services.Skus.List(service).PageSize(mostSKUs).Fields(googleapi.Field(skuFields))
	return kept, list.Pages(ctx, func(page *cloudbilling.ListSkusResponse) error {
		for _, s := range page.Skus {
			if s.Category != nil && s.Category.UsageType == "OnDemand" && (slices.Contains(s.ServiceRegions, c.region) || slices.Contains(s.ServiceRegions, "global")) {
				kept = append(kept, s)
			}
		}
		return nil
	})
}

func priceError(err error) error {
	const op = "ask " + priceService
	mapped := apiError(op, err)
	if provider.KindOf(mapped) != provider.Unauthorized || provider.ReasonOf(mapped) == provider.ReasonCredentialsRefused {
		return mapped
	}
	return provider.Unauthorized.New(op, provider.ReasonPermissionDenied, cause(err), hintCatalogue)
}

// described are the prices of the SKUs with one of the descriptions.
func (c *skus) described(ctx context.Context, descriptions string, global bool) (all []cloud.Rate, err error) {
	select {
	case <-c.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.err != nil {
		return nil, c.err
	}
	for _, s := range c.found {
		if global != slices.Contains(s.ServiceRegions, "global") || !isDescribed(s.Description, descriptions) {
			continue
		}
		found, err := ratesOf(s, time.Now())
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// isDescribed compares a description, which may end with a place: those of other things begin
// or continue with other words.
func isDescribed(text, descriptions string) bool {
	for one := range strings.SplitSeq(descriptions, "|") {
		rest, begins := strings.CutPrefix(text, one)
		if begins && (rest == "" || strings.HasPrefix(rest, " in ") || strings.HasPrefix(rest, " running in ") || strings.HasPrefix(rest, " for ")) {
			return true
		}
	}
	return false
}

// ratesOf are the tiers of an SKU's price that is valid now.
func ratesOf(s *cloudbilling.Sku, now time.Time) (all []cloud.Rate, err error) {
	price, since := validOf(s, now)
	if price == nil || price.PricingExpression == nil {
		return nil, nil
	}
	period, err := cloud.PeriodOf(price.PricingExpression.UsageUnit, []string{"h", "GiBy.h"}, []string{"GiBy.mo"})
	if err != nil {
		return nil, err
	}
	for _, tier := range price.PricingExpression.TieredRates {
		if tier.UnitPrice == nil {
			return nil, cloud.NoRate(fmt.Sprintf("%s has no price from %g %s on", s.Description, tier.StartUsageAmount, price.PricingExpression.UsageUnit))
		}
		amount := new(big.Rat).SetInt64(tier.UnitPrice.Units)
		amount.Add(amount, big.NewRat(tier.UnitPrice.Nanos, 1e9))
		all = append(all, cloud.Rate{Price: amount, Currency: tier.UnitPrice.CurrencyCode, Period: period, Since: since})
	}
	return all, nil
}

// validOf returns the latest price of an SKU that has begun.
func validOf(s *cloudbilling.Sku, now time.Time) (valid *cloudbilling.PricingInfo, since time.Time) {
	for _, p := range s.PricingInfo {
		begins, err := time.Parse(time.RFC3339, p.EffectiveTime)
		if err == nil && !begins.After(now) && !begins.Before(since) {
			valid, since = p, begins
		}
	}
	return valid, since
}
