// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// product is something that AWS charges for. The figures are invented.
type product struct {
	service, family, unit string
	attributes            map[string]string
	micros                int64 // millionths of a dollar
	reserved              bool  // it can be reserved
}

// products are those of the region, and of another one that costs more, by service.
func (a *AWS) products() map[string][]product {
	out := map[string][]product{"AmazonEC2": {}, "AmazonVPC": {}, "AWSELB": {}}
	for i, region := range []string{a.seed.Region, "af-south-1"} {
		dear := int64(2*i + 1)
		var all []product
		for _, t := range a.types {
			all = append(all, instanceProducts(t, dear)...)
		}
		all = append(all, volumeProducts(dear)...)
		all = append(all, networkProducts(dear)...)
		for _, p := range all {
			p.attributes["regionCode"], p.attributes["servicecode"], p.attributes["locationType"] = region, p.service, "AWS Region"
			p.attributes["usagetype"] = regionMark(region) + p.attributes["usagetype"]
			out[p.service] = append(out[p.service], p)
		}
	}
	for service := range out {
		out[service] = slices.DeleteFunc(out[service], func(p product) bool {
			return slices.Contains(a.seed.Unpriced, p.attributes["instanceType"]) || slices.Contains(a.seed.Unpriced, p.attributes["volumeApiName"])
		})
	}
	return out
}

// regionMark precedes types of usage, but for those of the first region.
func regionMark(region string) string {
	parts := strings.Split(region, "-")
	if region == "us-east-1" || len(parts) != 3 {
		return ""
	}
	return strings.ToUpper(parts[0]+parts[1][:1]+parts[2]) + "-"
}

// instanceProducts are those of a type: with other software and tenancies, reserved, and
// capacity that is paid for already.
func instanceProducts(t instanceType, dear int64) (all []product) {
	micros := dear * (int64(t.CPU)*28000 + int64(t.MemoryMB)*5000/1024)
	usual := map[string]string{
		"instanceType": t.Name, "vcpu": fmt.Sprint(t.CPU), "operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used",
		"licenseModel": "No License required", "marketoption": "OnDemand", "usagetype": "BoxUsage:" + t.Name, "operation": "RunInstances",
	}
	for _, other := range []struct {
		attribute, value string
		micros           int64
	}{
		{"operatingSystem", "Windows", micros * 2}, {"operatingSystem", "SUSE", micros * 3 / 2}, {"preInstalledSw", "SQL Std", micros * 4},
		{"tenancy", "Dedicated", micros + 20000}, {"tenancy", "Host", 0}, {"capacitystatus", "AllocatedCapacityReservation", 0},
		{"capacitystatus", "UnusedCapacityReservation", micros}, {"licenseModel", "Bring your own license", micros / 2}, {"marketoption", "CapacityBlock", micros * 5},
		{"operatingSystem", "Linux", micros},
	} {
		p := product{service: "AmazonEC2", family: "Compute Instance", unit: "Hrs", attributes: maps.Clone(usual), micros: other.micros, reserved: true}
		p.attributes[other.attribute] = other.value
		all = append(all, p)
	}
	return all
}

// volumeProducts are the capacity of volumes, and what some charge for beside it.
func volumeProducts(dear int64) (all []product) {
	for _, v := range []struct {
		name, usage string
		micros      int64
	}{
		{"gp2", "EBS:VolumeUsage.gp2", 119000}, {"gp3", "EBS:VolumeUsage.gp3", 95200}, {"st1", "EBS:VolumeUsage.st1", 54000},
		{"sc1", "EBS:VolumeUsage.sc1", 18000}, {"standard", "EBS:VolumeUsage", 59000}, {"io1", "EBS:VolumeUsage.piops", 149000},
	} {
		all = append(all, product{service: "AmazonEC2", family: "Storage", unit: "GB-Mo", micros: v.micros * dear, attributes: map[string]string{"volumeApiName": v.name, "usagetype": v.usage}})
	}
	return append(all,
		product{service: "AmazonEC2", family: "System Operation", unit: "IOPS-Mo", micros: 6000 * dear, attributes: map[string]string{"volumeApiName": "gp3", "group": "EBS IOPS", "usagetype": "EBS:VolumeP-IOPS.gp3"}},
		product{service: "AmazonEC2", family: "Provisioned Throughput", unit: "GiBps-mo", micros: 48000000 * dear, attributes: map[string]string{"volumeApiName": "gp3", "group": "EBS Throughput", "usagetype": "EBS:VolumeP-Throughput.gp3"}})
}

