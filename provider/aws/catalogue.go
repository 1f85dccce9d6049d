// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider"
)

// fresh is how long the types of the region are kept: they change by the month.
const fresh = 5 * time.Minute

// catalogue reads which instance types the region has, and which of them its zones offer.
type catalogue struct {
	ec2    *ec2.Client
	sizes  *recent[[]size]
	offers *recent[map[string]map[string]bool] // by zone
}

func newCatalogue(api *ec2.Client) *catalogue {
	return &catalogue{api, newRecent[[]size](fresh), newRecent[map[string]map[string]bool](fresh)}
}

// in returns the sizes that a zone offers.
func (c *catalogue) in(ctx context.Context, zone string) ([]size, error) {
	offers, err := c.offers.get(ctx, "", c.readOffers)
	if err != nil {
		return nil, err
	}
	sizes, err := c.sizes.get(ctx, "", c.readSizes)
	return slices.DeleteFunc(slices.Clone(sizes), func(s size) bool { return !offers[zone][s.name] }), err
}

func (c *catalogue) readSizes(ctx context.Context) (all []size, err error) {
	pages := ec2.NewDescribeInstanceTypesPaginator(c.ec2, &ec2.DescribeInstanceTypesInput{MaxResults: new(int32(100)), Filters: []types.Filter{
		filter("current-generation", "true"), filter("bare-metal", "false"), filter("burstable-performance-supported", "false"),
	}})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range page.InstanceTypes {
			all = append(all, sizeOf(t))
		}
	}
	return all, nil
}

func (c *catalogue) readOffers(ctx context.Context) (map[string]map[string]bool, error) {
	all := map[string]map[string]bool{}
	pages := ec2.NewDescribeInstanceTypeOfferingsPaginator(c.ec2, &ec2.DescribeInstanceTypeOfferingsInput{
		LocationType: types.LocationTypeAvailabilityZone, MaxResults: new(int32(1000)),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
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
	offers, err := c.offers.get(ctx, "", c.readOffers)
	return offers[zone][name], err
}

// named returns a size by its name, also one that is never chosen.
func (c *catalogue) named(ctx context.Context, name string) (size, error) {
	found, err := c.sizes.get(ctx, name, func(ctx context.Context) ([]size, error) { return c.readNamed(ctx, name) })
	if err != nil {
		return size{}, err
	}
	return found[0], nil
}

func (c *catalogue) readNamed(ctx context.Context, name string) ([]size, error) {
	out, err := c.ec2.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{types.InstanceType(name)}})
	if coded(err, "InvalidInstanceType", "InvalidParameterValue") || err == nil && len(out.InstanceTypes) == 0 {
		return nil, provider.Invalid.New("", reasonTypeNotFound, fmt.Errorf("the region has no instance type %q", name), hintType)
	}
	if err != nil {
		return nil, err
	}
	return []size{sizeOf(out.InstanceTypes[0])}, nil
}

const (
	reasonTypeNotFound = "InstanceTypeNotFound"
	reasonTypeTooSmall = "InstanceTypeTooSmall"
	hintType           = "correct spec.aws.instanceType, or leave it out"
)

// sizeFor returns the size of a machine in a zone: the one of the settings, else the
// smallest that the zone offers.
func (p *platform) sizeFor(ctx context.Context, s provider.MachineSpec, architecture, zone string) (size, error) {
	if p.spec.InstanceType != "" {
		return p.namedFor(ctx, s, architecture, zone)
	}
	sizes, err := p.settings.in(ctx, zone)
	if err != nil {
		return size{}, err
	}
	best, found := choose(sizes, s.CPU, s.MemoryMB, architecture)
	if !found {
		return size{}, provider.Invalid.New("", reasonTypeNotFound, fmt.Errorf("zone %s offers no instance type with %d vCPUs and %d MiB of memory for an image of %s", zone, s.CPU, s.MemoryMB, architecture),
			"ask for less, set spec.aws.instanceType, or use subnets of other zones")
	}
	return best, nil
}

// namedFor refuses a size of the settings that is too small, or that the image or the
// zone cannot have.
func (p *platform) namedFor(ctx context.Context, s provider.MachineSpec, architecture, zone string) (size, error) {
	one, err := p.settings.named(ctx, p.spec.InstanceType)
	if err != nil {
		return size{}, err
	}
	offered, err := p.settings.offered(ctx, zone, one.name)
	switch {
	case err != nil:
		return size{}, err
	case !slices.Contains(one.architectures, architecture):
		err = fmt.Errorf("instance type %s does not boot an image of %s", one.name, architecture)
	case !one.fits(s.CPU, s.MemoryMB, architecture):
		return size{}, provider.Invalid.New("", reasonTypeTooSmall, fmt.Errorf("instance type %s has %d vCPUs and %d MiB of memory; %d and %d are asked for", one.name, one.cpu, one.memoryMB, s.CPU, s.MemoryMB), hintType)
	case !offered:
		err = errors.New("zone " + zone + " does not offer instance type " + one.name)
	}
	if err != nil {
		return size{}, provider.Invalid.New("", reasonTypeNotFound, err, hintType)
	}
	return one, nil
}
