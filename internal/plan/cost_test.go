// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// asked is the answer of a price service about two machines and a load balancer.
func asked() *Asked {
	since := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	return &Asked{At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), PriceList: provider.PriceList{Source: "AWS Price List", Prices: []provider.Price{
		{Kind: provider.PartMachine, Name: "m7i.xlarge", Count: 1, Rate: big.NewRat(2016, 10000), Currency: "USD", Period: provider.Hourly, Since: since},
		{Kind: provider.PartMachine, Name: "m7i.2xlarge", Count: 1, Rate: big.NewRat(4032, 10000), Currency: "USD", Period: provider.Hourly, Since: since},
		{Kind: provider.PartDisk, Name: "gp3", Count: 380, Unit: "GiB", Rate: big.NewRat(952, 10000), Currency: "USD", Period: provider.Monthly, Since: since.AddDate(0, 1, 0)},
		{Kind: provider.PartLoadBalancer, Name: "network", Count: 1, Rate: big.NewRat(225, 10000), Currency: "USD", Period: provider.Hourly},
	}}}
}

func TestTheCostIsTheSumOfAllCharges(t *testing.T) {
	c := NewCost(v1alpha1.ProviderAWS, asked())
	// 730 × (0.2016 + 0.4032 + 0.0225) + 380 × 0.0952
	if c.PerMonth != "494.11" || c.Currency != "USD" || !strings.HasPrefix(c.Note, "list prices without traffic, ") {
		t.Errorf("%+v", c)
	}
	data, err := json.Marshal(c.Charges[2])
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"kind":"disk","name":"gp3","quantity":380,"unit":"GiB","price":"0.0952","currency":"USD","per":"month","perMonth":"36.18","since":"2025-04-01T00:00:00Z"}`; string(data) != want {
		t.Errorf("%s", data)
	}
}

func TestAPartOfACostIsNeverItsSum(t *testing.T) {
	for reason, c := range map[string]struct {
		change func(*Asked)
		want   string
	}{
		"a price is missing": {func(a *Asked) { a.Prices[2].Rate, a.Prices[2].Unknown = nil, "the service has no price for it" }, "no price known: disk gp3: the service has no price for it"},
		"another currency":   {func(a *Asked) { a.Prices[3].Currency = "EUR" }, "no price known: load balancer network is in EUR, others are in USD"},
		"nothing was priced": {func(a *Asked) { a.Prices = nil }, "no price known: the service was asked for nothing"},
		"no answer":          {func(a *Asked) { a.Err = errors.New("it is down; it is retried") }, "no price known: it is down"},
	} {
		a := asked()
		c.change(a)
		if got := NewCost(v1alpha1.ProviderAWS, a); got.PerMonth != "" || got.Currency != "" || got.Note != c.want || (got.Source == "") != (a.Err != nil) {
			t.Errorf("%s: %+v", reason, got)
		}
	}
	if got := NewCost(v1alpha1.ProviderAzure, nil); got.Note != "no price known" || got.Source != "" {
		t.Errorf("without a price service: %+v", got)
	}
	if got := NewCost(v1alpha1.ProviderNutanix, nil); got.Note != "your own platform" {
		t.Errorf("on premises: %+v", got)
	}
}

func TestCostsAreReadable(t *testing.T) {
	missing, rehearsed, silent := asked(), asked(), asked()
	missing.Prices[1].Rate, missing.Prices[1].Unknown = nil, "the service has several prices for it: USD 0.10 for each hour, USD 0.20 for each hour"
	rehearsed.Simulated = true
	silent.Prices, silent.Err = nil, errors.New("ask AWS Price List for m7i.xlarge: AccessDeniedException: not authorized; grant pricing:GetProducts, or plan without prices")
	text := &strings.Builder{}
	for _, a := range []*Asked{asked(), missing, rehearsed, silent} {
		w := &page{}
		w.cost(NewCost(v1alpha1.ProviderAWS, a), Full)
		text.WriteString(w.String())
	}
	golden := filepath.Join("testdata", "cost.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if diff := cmp.Diff(string(want), text.String()); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}
