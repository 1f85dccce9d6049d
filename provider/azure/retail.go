// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// retailURL is the price service of Microsoft's clouds. It wants no credentials, and gets none.
const (
	retailHost = "prices.azure.com"
	retailURL  = "https://" + retailHost + "/api/retail/prices"
)

// mostPage is more than a page of prices has.
const mostPage = 8 << 20

// item is a price of the service.
type item struct {
	CurrencyCode         string
	RetailPrice          json.Number
	TierMinimumUnits     float64
	ArmRegionName        string
	ArmSkuName           string
	ProductName          string
	SkuName              string
	MeterName            string
	ServiceName          string
	UnitOfMeasure        string
	Type                 string
	IsPrimaryMeterRegion bool
	EffectiveStartDate   time.Time
	EffectiveEndDate     time.Time
}

type retailPage struct {
	Items        []item
	NextPageLink string
}

// rates asks for the prices of a meter in a location.
func (p *platform) rates(ctx context.Context, q meter, location string) ([]cloud.Rate, error) {
	var found []item
	link := retailURL + "?" + url.Values{"$filter": {q.filter(location)}}.Encode()
	for link != "" {
		page, err := p.retailPage(ctx, link)
		if err != nil {
			return nil, err
		}
		found = append(found, page.Items...)
		link = page.NextPageLink
	}
	return ratesOf(q.chosen(found, location, time.Now()))
}

// filter is what the service is asked for.
func (q meter) filter(location string) string {
	name := q.names
	if strings.Contains(name, "|") {
		name = ""
	}
	terms := []string{"serviceName eq " + quoted(q.service), "priceType eq 'Consumption'"}
	if !q.everywhere {
		terms = append(terms, "armRegionName eq "+quoted(location))
	}
	for _, t := range []struct{ field, value string }{{"productName", q.product}, {"skuName", q.sku}, {"armSkuName", q.size}, {"meterName", name}} {
		if t.value != "" {
			terms = append(terms, t.field+" eq "+quoted(t.value))
		}
	}
	return strings.Join(terms, " and ")
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// chosen are the prices that count: those of now, of the location rather than of all, of
// the primary meter, and of machines those of Linux that are not interrupted.
func (q meter) chosen(all []item, location string, now time.Time) []item {
	all = slices.DeleteFunc(all, func(i item) bool {
		return i.Type != "Consumption" || i.EffectiveStartDate.After(now) || !i.EffectiveEndDate.IsZero() && i.EffectiveEndDate.Before(now) || !q.sells(i)
	})
	for _, prefer := range []func(item) bool{
		func(i item) bool { return strings.EqualFold(i.ArmRegionName, location) },
		func(i item) bool { return i.IsPrimaryMeterRegion },
	} {
		if slices.ContainsFunc(all, prefer) {
			all = slices.DeleteFunc(all, func(i item) bool { return !prefer(i) })
		}
	}
	return slices.DeleteFunc(all, func(i item) bool {
		return !strings.EqualFold(i.ArmRegionName, location) && (!q.everywhere || i.ArmRegionName != "Global")
	})
}

// sells reports whether a price is that of the meter. A disk has others for operations and
// for further mounts.
func (q meter) sells(i item) bool {
	if q.size != "" {
		return ordinary(i)
	}
	return slices.Contains(strings.Split(q.names, "|"), i.MeterName)
}

// ordinary reports whether a price is that of a virtual machine with Linux.
func ordinary(i item) bool {
	for _, other := range []string{"Spot", "Low Priority"} {
		if strings.Contains(i.SkuName, other) || strings.Contains(i.MeterName, other) {
			return false
		}
	}
	return !strings.HasSuffix(i.ProductName, " Windows") && !strings.Contains(strings.ReplaceAll(i.ProductName, " ", ""), "CloudServices") && !strings.Contains(i.ProductName, "Dedicated Host")
}

func ratesOf(items []item) (all []cloud.Rate, err error) {
	for _, i := range items {
		price, ok := new(big.Rat).SetString(string(i.RetailPrice))
		if !ok {
			return nil, cloud.NoRate(fmt.Sprintf("the service has the price %q", i.RetailPrice))
		}
		period, err := cloud.PeriodOf(i.UnitOfMeasure, []string{"1 Hour", "1/Hour"}, []string{"1/Month"})
		if err != nil {
			return nil, err
		}
		all = append(all, cloud.Rate{Price: price, Currency: i.CurrencyCode, Period: period, Since: i.EffectiveStartDate})
	}
	return all, nil
}

func (p *platform) retailPage(ctx context.Context, link string) (page retailPage, err error) {
	op := "ask " + priceService
	if at, err := url.Parse(link); err != nil || at.Scheme != "https" || at.Hostname() != retailHost {
		return page, provider.Invalid.New(op, provider.ReasonEndpointForeign, fmt.Errorf("the next page is said to be %s", link), "")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
	if err != nil {
		return page, err
	}
	answer, err := p.http.Do(request)
	if err != nil {
		return page, provider.Unavailable.New(op, provider.ReasonPlatformUnreachable, cause(err), "check that "+retailHost+" can be reached from here")
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(io.LimitReader(answer.Body, mostPage))
	if err == nil && answer.StatusCode == http.StatusOK {
		err = json.Unmarshal(content, &page)
	}
	if err != nil {
		return page, provider.Unavailable.New(op, provider.ReasonPlatformUnavailable, err, "")
	}
	if answer.StatusCode != http.StatusOK {
		return page, provider.Unavailable.New(op, provider.ReasonPlatformUnavailable, fmt.Errorf("status %s: %s", answer.Status, refusalOf(content)), "")
	}
	return page, nil
}

// refusalOf is what the service says about a request that it refuses.
func refusalOf(content []byte) string {
	var said struct {
		Error struct{ Code, Message string }
	}
	if json.Unmarshal(content, &said) != nil {
		return "no explanation"
	}
	return strings.Trim(said.Error.Code+": "+said.Error.Message, ": ")
}
