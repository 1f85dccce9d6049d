// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// HoursPerMonth is how many hours a month has in a cost: a twelfth of 365 days.
const HoursPerMonth = 730

// Cost is what a new cluster costs by list prices.
type Cost struct {
	// PerMonth is the sum, rounded to hundredths; empty if a price is not known.
	PerMonth string `json:"perMonth,omitempty"`
	Currency string `json:"currency,omitempty"`
	// HoursPerMonth is with how many hours it was calculated.
	HoursPerMonth int64    `json:"hoursPerMonth,omitempty"`
	Charges       []Charge `json:"charges,omitempty"`
	// Source is the price service that answered, and Asked when it was asked.
	Source string    `json:"source,omitempty"`
	Asked  time.Time `json:"asked,omitzero"`
	// Simulated prices are invented.
	Simulated bool `json:"simulated,omitempty"`
	// Note says what the sum does not have in it, or why none is known.
	Note string `json:"note"`
}

// Charge is what a number of equal things costs.
type Charge struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Quantity counts things, or Unit if there is one.
	Quantity int64  `json:"quantity"`
	Unit     string `json:"unit,omitempty"`
	// Price is what one costs Per hour or month, with all its digits; empty if it is not known.
	Price    string `json:"price,omitempty"`
	Currency string `json:"currency,omitempty"`
	Per      string `json:"per,omitempty"`
	PerMonth string `json:"perMonth,omitempty"`
	// Since is when the price became valid; none if the service does not say.
	Since time.Time `json:"since,omitzero"`
	// Unknown is why there is no price.
	Unknown string `json:"unknown,omitempty"`
}

// NoPrice is the note of a plan without a price, or its beginning.
const NoPrice = "no price known"

// extra is what clouds charge for besides what is created.
const extra = "list prices without traffic, disk operations, taxes, discounts, marketplace software, and what the cluster itself requests: volumes and load balancers of Services"

// Asked is what a price service was asked, and has answered.
type Asked struct {
	provider.PriceList
	At time.Time
	// Err is why there is no answer.
	Err error
	// Simulated says that the service of a rehearsal was asked.
	Simulated bool
}

// NewCost returns what is known of the price of a cluster; nil: no service was asked.
func NewCost(p v1alpha1.ProviderType, asked *Asked) Cost {
	switch {
	case p.OnPrem():
		return Cost{Note: "your own platform"}
	case asked == nil:
		return Cost{Note: NoPrice}
	case asked.Err != nil:
		return Cost{Note: NoPrice + ": " + unanswered(asked.Err)}
	}
	c := Cost{HoursPerMonth: HoursPerMonth, Source: asked.Source, Asked: asked.At, Simulated: asked.Simulated, Note: extra}
	for _, price := range asked.Prices {
		c.Charges = append(c.Charges, charge(price))
	}
	if why := unknown(asked.Prices); why != "" {
		c.Note = NoPrice + ": " + why
		return c
	}
	c.Currency, c.PerMonth = asked.Prices[0].Currency, total(asked.Prices).FloatString(2)
	return c
}

// unanswered is the reason of an error: a plan does not ask again by itself.
func unanswered(err error) string { return strings.TrimSuffix(err.Error(), "; it is retried") }

// unknown names what has no price; empty means that there is a sum.
func unknown(prices []provider.Price) string {
	var why []string
	for _, p := range prices {
		switch {
		case p.Rate == nil:
			why = append(why, fmt.Sprintf("%s %s: %s", p.Kind, p.Name, p.Unknown))
		case p.Currency != prices[0].Currency && prices[0].Rate != nil:
			why = append(why, fmt.Sprintf("%s %s is in %s, others are in %s", p.Kind, p.Name, p.Currency, prices[0].Currency))
		}
	}
	if len(prices) == 0 {
		return "the service was asked for nothing"
	}
	return strings.Join(slices.Compact(why), "; ")
}

func charge(p provider.Price) Charge {
	c := Charge{Kind: p.Kind, Name: p.Name, Quantity: p.Count, Unit: p.Unit, Since: p.Since, Unknown: p.Unknown}
	if p.Rate != nil {
		c.Price, c.Currency, c.Per, c.PerMonth = provider.Decimal(p.Rate), p.Currency, string(p.Period), perMonth(p).FloatString(2)
	}
	return c
}

// perMonth is exact.
func perMonth(p provider.Price) *big.Rat {
	count := p.Count
	if p.Period == provider.Hourly {
		count *= HoursPerMonth
	}
	return new(big.Rat).Mul(p.Rate, new(big.Rat).SetInt64(count))
}

func total(prices []provider.Price) *big.Rat {
	sum := new(big.Rat)
	for _, p := range prices {
		sum.Add(sum, perMonth(p))
	}
	return sum
}
