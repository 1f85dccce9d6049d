// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// fresh is how long the types of the region are kept: they change by the month.
const fresh = 5 * time.Minute

// catalogue reads which instance types the region has, and which of them its zones offer.
type catalogue struct {
	ec2    ec2Calls
	sizes  *cloud.Recent[[]cloud.Size]
	offers *cloud.Recent[map[string]map[string]bool] // by zone
}

func newCatalogue(api ec2Calls) *catalogue {
	return &catalogue{api, cloud.NewRecent[[]cloud.Size](fresh), cloud.NewRecent[map[string]map[string]bool](fresh)}
}

// in returns the sizes that a zone offers.
func (c *catalogue) in(ctx context.Context, zone string) ([]cloud.Size, error) {
	offers, err := c.offers.Get(ctx, "", c.readOffers)
	if err != nil {
		return nil, err
	}
	sizes, err := c.sizes.Get(ctx, "", c.readSizes)
	return slices.DeleteFunc(slices.Clone(sizes), func(s cloud.Size) bool { return !offers[zone][s.Name] }), err
}

func (c *catalogue) readSizes(ctx context.Context) (all []cloud.Size, err error) {
	in := &ec2.DescribeInstanceTypesInput{MaxResults: new(int32(100)), Filters: []types.Filter{
		filter("current-generation", "true"), filter("bare-metal", "false"), filter("burstable-performance-supported", "false"),
	}}
	for more := true; more; more = value(in.NextToken) != "" {
		page, err := c.ec2.DescribeInstanceTypes(ctx, in)
		if err != nil {
			return nil, err
		}
		in.NextToken = page.NextToken
		for _, t := range page.InstanceTypes {
			all = append(all, sizeOf(t))
		}
	}
	return all, nil
}

func (c *catalogue) readOffers(ctx context.Context) (map[string]map[string]bool, error) {
	all := map[string]map[string]bool{}
	in := &ec2.DescribeInstanceTypeOfferingsInput{
		LocationType: types.LocationTypeAvailabilityZone, MaxResults: new(int32(1000)),
	}
	for more := true; more; more = value(in.NextToken) != "" {
		page, err := c.ec2.DescribeInstanceTypeOfferings(ctx, in)
		if err != nil {
			return nil, err
		}
		in.NextToken = page.NextToken
		for _, o := range page.InstanceTypeOfferings {
			zone := value(o.Location)
			if all[zone] == nil {
				all[zone] = map[string]bool{}
			}
			all[zone][string(o.InstanceType)] = true
		}
	}
	return all, nil
}

// offered reports whether a zone offers a type.
func (c *catalogue) offered(ctx context.Context, zone, name string) (bool, error) {
	offers, err := c.offers.Get(ctx, "", c.readOffers)
	return offers[zone][name], err
}

// named returns a size by its name, also one that is never chosen.
func (c *catalogue) named(ctx context.Context, name string) (cloud.Size, error) {
	found, err := c.sizes.Get(ctx, name, func(ctx context.Context) ([]cloud.Size, error) { return c.readNamed(ctx, name) })
	if err != nil {
		return cloud.Size{}, err
	}
	return found[0], nil
}

func (c *catalogue) readNamed(ctx context.Context, name string) ([]cloud.Size, error) {
	out, err := c.ec2.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{types.InstanceType(name)}})
	if coded(err, "InvalidInstanceType", "InvalidParameterValue") || err == nil && len(out.InstanceTypes) == 0 {
		return nil, typesOf().Unknown("the region", name)
	}
	if err != nil {
		return nil, err
	}
	return []cloud.Size{sizeOf(out.InstanceTypes[0])}, nil
}

// sizeFor returns the size of a machine in a zone: the one of the settings, else the
// smallest that the zone offers.
func (p *platform) sizeFor(ctx context.Context, s provider.MachineSpec, architecture, zone string) (cloud.Size, error) {
	if p.spec.InstanceType == "" {
		sizes, err := p.settings.in(ctx, zone)
		if err != nil {
			return cloud.Size{}, err
		}
		return typesOf().Smallest(sizes, s, architecture, zone)
	}
	one, err := p.settings.named(ctx, p.spec.InstanceType)
	if err != nil {
		return cloud.Size{}, err
	}
	offered, err := p.settings.offered(ctx, zone, one.Name)
	if err != nil {
		return cloud.Size{}, err
	}
	return one, typesOf().Accept(one, offered, s, architecture, zone)
}
