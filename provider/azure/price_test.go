// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/azure"
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

func TestPricesAreThoseOfTheRetailService(t *testing.T) {
	// Pages are small: what matches a size fills more than one, and most of it is no price for
	// a machine with Linux.
	f := newFixture(t, sim.Seed{PageSize: 6})
	public := func(c *provider.Config) { c.Spec.Azure.PublicIP = true }
	for reason, c := range map[string]struct {
		basket provider.Basket
		config []func(*provider.Config)
		want   string
	}{
		"a cluster": {basket(), nil, "3 machine Standard_D4s_v5 0.192/hour, 3 disk P6 LRS 9.60/month, 1 address Standard IPv4 0.005/hour, 1 load balancer Standard 0.025/hour"},
		"an internal load balancer": {basket(func(b *provider.Basket) { b.LoadBalancer.Scheme = v1alpha1.SchemeInternal }), nil,
			"3 machine Standard_D4s_v5 0.192/hour, 3 disk P6 LRS 9.60/month, 1 load balancer Standard 0.025/hour"},
		"no load balancer, public addresses": {basket(func(b *provider.Basket) { b.LoadBalancer = nil }), []func(*provider.Config){public},
			"3 machine Standard_D4s_v5 0.192/hour, 3 disk P6 LRS 9.60/month, 3 address Standard IPv4 0.005/hour"},
		"more rules than the price includes": {basket(func(b *provider.Basket) { b.Machines, b.LoadBalancer.AdditionalPorts = nil, []int32{1, 2, 3, 4, 5, 6} }), nil,
			"1 address Standard IPv4 0.005/hour, 1 load balancer Standard 0.025/hour, 2 load balancer rules beyond 5 0.01/hour"},
		"other disks": {basket(func(b *provider.Basket) {
			b.LoadBalancer, b.Machines = nil, b.Machines[:1]
			b.Machines[0].ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 200}, {SizeGB: 20, StorageClass: "Standard_LRS"}, {SizeGB: 300, StorageClass: "StandardSSD_ZRS"}}
		}), nil, "1 machine Standard_D4s_v5 0.192/hour, 1 disk P6 LRS 9.60/month, 1 disk P15 LRS 38.40/month, 1 disk S4 LRS 1.44/month, 1 disk E20 ZRS 57.60/month"},
	} {
		list, err := f.connected(t, c.config...).Prices(t.Context(), c.basket)
		if got := providertest.PricesText(list); err != nil || got != c.want || list.Source != "Azure Retail Prices" {
			t.Errorf("%s: %s %v\n got %s\nwant %s", reason, list.Source, err, got, c.want)
		}
		for _, p := range list.Prices {
			if p.Currency != "USD" || !p.Since.Equal(time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)) {
				t.Errorf("%s: %+v", reason, p)
			}
		}
	}
}

