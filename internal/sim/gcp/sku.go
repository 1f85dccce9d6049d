// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// Services of the billing catalogue.
const (
	computeService    = "6F81-5844-456A"
	networkingService = "E505-1604-58F8"
)

// sku is something that the platform charges for. The figures are invented.
type sku struct {
	service, description string
	family, group, usage string
	unit                 string
	regions              []string
	nanos                []int64 // of each tier
	from                 []int64 // where the tiers begin
}

// onDemand is an SKU with one price in millionths of a dollar.
func onDemand(description, family, group, unit string, micros int64, regions ...string) sku {
	return sku{computeService, description, family, group, "OnDemand", unit, regions, []int64{micros * 1000}, []int64{0}}
}

// multiRegion are regions whose machines have one SKU, as those of the Americas.
func multiRegion() []string { return []string{"us-central1", "us-east1", "us-west1"} }

// place is the name of a region in descriptions; some are called by themselves.
func place(region string) string {
	return cmp.Or(map[string]string{"europe-west1": "Belgium", "europe-west3": "Frankfurt", "europe-west4": "Netherlands", "asia-east1": "Taiwan", "us-central1": "Iowa", "us-east1": "South Carolina", "us-west1": "Oregon"}[region], region)
}

// catalogued are the SKUs of all regions of the project, by service.
func (g *GCP) catalogued() map[string][]sku {
	out := map[string][]sku{}
	all := globalSKUs()
	for i, region := range g.regions() {
		dear := int64(10 + i) // tenths
		if region == g.seed.Region {
			dear = 10
		}
		all = append(all, machineSKUs(region, dear)...)
		all = append(all, diskSKUs(region, dear)...)
		all = append(all, ruleSKUs(region, dear)...)
	}
	for _, s := range all {
		if !slices.ContainsFunc(g.seed.Unpriced, func(name string) bool { return strings.HasPrefix(s.description, name) }) {
			out[s.service] = append(out[s.service], s)
		}
	}
	return out
}

// machineSKUs are processors and memory of each series, and what resembles them: custom and
// extended, interruptible, reserved, sole-tenant.
func machineSKUs(region string, dear int64) (all []sku) {
	where, regions := place(region), []string{region}
	if slices.Contains(multiRegion(), region) {
		if where, regions = "Americas", multiRegion(); region != multiRegion()[0] {
			return nil
		}
	}
	for _, s := range []struct {
		name string
		cpu  int64 // millionths of a dollar for a processor and an hour
	}{
		{"E2 Instance", 22000}, {"E2 Custom Instance", 23000}, {"N1 Predefined Instance", 31000}, {"Custom Instance", 33000}, {"N2 Instance", 32000}, {"N2 Custom Instance", 33500},
		{"N2D AMD Instance", 27000}, {"N2D AMD Custom Instance", 29000}, {"T2D AMD Instance", 27500}, {"T2A Arm Instance", 25000}, {"Compute optimized", 34000}, {"C3 Instance", 33900},
		{"N4 Instance", 30000}, {"C4A Arm Instance", 28000}, {"Memory-optimized Instance", 35000},
	} {
		name, cpu, ram := s.name, s.cpu*dear/10, s.cpu*dear/80
		core, memory := name+" Core running in "+where, name+" Ram running in "+where
		spot := onDemand("Spot Preemptible "+core, "Compute", "CPU", "h", cpu/4, regions...)
		spot.usage = "Preemptible"
		committed := onDemand("Commitment v1: "+name+" Cpu in "+where+" for 1 Year", "Compute", "CPU", "h", cpu/2, regions...)
		committed.usage = "Commit1Yr"
		all = append(all, spot, committed,
			onDemand("Sole Tenancy Premium for "+core, "Compute", "CPU", "h", cpu/10, regions...),
			onDemand(strings.Replace(memory, " Instance Ram", " Extended Instance Ram", 1)+" extended", "Compute", "RAM", "GiBy.h", ram*2, regions...),
			onDemand(core, "Compute", "CPU", "h", cpu, regions...), onDemand(memory, "Compute", "RAM", "GiBy.h", ram, regions...))
	}
	return append(all,
		onDemand("Micro Instance with burstable CPU running in "+where, "Compute", "F1Micro", "h", 8000*dear/10, regions...),
		onDemand("Nvidia L4 GPU running in "+where, "Compute", "GPU", "h", 650000*dear/10, regions...))
}

