// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

const (
	priceService = "Cloud Billing Catalog"

	// Services of the catalogue.
	ofCompute    = "services/6F81-5844-456A"
	ofNetworking = "services/E505-1604-58F8"

	// includedRules is how many forwarding rules the least charge includes.
	includedRules = 5
)

// goods are what the catalogue has the price of. Descriptions are those of SKUs without the
// place, with | between those that an SKU may have.
type goods struct {
	core, ram     string // of a machine
	cpu, memoryMB int32
	other         string
	global        bool // the SKU is the same in all regions
	// unsold is why there is no price, whatever the catalogue has.
	unsold string
}

// prices asks for machines, disks, public addresses and forwarding rules. Health checks,
// instance groups, firewall rules and the address of a forwarding rule are free.
func (m machines) prices(ctx context.Context, b provider.Basket) (provider.PriceList, error) {
	list := provider.PriceList{Source: priceService}
	op := "price the machines of " + m.config
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // of what is read in the background
	c := m.readCatalogue(ctx)
	cart := &cloud.Cart[goods]{}
	for _, s := range b.Machines {
		if err := m.addMachine(ctx, op, cart, s); err != nil {
			return list, within(op, err)
		}
	}
	addRules(cart, b.LoadBalancer)
	var err error
	list.Prices, err = cart.Prices(ctx, c.rates)
	return list, err
}

func (m machines) addMachine(ctx context.Context, op string, cart *cloud.Cart[goods], s provider.MachineSpec) error {
	a, err := m.resolve(ctx, s, 0, 0)
	if err != nil {
		return err
	}
	t, err := m.types.Get(ctx, &computepb.GetMachineTypeRequest{Project: m.spec.ProjectID, Zone: a.Zone, MachineType: a.Type})
	if err != nil {
		return err
	}
	cart.Add(provider.PartMachine, a.Type, 1, "", machineGoods(t))
	disks, err := disksOf(op, s, a, nil)
	if err != nil {
		return err
	}
	for _, d := range disks {
		kind := lastOf(d.GetInitializeParams().GetDiskType())
		cart.Add(provider.PartDisk, kind, d.GetInitializeParams().GetDiskSizeGb(), "GiB", diskGoods(kind))
	}
	if m.spec.PublicIP {
		cart.Add(provider.PartAddress, "external IPv4", 1, "", goods{other: "External IP Charge on a Standard VM", global: true})
	}
	return nil
}

// machineGoods are the processors and the memory of a type. A type with more than these has
// no price here: it would be a part of it.
func machineGoods(t *computepb.MachineType) goods {
	series, custom := seriesOf(t.GetName()), customName.MatchString(t.GetName())
	name, known := soldAs(custom)[series]
	g := goods{cpu: t.GetGuestCpus(), memoryMB: t.GetMemoryMb()}
	switch {
	case t.GetIsSharedCpu():
		g.unsold = "a shared processor is charged by another measure"
	case len(t.GetAccelerators()) > 0 || t.GetBundledLocalSsds().GetPartitionCount() > 0:
		g.unsold = "accelerators and local disks are charged beside processors and memory"
	case custom && g.memoryMB > g.cpu*perProcessor:
		g.unsold = "extended memory is charged by another measure"
	case !known:
		g.unsold = "prices of this series are not looked up"
	default:
		g.core, g.ram = name+" Core", name+" Ram"
	}
	if series == "c2" && g.unsold == "" {
		g.core, g.ram = g.core+"|Compute optimized Instance Core", g.ram+"|Compute optimized Instance Ram"
	}
	return g
}

// soldAs is how descriptions name the machines of a series.
func soldAs(custom bool) map[string]string {
	if custom {
		return map[string]string{"e2": "E2 Custom Instance", "n1": "Custom Instance", "n2": "N2 Custom Instance", "n2d": "N2D AMD Custom Instance", "n4": "N4 Custom Instance"}
	}
	return map[string]string{
		"e2": "E2 Instance", "n1": "N1 Predefined Instance", "n2": "N2 Instance", "n2d": "N2D AMD Instance", "n4": "N4 Instance", "t2d": "T2D AMD Instance", "t2a": "T2A Arm Instance",
		"c2": "Compute optimized", "c2d": "C2D AMD Instance", "c3": "C3 Instance", "c3d": "C3D Instance", "c4": "C4 Instance", "c4a": "C4A Arm Instance", "c4d": "C4D Instance",
	}
}

// diskGoods is the capacity of a disk. That of a Hyperdisk is a part of its price.
func diskGoods(kind string) goods {
	name, known := map[string]string{"pd-balanced": "Balanced PD Capacity", "pd-ssd": "SSD backed PD Capacity", "pd-standard": "Storage PD Capacity"}[kind]
	if !known {
		return goods{unsold: "its operations and throughput may be charged beside its capacity"}
	}
	return goods{other: name}
}

// addRules adds a forwarding rule for each port. A project pays for its first ones together;
// the price is that of a project without others.
func addRules(cart *cloud.Cart[goods], s *provider.LoadBalancerSpec) {
	if s == nil {
		return
	}
	cart.Add(provider.PartLoadBalancer, "up to 5 rules", 1, "",
		goods{other: "Cloud Load Balancer Forwarding Rule Minimum|Network Load Balancing: Forwarding Rule Minimum Service Charge"})
	if more := len(cloud.Ports(*s)) - includedRules; more > 0 {
		cart.Add(provider.PartLoadBalancer, "rules beyond 5", int64(more), "",
			goods{other: "Cloud Load Balancer Forwarding Rule Additional|Network Load Balancing: Forwarding Rule Additional Service Charge"})
	}
}

// rates are the prices of goods; that of a machine is the sum of its parts.
func (c *skus) rates(ctx context.Context, g goods) ([]cloud.Rate, error) {
	if g.unsold != "" {
		return nil, cloud.NoRate(g.unsold)
	}
	if g.core == "" {
		return c.described(ctx, g.other, g.global)
	}
	core, err := c.one(ctx, g.core, "processors")
	if err != nil {
		return nil, err
	}
	ram, err := c.one(ctx, g.ram, "memory")
	if err != nil {
		return nil, err
	}
	if core.Currency != ram.Currency || core.Period != ram.Period {
		return nil, cloud.NoRate("its processors and its memory are charged in other units")
	}
	sum := new(big.Rat).Mul(core.Price, big.NewRat(int64(g.cpu), 1))
	sum.Add(sum, new(big.Rat).Mul(ram.Price, big.NewRat(int64(g.memoryMB), 1024)))
	since := slices.MaxFunc([]cloud.Rate{core, ram}, func(a, b cloud.Rate) int { return a.Since.Compare(b.Since) }).Since
	return []cloud.Rate{{Price: sum, Currency: core.Currency, Period: core.Period, Since: since}}, nil
}

func (c *skus) one(ctx context.Context, description, what string) (cloud.Rate, error) {
	found, err := c.described(ctx, description, false)
	if err != nil {
		return cloud.Rate{}, err
	}
	one, err := cloud.Only(found)
	if err != nil {
		return one, cloud.NoRate(fmt.Sprintf("its %s: %v", what, err))
	}
	return one, nil
}
