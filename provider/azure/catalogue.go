// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"

	"github.com/butlerdotdev/butler/provider"
)

const (
	archX64   = "x64"
	archArm64 = "Arm64"

	hintSize = "correct spec.azure.vmSize, or leave it out"
)

// catalogue returns the sizes of the location.
func (p *platform) catalogue(ctx context.Context) ([]size, error) {
	at, err := p.location(ctx)
	if err != nil {
		return nil, err
	}
	return p.sizes.Get(ctx, at, func(ctx context.Context) (all []size, err error) {
		pages := p.skus.NewListPager(&armcompute.ResourceSKUsClientListOptions{Filter: new("location eq '" + at + "'")})
		found, err := drain(ctx, pages, func(r armcompute.ResourceSKUsClientListResponse) []*armcompute.ResourceSKU { return r.Value })
		for _, s := range found {
			if strings.EqualFold(value(s.ResourceType), "virtualMachines") {
				all = append(all, sizeOf(s))
			}
		}
		return all, err
	})
}

// zonesOf returns the zones of the location, as far as any size is offered there.
func zonesOf(sizes []size) (all []string) {
	for _, s := range sizes {
		all = append(all, s.zones...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// spot is where a machine can be, and its size there.
type spot struct {
	zone string // empty: the location has no zones for it
	size size
}

// spots returns the zones in which a machine can be, each with its size. A location
// without zones, or without the size in any of them, is one spot.
func (p *platform) spots(ctx context.Context, s provider.MachineSpec, i image) ([]spot, error) {
	sizes, err := p.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	d := demand{s.CPU, s.MemoryMB, len(s.ExtraDisks), i.architecture, i.generation}
	if p.spec.VMSize != "" {
		one, err := p.named(sizes, d)
		if err != nil {
			return nil, err
		}
		sizes = []size{one}
	}
	var all []spot
	for _, z := range append(zonesOf(sizes), "") {
		if z == "" && len(all) > 0 {
			break
		}
		if p.spec.VMSize != "" && sizes[0].in(z) {
			all = append(all, spot{z, sizes[0]})
		} else if best, found := choose(sizes, d, z); found {
			all = append(all, spot{z, best})
		}
	}
	if len(all) == 0 {
		return nil, provider.Invalid.New("", provider.ReasonInstanceTypeNotFound, fmt.Errorf("the location offers the subscription no size with %d vCPUs, %d MiB of memory and %d data disks for an image of %s", s.CPU, s.MemoryMB, len(s.ExtraDisks), i.architecture),
			"request less, or set spec.azure.vmSize")
	}
	return all, nil
}

// named refuses a size of the settings that is too small, or that the image cannot have.
func (p *platform) named(sizes []size, d demand) (size, error) {
	i := slices.IndexFunc(sizes, func(s size) bool { return strings.EqualFold(s.Name, p.spec.VMSize) })
	if i < 0 {
		return size{}, provider.Invalid.New("", provider.ReasonInstanceTypeNotFound, fmt.Errorf("the location has no size %q", p.spec.VMSize), hintSize)
	}
	one := sizes[i]
	if why := one.obstacle(d); why != "" {
		return size{}, provider.Invalid.New("", provider.ReasonInstanceTypeNotFound, fmt.Errorf("size %s: %s", one.Name, why), hintSize)
	}
	if !one.Holds(d.cpu, d.memoryMB) {
		return size{}, provider.Invalid.New("", provider.ReasonInstanceTypeTooSmall, fmt.Errorf("size %s has %d vCPUs and %d MiB of memory; %d and %d are requested", one.Name, one.CPU, one.MemoryMB, d.cpu, d.memoryMB), hintSize)
	}
	return one, nil
}

// architecture is that of the images that are looked up for the settings.
func (p *platform) architecture(ctx context.Context) (string, error) {
	if p.spec.VMSize == "" {
		return archX64, nil
	}
	sizes, err := p.catalogue(ctx)
	for _, s := range sizes {
		if strings.EqualFold(s.Name, p.spec.VMSize) {
			return s.Architectures[0], nil
		}
	}
	return archX64, err
}
