// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/api/cloudbilling/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/gcp"
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

func TestPricesAreThoseOfTheCatalogue(t *testing.T) {
	f := newFixture(t, sim.Seed{SKUPage: 200})
	one := func(b *provider.Basket) { b.Machines, b.LoadBalancer = b.Machines[:1], nil }
	sized := func(name string) func(*provider.Config) {
		return func(c *provider.Config) { c.Spec.GCP.MachineType = name }
	}
	for reason, c := range map[string]struct {
		basket provider.Basket
		config func(*provider.Config)
		want   string
	}{
		// 4 × 0.022 + 16 × 0.00275
		"a cluster": {basket(), sized(""), "3 machine e2-standard-4 0.132/hour, 150 GiB disk pd-balanced 0.12/month, 1 load balancer up to 5 rules 0.03/hour"},
		"an internal load balancer costs the same": {basket(func(b *provider.Basket) { b.Machines, b.LoadBalancer.Scheme = nil, v1alpha1.SchemeInternal }), sized(""),
			"1 load balancer up to 5 rules 0.03/hour"},
		"more rules than the charge includes": {basket(func(b *provider.Basket) { b.Machines, b.LoadBalancer.AdditionalPorts = nil, []int32{1, 2, 3, 4, 5, 6} }), sized(""),
			"1 load balancer up to 5 rules 0.03/hour, 2 load balancer rules beyond 5 0.012/hour"},
		"public addresses, other disks": {basket(one, func(b *provider.Basket) {
			b.Machines[0].ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 200}, {SizeGB: 300, StorageClass: "pd-ssd"}, {SizeGB: 20, StorageClass: "pd-standard"}}
		}), func(c *provider.Config) { c.Spec.GCP.PublicIP = true },
			"1 machine e2-standard-4 0.132/hour, 250 GiB disk pd-balanced 0.12/month, 300 GiB disk pd-ssd 0.204/month, 20 GiB disk pd-standard 0.048/month, 1 address external IPv4 0.005/hour"},
		// 4 × 0.031 + 15 × 0.003875
		"memory that is no whole number": {basket(one, func(b *provider.Basket) { b.Machines[0].MemoryMB = 8192 }), sized("n1-standard-4"), "1 machine n1-standard-4 0.182125/hour, 50 GiB disk pd-balanced 0.12/month"},
		// 4 × 0.0335 + 20 × 0.004187
		"a custom type":     {basket(one), sized("n2-custom-4-20480"), "1 machine n2-custom-4-20480 0.21774/hour, 50 GiB disk pd-balanced 0.12/month"},
		"a shared core":     {basket(one, func(b *provider.Basket) { b.Machines[0].CPU, b.Machines[0].MemoryMB = 2, 4096 }), sized("e2-medium"), "1 machine e2-medium ? a shared processor is charged by another measure, 50 GiB disk pd-balanced 0.12/month"},
		"a Hyperdisk":       {basket(one), sized("n4-standard-4"), "1 machine n4-standard-4 0.18/hour, 50 GiB disk hyperdisk-balanced ? its operations and throughput may be charged beside its capacity"},
		"an unknown series": {basket(one), sized("m1-ultramem-40"), "1 machine m1-ultramem-40 ? prices of this series are not looked up, 50 GiB disk pd-balanced 0.12/month"},
	} {
		list, err := f.connected(t, c.config, inZone(c.want)).Prices(t.Context(), c.basket)
		if got := providertest.PricesText(list); err != nil || got != c.want || list.Source != "Cloud Billing Catalog" {
			t.Errorf("%s: %s %v\n got %s\nwant %s", reason, list.Source, err, got, c.want)
		}
		for _, p := range list.Prices {
			if p.Unknown == "" && (p.Currency != "USD" || !p.Since.Equal(time.Date(2025, 3, 1, 8, 0, 0, 0, time.UTC))) {
				t.Errorf("%s: %+v", reason, p)
			}
		}
	}
}

// inZone has the machines in a zone that offers what is wanted.
func inZone(want string) func(*provider.Config) {
	return func(c *provider.Config) {
		for name, zone := range map[string]string{"n4-": "europe-west3-b", "m1-": "europe-west3-a"} {
			if strings.Contains(want, name) {
				c.Spec.GCP.Zone = zone
			}
		}
	}
}

