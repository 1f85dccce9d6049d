// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

const priceService = "Azure Retail Prices"

// includedRules is how many rules the hourly price of a load balancer includes.
const includedRules = 5

// meter is how the price service finds what Azure charges for.
type meter struct {
	// Service, and those of the others that are set, are exact.
	service, product, sku, size string
	// names are those that the meter may have, with | between them; machines have none.
	names string
	// everywhere is for meters that may be those of all regions.
	everywhere bool
}

// prices asks for machines, disks, addresses and the load balancer. Interfaces, security
// rules and availability sets are free.
func (m machines) prices(ctx context.Context, b provider.Basket) (provider.PriceList, error) {
	list := provider.PriceList{Source: priceService}
	op := "price the machines of " + m.config
	if !m.retail {
		return list, provider.Invalid.New(op, provider.ReasonFieldUnsupported, fmt.Errorf("%s has no prices of %s", priceService, m.arm.Endpoint()), "")
	}
	cart := &cloud.Cart[meter]{}
	for _, s := range b.Machines {
		if err := m.addMachine(ctx, op, cart, s); err != nil {
			return list, within(op, err)
		}
	}
	m.addBalancer(cart, b.LoadBalancer)
	at, err := m.location(ctx)
	if err != nil {
		return list, within(op, err)
	}
	list.Prices, err = cart.Prices(ctx, func(ctx context.Context, q meter) ([]cloud.Rate, error) { return m.rates(ctx, q, at) })
	return list, err
}

func (m machines) addMachine(ctx context.Context, op string, cart *cloud.Cart[meter], s provider.MachineSpec) error {
	a, err := m.resolve(ctx, s, 0)
	if err != nil {
		return err
	}
	cart.Add(provider.PartMachine, a.Size, 1, "", meter{service: "Virtual Machines", size: a.Size})
	addDisk(cart, a.Disk, s.DiskGB)
	for _, d := range s.ExtraDisks {
		kind, err := diskType(op, d, a.Disk)
		if err != nil {
			return err
		}
		addDisk(cart, kind, d.SizeGB)
	}
	if m.spec.PublicIP {
		addAddress(cart)
	}
	return nil
}

func addAddress(cart *cloud.Cart[meter]) {
	cart.Add(provider.PartAddress, "Standard IPv4", 1, "", meter{service: "Virtual Network", product: "IP Addresses", sku: "Standard", names: "Standard IPv4 Static Public IP"})
}

// addBalancer adds the load balancer with its rules, one for each port, and its address.
func (m machines) addBalancer(cart *cloud.Cart[meter], s *provider.LoadBalancerSpec) {
	if s == nil {
		return
	}
	of := meter{service: "Load Balancer", product: "Load Balancer", sku: "Standard", names: "Standard Included LB Rules and Outbound Rules", everywhere: true}
	cart.Add(provider.PartLoadBalancer, "Standard", 1, "", of)
	if more := len(cloud.Ports(*s)) - includedRules; more > 0 {
		of.names = "Standard Overage LB Rules and Outbound Rules"
		cart.Add(provider.PartLoadBalancer, "rules beyond 5", int64(more), "", of)
	}
	if !internal(s.Scheme) {
		addAddress(cart)
	}
}

// addDisk adds a disk by the performance tier that its size falls into: Azure charges for the tier.
func addDisk(cart *cloud.Cart[meter], kind string, sizeGB int32) {
	family, redundancy, _ := strings.Cut(kind, "_")
	product, letter := map[string]string{
		"Premium": "Premium SSD Managed Disks", "StandardSSD": "Standard SSD Managed Disks", "Standard": "Standard HDD Managed Disks",
	}[family], map[string]string{"Premium": "P", "StandardSSD": "E", "Standard": "S"}[family]
	tier := letter + strconv.Itoa(tierOf(kind, sizeGB))
	sku := tier + " " + redundancy
	names := strings.Join([]string{sku + " Disk", tier + " Disk", tier + " Disks"}, "|")
	cart.Add(provider.PartDisk, sku, 1, "", meter{service: "Storage", product: product, sku: sku, names: names})
}

// tierOf is the number in the name of the smallest tier that holds a disk.
func tierOf(kind string, sizeGB int32) int {
	tiers := []struct {
		sizeGB int32
		number int
	}{{4, 1}, {8, 2}, {16, 3}, {32, 4}, {64, 6}, {128, 10}, {256, 15}, {512, 20}, {1024, 30}, {2048, 40}, {4096, 50}, {8192, 60}, {16384, 70}}
	for _, t := range tiers {
		if sizeGB <= t.sizeGB && (t.number >= 4 || kind != string(armcompute.StorageAccountTypesStandardLRS)) {
			return t.number
		}
	}
	return 80
}