func TestWhatTheRetailServiceDoesNotHaveIsNotKnown(t *testing.T) {
	f := newFixture(t, sim.Seed{Unpriced: []string{"Standard_D4s_v5", "P6 LRS"}})
	list, err := f.connected(t).Prices(t.Context(), basket())
	want := "3 machine Standard_D4s_v5 ? the service has no price for it, 3 disk P6 LRS ? the service has no price for it, 1 address Standard IPv4 0.005/hour, 1 load balancer Standard 0.025/hour"
	if got := providertest.PricesText(list); err != nil || got != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

func TestWhyThereAreNoPrices(t *testing.T) {
	f, refused := newFixture(t, sim.Seed{}), newFixture(t, sim.Seed{PriceStatus: http.StatusTooManyRequests})
	cut := func(c *provider.Config) {
		dial := c.Transport.DialContext
		c.Transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if strings.HasPrefix(address, "prices.") {
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
		"it cannot be reached":  {f, cut, "no route to host; check that prices.azure.com can be reached from here"},
		"it answers no one now": {refused, func(*provider.Config) {}, "status 429 Too Many Requests: TooManyRequests: Too Many Requests"},
		"the size is not there": {f, func(c *provider.Config) { c.Spec.Azure.VMSize = "Standard_X99" }, "Standard_X99"},
	} {
		list, err := c.connected(t, c.config).Prices(t.Context(), basket())
		if err == nil || !strings.Contains(err.Error(), c.want) || len(list.Prices) != 0 && list.Prices[0].Rate != nil {
			t.Errorf("%s: %v, %v", reason, err, list)
		}
	}
}

// TestAPriceListOfAnotherCloudIsNotAsked: the public prices are not those of a cloud that
// another company runs.
func TestAPriceListOfAnotherCloudIsNotAsked(t *testing.T) {
	for endpoint, want := range map[string]bool{
		"": true, "https://management.azure.com": true, "https://management.azure.com/": true, "https://management.usgovcloudapi.net": true,
		"https://management.chinacloudapi.cn": false, "https://management.local.azurestack.external": false,
	} {
		if got := priced(endpoint); got != want {
			t.Errorf("%s: %t", endpoint, got)
		}
	}
}

func TestADiskFallsIntoATier(t *testing.T) {
	for reason, c := range map[string]struct {
		kind string
		size int32
		want int
	}{
		"the smallest":          {"Premium_LRS", 4, 1},
		"of hard disks":         {"Standard_LRS", 4, 4},
		"exactly a tier":        {"Premium_LRS", 128, 10},
		"a little more":         {"StandardSSD_LRS", 129, 15},
		"the largest":           {"Premium_ZRS", 32767, 80},
		"the last but one":      {"Premium_ZRS", 16384, 70},
		"of solid state, small": {"StandardSSD_ZRS", 5, 2},
	} {
		if got := tierOf(c.kind, c.size); got != c.want {
			t.Errorf("%s: %d", reason, got)
		}
	}
}

func TestOfSeveralPricesTheOrdinaryOneCounts(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	sound := item{Type: "Consumption", ArmRegionName: "westeurope", ProductName: "Virtual Machines DSv5 Series", SkuName: "D4s v5", MeterName: "D4s v5", UnitOfMeasure: "1 Hour", IsPrimaryMeterRegion: true, RetailPrice: "0.2", CurrencyCode: "USD"}
	with := func(change func(*item)) item { i := sound; change(&i); return i }
	for reason, other := range map[string]item{
		"windows":         with(func(i *item) { i.ProductName += " Windows" }),
		"spot":            with(func(i *item) { i.SkuName += " Spot" }),
		"low priority":    with(func(i *item) { i.MeterName += " Low Priority" }),
		"cloud services":  with(func(i *item) { i.ProductName = "DSv5 Series Cloud Services" }),
		"cloudservices":   with(func(i *item) { i.ProductName = "Dv3 Series CloudServices" }),
		"reserved":        with(func(i *item) { i.Type = "Reservation" }),
		"for development": with(func(i *item) { i.Type = "DevTestConsumption" }),
		"of the future":   with(func(i *item) { i.EffectiveStartDate = now.AddDate(0, 1, 0) }),
		"of the past":     with(func(i *item) { i.EffectiveEndDate = now.AddDate(0, -1, 0) }),
		"elsewhere":       with(func(i *item) { i.ArmRegionName = "northeurope" }),
		"secondary":       with(func(i *item) { i.IsPrimaryMeterRegion = false }),
	} {
		got := meter{size: "Standard_D4s_v5"}.chosen([]item{other, sound}, "westeurope", now)
		if len(got) != 1 || got[0] != sound {
			t.Errorf("%s: %+v", reason, got)
		}
	}
	counted, err := ratesOf([]item{with(func(i *item) { i.UnitOfMeasure = "100 Hours" })})
	if _, ok := errors.AsType[cloud.NoRate](err); !ok || counted != nil {
		t.Errorf("another unit: %v, %v", counted, err)
	}
}