func TestWhatTheCatalogueDoesNotHaveIsNotKnown(t *testing.T) {
	f := newFixture(t, sim.Seed{Unpriced: []string{"E2 Instance Ram", "Balanced PD Capacity", "Cloud Load Balancer Forwarding Rule Minimum for"}})
	list, err := f.connected(t).Prices(t.Context(), basket())
	want := "3 machine e2-standard-4 ? its memory: the service has no price for it, 150 GiB disk pd-balanced ? the service has no price for it, 1 load balancer up to 5 rules ? the service has no price for it"
	if got := providertest.PricesText(list); err != nil || got != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

func TestWhyThereAreNoPrices(t *testing.T) {
	f, disabled := newFixture(t, sim.Seed{}), newFixture(t, sim.Seed{NoBilling: true})
	cut := func(c *provider.Config) {
		dial := c.Transport.DialContext
		c.Transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if strings.HasPrefix(address, "cloudbilling.") {
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
		"it is not enabled":     {disabled, func(*provider.Config) {}, "enable cloudbilling.googleapis.com for the project to see prices; it is optional"},
		"the type is not there": {f, func(c *provider.Config) { c.Spec.GCP.MachineType = "x9-standard-4" }, "x9-standard-4"},
	} {
		list, err := c.connected(t, c.config).Prices(t.Context(), basket())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", reason, err, list)
		}
	}
}

func TestATypeWithMoreThanProcessorsAndMemoryHasNoPrice(t *testing.T) {
	for reason, c := range map[string]struct {
		machine *computepb.MachineType
		core    string
	}{
		"predefined":      {&computepb.MachineType{Name: new("n2d-standard-4")}, "N2D AMD Instance Core"},
		"custom":          {&computepb.MachineType{Name: new("custom-4-8192"), GuestCpus: new(int32(4)), MemoryMb: new(int32(8192))}, "Custom Instance Core"},
		"of two names":    {&computepb.MachineType{Name: new("c2-standard-4")}, "Compute optimized Core|Compute optimized Instance Core"},
		"extended memory": {&computepb.MachineType{Name: new("n2-custom-2-65536-ext"), GuestCpus: new(int32(2)), MemoryMb: new(int32(65536))}, ""},
		"local disks":     {&computepb.MachineType{Name: new("c3-standard-8-lssd"), BundledLocalSsds: &computepb.BundledLocalSsds{PartitionCount: new(int32(2))}}, ""},
		"an accelerator":  {&computepb.MachineType{Name: new("n1-standard-4"), Accelerators: []*computepb.Accelerators{{}}}, ""},
	} {
		if g := machineGoods(c.machine); g.core != c.core || (g.unsold == "") != (c.core != "") {
			t.Errorf("%s: %+v", reason, g)
		}
	}
}

func TestOfManySKUsTheDescribedOneCounts(t *testing.T) {
	for text, want := range map[string]bool{
		"N2 Instance Core running in Frankfurt": true, "N2 Instance Core in Frankfurt": true, "N2 Instance Core": true,
		"N2D AMD Instance Core running in Frankfurt": false, "N2 Custom Instance Core running in Frankfurt": false, "Spot Preemptible N2 Instance Core running in Frankfurt": false,
		"Sole Tenancy Premium for N2 Instance Core running in Frankfurt": false, "N2 Instance Core Premium": false,
	} {
		if got := isDescribed(text, "M3 Instance Core|N2 Instance Core"); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

func TestOfThePricesOfAnSKUTheValidOneCounts(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	info := func(from, unit string, nanos ...int64) *cloudbilling.PricingInfo {
		p := &cloudbilling.PricingInfo{EffectiveTime: from, PricingExpression: &cloudbilling.PricingExpression{UsageUnit: unit}}
		for _, n := range nanos {
			p.PricingExpression.TieredRates = append(p.PricingExpression.TieredRates, &cloudbilling.TierRate{UnitPrice: &cloudbilling.Money{CurrencyCode: "EUR", Units: 1, Nanos: n}})
		}
		return p
	}
	for reason, c := range map[string]struct {
		infos []*cloudbilling.PricingInfo
		want  string
	}{
		"the latest that has begun": {[]*cloudbilling.PricingInfo{info("2024-01-01T00:00:00Z", "h", 5), info("2025-01-01T00:00:00Z", "h", 21811000), info("2027-01-01T00:00:00Z", "h", 7)}, "1.021811"},
		"tiers":                     {[]*cloudbilling.PricingInfo{info("2024-01-01T00:00:00Z", "h", 5e8, 25e7)}, "1.50 1.25"},
		"none":                      {nil, ""},
		"another unit":              {[]*cloudbilling.PricingInfo{info("2024-01-01T00:00:00Z", "GiBy", 5)}, `the service counts it in "GiBy"`},
	} {
		rates, err := ratesOf(&cloudbilling.Sku{PricingInfo: c.infos}, now)
		var got []string
		for _, r := range rates {
			got = append(got, provider.Decimal(r.Price))
		}
		if missing, ok := errors.AsType[cloud.NoRate](err); ok {
			got = append(got, missing.Error())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v", reason, got)
		}
	}
}