// networkProducts are load balancers and addresses; the latter are in no family.
func networkProducts(dear int64) []product {
	balancer := func(kind, operation, usage, unit string, micros int64) product {
		return product{service: "AWSELB", family: "Load Balancer-" + kind, unit: unit, micros: micros * dear, attributes: map[string]string{"usagetype": usage, "operation": operation}}
	}
	address := func(usage string, micros int64) product {
		return product{service: "AmazonVPC", unit: "Hrs", micros: micros * dear, attributes: map[string]string{"group": "VPCPublicIPv4Address", "usagetype": usage}}
	}
	return []product{
		balancer("Application", "LoadBalancing:Application", "LoadBalancerUsage", "Hrs", 30000), balancer("Application", "LoadBalancing:Application", "TS-LoadBalancerUsage", "Hrs", 6000),
		balancer("Network", "LoadBalancing:Network", "LCUUsage", "LCU-Hrs", 6500), balancer("Network", "LoadBalancing:Network", "Outposts-LoadBalancerUsage", "Hrs", 45000),
		balancer("Network", "LoadBalancing:Network", "LoadBalancerUsage", "Hrs", 27000),
		address("PublicIPv4:IdleAddress", 5000), address("PublicIPv4:ContiguousBlock", 8000), address("PublicIPv4:InUseAddress", 5000),
	}
}

// Codes of terms and rates, which are the same for all products.
const (
	onDemandCode = "JRTCKXETXF"
	reservedCode = "4NA7Y494T4"
	rateCode     = "6YS6EN2CT7"
)

// show is the product with its terms, as the service has it in a string. The prices of
// today follow those of an earlier date, and precede those of a later one.
func (p product) show() map[string]any {
	sku := strings.ToUpper(strings.ReplaceAll(derivedID("", p.service+p.family+fmt.Sprint(p.attributes)), "-", ""))[:16]
	terms := map[string]any{"OnDemand": map[string]any{}}
	for i, date := range []string{"2025-03-01T00:00:00Z", "2024-01-01T00:00:00Z", "2099-01-01T00:00:00Z"} {
		code := onDemandCode
		if i > 0 {
			code += fmt.Sprint(i)
		}
		terms["OnDemand"].(map[string]any)[sku+"."+code] = p.term(sku, code, date, p.micros*int64(i+1), nil) //nolint:forcetypeassert // it was written above
	}
	if p.reserved {
		terms["Reserved"] = map[string]any{sku + "." + reservedCode: p.term(sku, reservedCode, "2025-03-01T00:00:00Z", p.micros/2, map[string]string{"LeaseContractLength": "1yr", "OfferingClass": "standard", "PurchaseOption": "No Upfront"})}
	}
	described := map[string]any{"attributes": p.attributes, "sku": sku}
	if p.family != "" {
		described["productFamily"] = p.family
	}
	return map[string]any{"product": described, "serviceCode": p.service, "terms": terms, "version": "20250301000000", "publicationDate": "2025-03-01T00:00:00Z"}
}

func (p product) term(sku, code, date string, micros int64, attributes map[string]string) map[string]any {
	if attributes == nil {
		attributes = map[string]string{}
	}
	id := strings.Join([]string{sku, code, rateCode}, ".")
	price := fmt.Sprintf("%d.%06d0000", micros/1e6, micros%1e6)
	return map[string]any{
		"sku": sku, "offerTermCode": code, "effectiveDate": date, "termAttributes": attributes,
		"priceDimensions": map[string]any{id: map[string]any{
			"rateCode": id, "unit": p.unit, "beginRange": "0", "endRange": "Inf", "appliesTo": []string{},
			"description": fmt.Sprintf("$%s per %s, invented", price, p.unit), "pricePerUnit": map[string]string{"USD": price},
		}},
	}
}
