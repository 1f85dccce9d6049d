// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

func rate(price string, since time.Time) Rate {
	amount, ok := new(big.Rat).SetString(price)
	if !ok {
		panic(price)
	}
	return Rate{amount, "USD", provider.Hourly, since}
}

func TestOnlyOnePriceIsAPrice(t *testing.T) {
	old, late := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	euro := rate("0.1", old)
	euro.Currency = "EUR"
	for reason, c := range map[string]struct {
		rates []Rate
		want  string
		since time.Time
	}{
		"one":                           {[]Rate{rate("0.192", old)}, "0.192", old},
		"the same twice, the later one": {[]Rate{rate("0.1", old), rate("0.10", late)}, "0.10", late},
		"an allowance is not a price":   {[]Rate{rate("0", old), rate("0.005", old)}, "0.005", old},
		"free":                          {[]Rate{rate("0", old)}, "0.00", old},
		"none":                          {nil, "the service has no price for it", time.Time{}},
		"two":                           {[]Rate{rate("0.2", old), rate("0.1", old)}, "the service has several prices for it: USD 0.10 for each hour, USD 0.20 for each hour", time.Time{}},
		"two currencies":                {[]Rate{rate("0.1", old), euro}, "the service has several prices for it: EUR 0.10 for each hour, USD 0.10 for each hour", time.Time{}},
	} {
		one, err := Only(c.rates)
		got := fmt.Sprint(err)
		if err == nil {
			got = provider.Decimal(one.Price)
		}
		if got != c.want || !one.Since.Equal(c.since) {
			t.Errorf("%s: %s since %s", reason, got, one.Since)
		}
	}
}

func TestEqualThingsAreOneArticle(t *testing.T) {
	cart := Cart[string]{}
	cart.Add(provider.PartMachine, "large", 1, "", "l")
	cart.Add(provider.PartDisk, "gp3", 100, "GiB", "d")
	cart.Add(provider.PartMachine, "large", 1, "", "l")
	cart.Add(provider.PartMachine, "small", 1, "", "s")
	got, err := cart.Prices(t.Context(), func(_ context.Context, q string) ([]Rate, error) {
		if q == "s" {
			return nil, NoRate("it is not sold")
		}
		return []Rate{rate("0.5", time.Time{})}, nil
	})
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	if a := got[0]; a.Count != 2 || a.Name != "large" || a.Rate.Cmp(big.NewRat(1, 2)) != 0 || a.Unknown != "" {
		t.Errorf("%+v", a)
	}
	if a := got[1]; a.Name != "small" || a.Rate != nil || a.Unknown != "it is not sold" {
		t.Errorf("%+v", a)
	}
}

func TestAServiceThatDoesNotAnswerHasNoPrices(t *testing.T) {
	cart := Cart[string]{}
	cart.Add(provider.PartMachine, "large", 1, "", "l")
	cart.Add(provider.PartMachine, "small", 1, "", "s")
	broken := errors.New("broken")
	_, err := cart.Prices(t.Context(), func(ctx context.Context, q string) ([]Rate, error) {
		if q == "s" {
			return nil, broken
		}
		<-ctx.Done() // a lookup does not wait for longer than the first failure
		return nil, ctx.Err()
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestUnitsThatAreNotKnownHaveNoPrice(t *testing.T) {
	if p, err := PeriodOf("Hrs", []string{"Hrs"}, []string{"GB-Mo"}); p != provider.Hourly || err != nil {
		t.Error(p, err)
	}
	if p, err := PeriodOf("GB-Mo", []string{"Hrs"}, []string{"GB-Mo"}); p != provider.Monthly || err != nil {
		t.Error(p, err)
	}
	if _, err := PeriodOf("100 Hours", []string{"Hrs"}, nil); err == nil || !strings.Contains(err.Error(), `"100 Hours"`) {
		t.Error(err)
	}
}
