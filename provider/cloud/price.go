// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

// Rate is one price that a service has for what was asked. A tiered price is a Rate for
// each tier.
type Rate struct {
	Price    *big.Rat
	Currency string
	Period   provider.Period
	Since    time.Time
}

// Cart collects what a basket consists of: equal things are one article. Q is how the price
// of an article is asked for.
type Cart[Q comparable] struct {
	articles []article[Q]
}

type article[Q comparable] struct {
	provider.Price
	query Q
}

// Add puts things into the cart.
func (c *Cart[Q]) Add(kind, name string, count int64, unit string, query Q) {
	i := slices.IndexFunc(c.articles, func(a article[Q]) bool { return a.Kind == kind && a.Name == name && a.query == query })
	if i < 0 {
		c.articles = append(c.articles, article[Q]{provider.Price{Kind: kind, Name: name, Unit: unit}, query})
		i = len(c.articles) - 1
	}
	c.articles[i].Count += count
}

// Prices asks for all articles at the same time, and returns them by their kinds. What a lookup refuses with NoRate has no
// price; another error is for a service that could not be asked.
func (c *Cart[Q]) Prices(ctx context.Context, lookup func(context.Context, Q) ([]Rate, error)) ([]provider.Price, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for i := range c.articles {
		all.Go(func() {
			if err := c.articles[i].ask(ctx, lookup); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	var out []provider.Price
	for _, a := range c.articles {
		out = append(out, a.Price)
	}
	slices.SortStableFunc(out, func(a, b provider.Price) int { return provider.ComparePartKinds(a.Kind, b.Kind) })
	return out, context.Cause(ctx)
}

func (a *article[Q]) ask(ctx context.Context, lookup func(context.Context, Q) ([]Rate, error)) error {
	var one Rate
	found, err := lookup(ctx, a.query)
	if err == nil {
		one, err = Only(found)
	}
	if missing, ok := errors.AsType[NoRate](err); ok {
		a.Unknown = missing.Error()
		return nil
	}
	if err != nil {
		return err
	}
	a.Rate, a.Currency, a.Period, a.Since = one.Price, one.Currency, one.Period, one.Since
	return nil
}

// NoRate says why a service that answered has no price for an article.
type NoRate string

// Error implements error.
func (n NoRate) Error() string { return string(n) }

// Only returns the price of an article: all rates have to agree. A tier that is free is an
// allowance of the account, which other things may have used up: it does not count.
func Only(rates []Rate) (Rate, error) {
	paid := slices.DeleteFunc(slices.Clone(rates), func(r Rate) bool { return r.Price.Sign() == 0 })
	if len(paid) > 0 {
		rates = paid
	}
	if len(rates) == 0 {
		return Rate{}, NoRate("the service has no price for it")
	}
	one := rates[0]
	for _, r := range rates[1:] {
		if r.Price.Cmp(one.Price) != 0 || r.Currency != one.Currency || r.Period != one.Period {
			return Rate{}, NoRate("the service has several prices for it: " + amounts(rates))
		}
		if r.Since.After(one.Since) {
			one.Since = r.Since
		}
	}
	return one, nil
}

func amounts(rates []Rate) string {
	var all []string
	for _, r := range rates {
		all = append(all, fmt.Sprintf("%s %s for each %s", r.Currency, provider.Decimal(r.Price), r.Period))
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// PeriodOf returns the period of a unit by the words of a cloud, or refuses one that it does
// not know: a price for something else would be a guess.
func PeriodOf(unit string, hourly, monthly []string) (provider.Period, error) {
	switch {
	case slices.Contains(hourly, unit):
		return provider.Hourly, nil
	case slices.Contains(monthly, unit):
		return provider.Monthly, nil
	}
	return "", NoRate(fmt.Sprintf("the service counts it in %q", unit))
}
