// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// price is an entry of the price service, in its own fields. The figures are invented.
type price struct {
	CurrencyCode         string      `json:"currencyCode"`
	TierMinimumUnits     float64     `json:"tierMinimumUnits"`
	RetailPrice          json.Number `json:"retailPrice"`
	UnitPrice            json.Number `json:"unitPrice"`
	ArmRegionName        string      `json:"armRegionName"`
	Location             string      `json:"location"`
	EffectiveStartDate   string      `json:"effectiveStartDate"`
	EffectiveEndDate     string      `json:"effectiveEndDate,omitempty"`
	MeterID              string      `json:"meterId"`
	MeterName            string      `json:"meterName"`
	ProductID            string      `json:"productId"`
	SkuID                string      `json:"skuId"`
	ProductName          string      `json:"productName"`
	SkuName              string      `json:"skuName"`
	ServiceName          string      `json:"serviceName"`
	ServiceID            string      `json:"serviceId"`
	ServiceFamily        string      `json:"serviceFamily"`
	UnitOfMeasure        string      `json:"unitOfMeasure"`
	Type                 string      `json:"type"`
	IsPrimaryMeterRegion bool        `json:"isPrimaryMeterRegion"`
	ArmSkuName           string      `json:"armSkuName"`
	ReservationTerm      string      `json:"reservationTerm,omitempty"`
}

// in is the entry with a price in millionths of a dollar.
func (p price) in(region string, micros int64) price {
	p.ArmRegionName, p.Location = region, region
	p.RetailPrice = json.Number(strings.TrimRight(strings.TrimRight(fmt.Sprintf("%d.%06d", micros/1e6, micros%1e6), "0"), "."))
	p.UnitPrice = p.RetailPrice
	p.MeterID = derivedUUID(p.ServiceName + p.ProductName + p.MeterName + p.Type + region)
	p.SkuID = p.ProductID + "/" + strings.ToUpper(p.MeterID[:4])
	return p
}

func entry(service, family, product, sku, meter, unit string) price {
	return price{
		CurrencyCode: "USD", EffectiveStartDate: "2025-03-01T00:00:00Z", Type: "Consumption", IsPrimaryMeterRegion: true,
		ServiceName: service, ServiceID: "DZH3" + strings.ToUpper(derivedUUID(service)[:8]), ServiceFamily: family,
		ProductName: product, ProductID: "DZH318Z0" + strings.ToUpper(derivedUUID(product)[:4]), SkuName: sku, MeterName: meter, UnitOfMeasure: unit,
	}
}

// prices are those of the location, and of another region that costs more.
func (a *Azure) prices() (all []price) {
	for i, region := range []string{a.seed.Location, "brazilsoutheast"} {
		dear := int64(2*i + 1)
		for _, s := range a.sizes {
			all = append(all, machinePrices(s, region, dear)...)
		}
		all = append(all, diskPrices(region, dear)...)
		all = append(all, addressPrices(region, dear)...)
	}
	all = append(all, balancerPrices()...)
	return slices.DeleteFunc(all, func(p price) bool {
		return slices.Contains(a.seed.Unpriced, p.ArmSkuName) || slices.Contains(a.seed.Unpriced, p.SkuName)
	})
}

// machinePrices are those of a size: with Linux and Windows, interruptible, as a part of
// cloud services, reserved, and the price of the past.
func machinePrices(s size, region string, dear int64) []price {
	micros := dear * (int64(s.cpus)*24000 + int64(s.memoryMB)*6000/1024)
	short := strings.ReplaceAll(strings.TrimPrefix(s.name, "Standard_"), "_", " ")
	product := "Virtual Machines " + strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(s.family, "standard"), "Standard"), "Family") + " Series"
	one := func(product, suffix, kind string, micros int64) price {
		p := entry("Virtual Machines", "Compute", product, short+suffix, short+suffix, "1 Hour")
		p.Type, p.ArmSkuName = kind, s.name
		return p.in(region, micros)
	}
	past, reserved := one(product, "", "Consumption", micros*2), one(product, "", "Reservation", micros*5000)
	past.EffectiveStartDate, past.EffectiveEndDate = "2021-01-01T00:00:00Z", "2025-02-28T23:59:59Z"
	reserved.ReservationTerm = "1 Year"
	secondary := one(product, "", "Consumption", micros*3)
	secondary.IsPrimaryMeterRegion = false
	return []price{
		one(product+" Windows", "", "Consumption", micros*2), one(product+" Windows", "", "DevTestConsumption", micros), one(product+" Windows", " Spot", "Consumption", micros/2),
		one(product, " Spot", "Consumption", micros/5), one(product, " Low Priority", "Consumption", micros/4),
		one(strings.TrimPrefix(strings.Replace(product, " Series", " Series Cloud Services", 1), "Virtual Machines "), "", "Consumption", micros+10000),
		past, reserved, secondary, one(product, "", "Consumption", micros),
	}
}

// diskPrices are those of the tiers: of the capacity by the month, of operations, and of a
// second machine that mounts the disk.
func diskPrices(region string, dear int64) (all []price) {
	for _, f := range []struct {
		product, letter string
		micros          int64 // of a GiB
		from            int
	}{{"Premium SSD Managed Disks", "P", 150000, 4}, {"Standard SSD Managed Disks", "E", 75000, 4}, {"Standard HDD Managed Disks", "S", 45000, 32}} {
		for _, t := range []struct{ number, sizeGB int }{
			{1, 4}, {2, 8}, {3, 16}, {4, 32}, {6, 64}, {10, 128}, {15, 256}, {20, 512}, {30, 1024}, {40, 2048}, {50, 4096}, {60, 8192}, {70, 16384}, {80, 32767},
		} {
			if t.sizeGB < f.from {
				continue
			}
			for i, redundancy := range []string{"LRS", "ZRS"} {
				micros := dear * f.micros * int64(t.sizeGB) * int64(i+2) / 2
				sku := fmt.Sprintf("%s%d %s", f.letter, t.number, redundancy)
				all = append(all,
					entry("Storage", "Storage", f.product, sku, sku+" Disk Mount", "1/Month").in(region, micros/20),
					entry("Storage", "Storage", f.product, sku, sku+" Disk Operations", "10K").in(region, 500),
					entry("Storage", "Storage", f.product, sku, sku+" Disk", "1/Month").in(region, micros))
			}
		}
	}
	return all
}

func addressPrices(region string, dear int64) []price {
	return []price{
		entry("Virtual Network", "Networking", "IP Addresses", "Basic", "Basic IPv4 Static Public IP", "1 Hour").in(region, 3600*dear),
		entry("Virtual Network", "Networking", "IP Addresses", "Standard", "Standard IPv4 Static Public IP", "1 Hour").in(region, 5000*dear),
		entry("Virtual Network", "Networking", "IP Addresses", "Global", "Global IPv4 Static Public IP", "1 Hour").in(region, 10000*dear),
	}
}

// balancerPrices are those of all regions, and of an operator's edge.
func balancerPrices() (all []price) {
	for i, region := range []string{"Global", "attdetroit1"} {
		dear := int64(i + 1)
		all = append(all,
			entry("Load Balancer", "Networking", "Load Balancer", "Standard", "Standard Data Processed", "1 GB").in(region, 5000*dear),
			entry("Load Balancer", "Networking", "Load Balancer", "Standard", "Standard Included LB Rules and Outbound Rules", "1 Hour").in(region, 25000*dear),
			entry("Load Balancer", "Networking", "Load Balancer", "Standard", "Standard Overage LB Rules and Outbound Rules", "1/Hour").in(region, 10000*dear))
	}
	return all
}
