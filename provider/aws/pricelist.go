// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/pricing/types"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// offer is a product with its prices, as the service has it in a string.
type offer struct {
	Product struct {
		Attributes struct {
			UsageType string `json:"usagetype"`
		} `json:"attributes"`
	} `json:"product"`
	Terms struct {
		OnDemand map[string]term
	} `json:"terms"`
}

// term are the prices of a product from a date on.
type term struct {
	EffectiveDate   time.Time            `json:"effectiveDate"`
	PriceDimensions map[string]dimension `json:"priceDimensions"`
}

// dimension is one price, or one tier of it.
type dimension struct {
	Unit         string            `json:"unit"`
	PricePerUnit map[string]string `json:"pricePerUnit"`
}

// filters select a product in the region. Of instances those count that share hosts, run
// Linux without further software, and are not reserved.
func (q product) filters(region string) []types.Filter {
	fields := [][2]string{{"regionCode", region}, {"productFamily", q.family}, {"instanceType", q.instance}, {"volumeApiName", q.volume}, {"group", q.group}}
	if q.instance != "" {
		fields = append(fields, [][2]string{
			{"operatingSystem", "Linux"}, {"tenancy", "Shared"}, {"preInstalledSw", "NA"}, {"capacitystatus", "Used"}, {"licenseModel", "No License required"}, {"marketoption", "OnDemand"},
		}...)
	}
	var all []types.Filter
	for _, f := range fields {
		if f[1] != "" {
			all = append(all, types.Filter{Field: new(f[0]), Value: new(f[1]), Type: types.FilterTypeTermMatch})
		}
	}
	return all
}

// rates asks for the prices of a product.
func (p *platform) rates(ctx context.Context, q product) (all []cloud.Rate, err error) {
	in := &pricing.GetProductsInput{ServiceCode: &q.service, Filters: q.filters(p.spec.Region), MaxResults: new(int32(100)), FormatVersion: new("aws_v1")}
	for more := true; more; more = value(in.NextToken) != "" {
		page, err := p.pricing.GetProducts(ctx, in)
		if err != nil {
			return nil, priceError(err)
		}
		in.NextToken = page.NextToken
		for _, text := range page.PriceList {
			found, err := q.ratesOf(text, time.Now())
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

func priceError(err error) error {
	const op = "ask " + priceService
	if mapped := apiError(op, err); provider.ReasonOf(mapped) != provider.ReasonPermissionDenied {
		return mapped
	}
	return provider.Unauthorized.New(op, provider.ReasonPermissionDenied, cause(err), hintPrices)
}

// ratesOf are the prices of a product that are valid now; none for another type of usage.
func (q product) ratesOf(text string, now time.Time) (all []cloud.Rate, err error) {
	var o offer
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return nil, cloud.NoRate(fmt.Sprintf("the service describes it in another format: %v", err))
	}
	if !q.uses(o.Product.Attributes.UsageType) {
		return nil, nil
	}
	for _, d := range o.valid(now).PriceDimensions {
		found, err := d.rates(o.valid(now).EffectiveDate)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// uses reports whether a type of usage is that of the product, with the mark of a region
// before it or without: that of the first region has none.
func (q product) uses(usage string) bool {
	_, plain, _ := strings.Cut(usage, "-")
	return q.usage == "" || usage == q.usage || plain == q.usage
}

// valid returns the latest term that has begun.
func (o offer) valid(now time.Time) (latest term) {
	for _, t := range o.Terms.OnDemand {
		if !t.EffectiveDate.After(now) && (latest.PriceDimensions == nil || t.EffectiveDate.After(latest.EffectiveDate)) {
			latest = t
		}
	}
	return latest
}

func (d dimension) rates(since time.Time) (all []cloud.Rate, err error) {
	period, err := cloud.PeriodOf(d.Unit, []string{"Hrs"}, []string{"GB-Mo"})
	if err != nil {
		return nil, err
	}
	for currency, text := range d.PricePerUnit {
		price, ok := new(big.Rat).SetString(text)
		if !ok {
			return nil, cloud.NoRate(fmt.Sprintf("the service has the price %q", text))
		}
		all = append(all, cloud.Rate{Price: price, Currency: currency, Period: period, Since: since})
	}
	return all, nil
}
