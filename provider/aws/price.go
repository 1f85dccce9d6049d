// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

const (
	priceService = "AWS Price List"

	hintPrices = "grant pricing:GetProducts to see prices; it is optional"
)

// product is how the price service finds what AWS charges for. Fields that are set are exact.
type product struct {
	service                         string
	family, instance, volume, group string
	// usage is the type of usage, without the mark of the region before it.
	usage string
}

// prices asks for machines, volumes, public addresses and the load balancer. Interfaces,
// security groups and target groups are free.
func (m machines) prices(ctx context.Context, b provider.Basket) (provider.PriceList, error) {
	list := provider.PriceList{Source: priceService}
	op := "price the machines of " + m.config
	if m.pricing.GetProducts == nil {
		return list, provider.Invalid.New(op, provider.ReasonFieldUnsupported, errors.New("AWS has no price service for region "+m.spec.Region), "")
	}
	cart := &cloud.Cart[product]{}
	for _, s := range b.Machines {
		if err := m.addMachine(ctx, op, cart, s); err != nil {
			return list, within(op, err)
		}
	}
	if err := m.addBalancer(ctx, cart, b.LoadBalancer); err != nil {
		return list, within(op, err)
	}
	var err error
	list.Prices, err = cart.Prices(ctx, m.rates)
	return list, err
}

func (m machines) addMachine(ctx context.Context, op string, cart *cloud.Cart[product], s provider.MachineSpec) error {
	a, err := m.resolve(ctx, s, 0)
	if err != nil {
		return err
	}
	cart.Add(provider.PartMachine, a.Type, 1, "", product{service: "AmazonEC2", family: "Compute Instance", instance: a.Type})
	disks, err := disksOf(op, s, a)
	if err != nil {
		return err
	}
	for _, d := range disks {
		kind := string(d.Ebs.VolumeType)
		cart.Add(provider.PartDisk, kind, int64(value(d.Ebs.VolumeSize)), "GiB", product{service: "AmazonEC2", family: "Storage", volume: kind, usage: volumeUsage(kind)})
	}
	if m.spec.PublicIP {
		addAddresses(cart, 1)
	}
	return nil
}

// volumeUsage is the type of usage of a volume's capacity. That of magnetic volumes has no
// name after it.
func volumeUsage(kind string) string {
	if kind == string(types.VolumeTypeStandard) {
		return "EBS:VolumeUsage"
	}
	return "EBS:VolumeUsage." + kind
}

func addAddresses(cart *cloud.Cart[product], count int64) {
	cart.Add(provider.PartAddress, "public IPv4", count, "", product{service: "AmazonVPC", group: "VPCPublicIPv4Address", usage: "PublicIPv4:InUseAddress"})
}

// addBalancer adds the load balancer, and an address in each of its zones if clients on the
// internet reach it.
func (m machines) addBalancer(ctx context.Context, cart *cloud.Cart[product], s *provider.LoadBalancerSpec) error {
	if s == nil {
		return nil
	}
	cart.Add(provider.PartLoadBalancer, "network", 1, "", product{service: "AWSELB", family: "Load Balancer-Network", usage: "LoadBalancerUsage"})
	if s.Scheme == v1alpha1.SchemeInternal {
		return nil
	}
	subnets, err := m.subnets(ctx)
	if err != nil {
		return err
	}
	zones := perZone(subnets, nil, nil)
	addAddresses(cart, int64(len(zones)))
	return nil
}
