// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/providertest"
)

// basket is a small cluster with a load balancer.
func basket(change ...func(*provider.Basket)) provider.Basket {
	b := provider.Basket{Machines: cluster(), LoadBalancer: &provider.LoadBalancerSpec{Port: 6443, AdditionalPorts: []int32{50000}}}
	for _, c := range change {
		c(&b)
	}
	return b
}

func TestPricesAreThoseOfThePriceList(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	for reason, c := range map[string]struct {
		basket provider.Basket
		public bool
		want   string
	}{
		"a cluster": {basket(), false, "2 machine m6a.xlarge 0.192/hour, 1 machine m7i.xlarge 0.192/hour, 150 GiB disk gp3 0.0952/month, 3 address public IPv4 0.005/hour, 1 load balancer network 0.027/hour"},
		"an internal load balancer": {basket(func(b *provider.Basket) { b.LoadBalancer.Scheme = v1alpha1.SchemeInternal }), false,
			"2 machine m6a.xlarge 0.192/hour, 1 machine m7i.xlarge 0.192/hour, 150 GiB disk gp3 0.0952/month, 1 load balancer network 0.027/hour"},
		"no load balancer, public addresses": {basket(func(b *provider.Basket) { b.LoadBalancer = nil }), true,
			"2 machine m6a.xlarge 0.192/hour, 1 machine m7i.xlarge 0.192/hour, 150 GiB disk gp3 0.0952/month, 3 address public IPv4 0.005/hour"},
		"other volumes": {basket(func(b *provider.Basket) {
			b.LoadBalancer, b.Machines = nil, b.Machines[:1]
			b.Machines[0].ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 200}, {SizeGB: 500, StorageClass: "st1"}, {SizeGB: 20, StorageClass: "standard"}, {SizeGB: 30, StorageClass: "gp2"}}
		}), false, "1 machine m6a.xlarge 0.192/hour, 250 GiB disk gp3 0.0952/month, 500 GiB disk st1 0.054/month, 20 GiB disk standard 0.059/month, 30 GiB disk gp2 0.119/month"},
	} {
		list, err := f.connected(t, func(p *provider.Config) { p.Spec.AWS.PublicIP = c.public }).Prices(t.Context(), c.basket)
		if got := providertest.PricesText(list); err != nil || got != c.want || list.Source != "AWS Price List" {
			t.Errorf("%s: %s %v\n got %s\nwant %s", reason, list.Source, err, got, c.want)
		}
		for _, p := range list.Prices {
			if p.Currency != "USD" || !p.Since.Equal(time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)) {
				t.Errorf("%s: %+v", reason, p)
			}
		}
	}
}

func TestWhatThePriceListDoesNotHaveIsNotKnown(t *testing.T) {
	f := newFixture(t, sim.Seed{Unpriced: []string{"m6a.xlarge", "gp3"}})
	list, err := f.connected(t).Prices(t.Context(), basket())
	want := "2 machine m6a.xlarge ? the service has no price for it, 1 machine m7i.xlarge 0.192/hour, 150 GiB disk gp3 ? the service has no price for it, 3 address public IPv4 0.005/hour, 1 load balancer network 0.027/hour"
	if got := providertest.PricesText(list); err != nil || got != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

func TestWhyThereAreNoPrices(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	denied := newFixture(t, sim.Seed{Policy: policyWithout(t, "pricing:GetProducts")})
	cut := func(c *provider.Config) {
		dial := c.Transport.DialContext
		c.Transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if strings.HasPrefix(address, "api.pricing.") {
				return nil, errors.New("no route to host")
			}
			return dial(ctx, network, address)
		}
	}
	for reason, c := range map[string]struct {
		*fixture
		config func(*provider.Config)
		want   string
	}{
		"it cannot be reached":  {f, cut, "no route to host"},
		"it is not permitted":   {denied, func(*provider.Config) {}, "is not authorized to perform: pricing:GetProducts on resource: * because no identity-based policy allows the pricing:GetProducts action; grant pricing:GetProducts to see prices; it is optional"},
		"the type is not there": {f, func(c *provider.Config) { c.Spec.AWS.InstanceType = "x9.large" }, "x9.large"},
	} {
		list, err := c.connected(t, c.config).Prices(t.Context(), basket())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", reason, err, list)
		}
	}
}

func TestPricesAreAskedForWhereTheServiceIs(t *testing.T) {
	for region, want := range map[string]string{
		"eu-central-1": "us-east-1", "af-south-1": "us-east-1", "cn-north-1": "cn-northwest-1", "us-gov-west-1": "", "us-iso-east-1": "", "eusc-de-east-1": "",
	} {
		if got := priceRegion(region); got != want {
			t.Errorf("%s: %s", region, got)
		}
	}
}

// offered is a product as the service has it, with a price from each date on.
func offered(t *testing.T, usage, unit string, prices map[string]string) string {
	t.Helper()
	terms := map[string]any{}
	for date, price := range prices {
		terms["X."+date] = map[string]any{"effectiveDate": date, "priceDimensions": map[string]any{"X.Y": map[string]any{"unit": unit, "pricePerUnit": map[string]string{"USD": price}}}}
	}
	raw, err := json.Marshal(map[string]any{"product": map[string]any{"attributes": map[string]string{"usagetype": usage}}, "terms": map[string]any{"OnDemand": terms}})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestOfTheTermsOfAProductTheValidOneCounts(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	balancer := product{usage: "LoadBalancerUsage"}
	for reason, c := range map[string]struct {
		text, want string
	}{
		"the latest that has begun":    {offered(t, "EUC1-LoadBalancerUsage", "Hrs", map[string]string{"2024-01-01T00:00:00Z": "3", "2025-06-01T00:00:00Z": "0.0270000000", "2027-01-01T00:00:00Z": "4"}), "0.027"},
		"without the mark of a region": {offered(t, "LoadBalancerUsage", "Hrs", map[string]string{"2024-01-01T00:00:00Z": "3"}), "3.00"},
		"another type of usage":        {offered(t, "EUC1-TS-LoadBalancerUsage", "Hrs", map[string]string{"2024-01-01T00:00:00Z": "3"}), ""},
		"reserved only":                {offered(t, "LoadBalancerUsage", "Hrs", nil), ""},
		"another unit":                 {offered(t, "LoadBalancerUsage", "LCU-Hrs", map[string]string{"2024-01-01T00:00:00Z": "3"}), `the service counts it in "LCU-Hrs"`},
		"no number":                    {offered(t, "LoadBalancerUsage", "Hrs", map[string]string{"2024-01-01T00:00:00Z": "much"}), `the service has the price "much"`},
		"another format":               {`{"terms": []}`, "the service describes it in another format"},
	} {
		rates, err := balancer.ratesOf(c.text, now)
		got := ""
		if _, unknown := errors.AsType[cloud.NoRate](err); unknown {
			got = err.Error()
		} else if len(rates) == 1 {
			got = provider.Decimal(rates[0].Price)
		}
		if got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: %q, %v", reason, got, err)
		}
	}
}