// diskSKUs are the capacity of disks, and what resembles it.
func diskSKUs(region string, dear int64) (all []sku) {
	in := " in " + place(region)
	if slices.Contains(append(multiRegion(), "europe-west1", "asia-east1"), region) {
		in = ""
	}
	for _, d := range []struct {
		name, group string
		micros      int64
	}{{"Balanced PD Capacity", "SSD", 120000}, {"SSD backed PD Capacity", "SSD", 204000}, {"Storage PD Capacity", "PDStandard", 48000}} {
		one := onDemand(d.name+in, "Storage", d.group, "GiBy.mo", d.micros*dear/10, region)
		if d.group == "PDStandard" && in == "" { // the account has 30 GiB of them for nothing
			one.nanos, one.from = append([]int64{0}, one.nanos...), []int64{0, 30}
		}
		all = append(all, onDemand("Regional "+d.name+in, "Storage", d.group, "GiBy.mo", d.micros*dear/5, region), one)
	}
	return append(all,
		onDemand("Hyperdisk Balanced Capacity in "+place(region), "Storage", "SSD", "GiBy.mo", 80000*dear/10, region),
		onDemand("Hyperdisk Balanced IOPS in "+place(region), "Storage", "SSD", "mo", 5000*dear/10, region),
		onDemand("Storage PD Snapshot"+in, "Storage", "PDSnapshot", "GiBy.mo", 30000*dear/10, region))
}

// ruleSKUs are those of forwarding rules, which are sold by another service.
func ruleSKUs(region string, dear int64) (all []sku) {
	at := fmt.Sprintf(" for %s (%s)", place(region), region)
	for _, s := range []sku{
		onDemand("Cloud Load Balancer Forwarding Rule Minimum"+at, "Network", "LoadBalancing", "h", 30000*dear/10, region),
		onDemand("Cloud Load Balancer Forwarding Rule Additional"+at, "Network", "LoadBalancing", "h", 12000*dear/10, region),
		onDemand("Cloud Load Balancer Inbound Data Processing"+at, "Network", "LoadBalancing", "GiBy", 8000*dear/10, region),
	} {
		s.service = networkingService
		all = append(all, s)
	}
	return append(all, onDemand("Static Ip Charge in "+place(region), "Network", "IpAddress", "h", 12000*dear/10, region))
}

func globalSKUs() []sku {
	address := onDemand("External IP Charge on a Standard VM", "Network", "IpAddress", "h", 5000, "global")
	address.nanos, address.from = append([]int64{0}, address.nanos...), []int64{0, 744}
	rule := onDemand("Cloud Load Balancer Forwarding Rule Minimum Global", "Network", "LoadBalancing", "h", 25000, "global")
	rule.service = networkingService
	return []sku{address, onDemand("External IP Charge on a Spot Preemptible VM", "Network", "IpAddress", "h", 2500, "global"), rule}
}

// object is the SKU as the catalogue has it.
func (s sku) object() object {
	sum := sha256.Sum256([]byte(s.service + s.description + s.usage))
	id := fmt.Sprintf("%04X-%04X-%04X", sum[:2], sum[2:4], sum[4:6])
	names := map[string]string{computeService: "Compute Engine", networkingService: "Networking"}
	units := map[string]string{"h": "hour", "GiBy.h": "gibibyte hour", "GiBy.mo": "gibibyte month", "mo": "month", "GiBy": "gibibyte"}
	var tiers []any
	for i, nanos := range s.nanos {
		tiers = append(tiers, object{"startUsageAmount": s.from[i], "unitPrice": object{"currencyCode": "USD", "units": fmt.Sprint(nanos / 1e9), "nanos": nanos % 1e9}})
	}
	geo := object{"type": "REGIONAL", "regions": s.regions}
	if len(s.regions) > 1 {
		geo["type"] = "MULTI_REGIONAL"
	} else if s.regions[0] == "global" {
		geo = object{"type": "GLOBAL"}
	}
	return object{
		"name": "services/" + s.service + "/skus/" + id, "skuId": id, "description": s.description, "serviceRegions": s.regions, "serviceProviderName": "Google", "geoTaxonomy": geo,
		"category": object{"serviceDisplayName": names[s.service], "resourceFamily": s.family, "resourceGroup": s.group, "usageType": s.usage},
		"pricingInfo": []any{object{
			"summary": "", "effectiveTime": "2025-03-01T08:00:00Z", "currencyConversionRate": 1,
			"pricingExpression": object{"usageUnit": s.unit, "usageUnitDescription": units[s.unit], "displayQuantity": 1, "tieredRates": tiers},
		}},
	}
}
