// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"math/big"
	"time"
)

// Basket is what prices are asked for: what Create and Ensure are called with for a new
// cluster.
type Basket struct {
	Machines []MachineSpec
	// LoadBalancer is that of the control plane, without targets; nil means that there is none.
	LoadBalancer *LoadBalancerSpec
}

// PriceList is what a platform's own price service says about a basket.
type PriceList struct {
	// Source is the name of the service, for people.
	Source string
	// Prices are those of all that is charged by time, each kind of things once.
	Prices []Price
}

// Period is the time that a rate is for.
type Period string

// The periods.
const (
	Hourly  Period = "hour"
	Monthly Period = "month"
)

// Price is the list price of a number of equal things.
type Price struct {
	// Kind is one of the kinds of parts, such as PartMachine.
	Kind string
	// Name is how the platform names what it sells, such as an instance type.
	Name string
	// Count is how many things there are, or how many of Unit.
	Count int64
	// Unit is "GiB" for capacity; empty for things.
	Unit string
	// Rate is exactly what one costs in a Period; nil means that it is not known.
	Rate     *big.Rat
	Currency string // as in ISO 4217
	Period   Period
	// Since is when the rate became valid; zero means that the service does not say.
	Since time.Time
	// Unknown is why there is no Rate.
	Unknown string
}

// Decimal returns an amount with all its digits, and at least two. One that no decimal is
// exact for is rounded to ten.
func Decimal(amount *big.Rat) string {
	digits, exact := amount.FloatPrec()
	if !exact {
		digits = 10
	}
	return amount.FloatString(max(digits, 2))
}
