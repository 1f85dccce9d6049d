// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

const (
	x86 = "X86_64"
	arm = "ARM64"
)

// catalogue has the series from which a type is chosen: their disks are balanced
// persistent disks, which the guest finds by their names. Others are used if they are named.
func catalogue() cloud.Catalogue {
	return cloud.Catalogue{
		Noun: "machine type", Field: "spec.gcp.machineType", Elsewhere: "use another region",
		Families: cloud.Families{"e2", "n2", "n2d", "t2d", "t2a", "c2", "c2d"},
	}
}

// seriesOf is the first word of a type, such as n2 in n2-standard-4; those of the first
// series without one are n1's.
func seriesOf(name string) string {
	series, _, _ := strings.Cut(name, "-")
	if series == "custom" || series == "f1" || series == "g1" {
		return "n1"
	}
	return series
}

// sizeOf reads a type of a zone's catalogue. Shared processors, accelerators, local disks
// and series of other disks are special.
func sizeOf(t *computepb.MachineType) cloud.Size {
	s := cloud.Size{Name: t.GetName(), CPU: t.GetGuestCpus(), MemoryMB: t.GetMemoryMb(), Family: seriesOf(t.GetName()), Architectures: []string{x86}}
	if t.GetArchitecture() == arm || slices.Contains([]string{"t2a", "c4a", "n4a"}, s.Family) {
		s.Architectures = []string{arm}
	}
	s.LocalDisks = t.GetBundledLocalSsds().GetPartitionCount() > 0
	s.Special = t.GetIsSharedCpu() || len(t.GetAccelerators()) > 0 || s.LocalDisks || t.GetDeprecated().GetState() != "" || !slices.Contains(catalogue().Families, s.Family)
	return s
}

// sizesIn lists the types that a zone offers.
func (p *platform) sizesIn(ctx context.Context, zone string) ([]cloud.Size, error) {
	return p.sizes.Get(ctx, zone, func(ctx context.Context) (all []cloud.Size, err error) {
		ctx, end := p.bind(ctx)
		defer end()
		for t, err := range p.types.List(ctx, &computepb.ListMachineTypesRequest{Project: p.spec.ProjectID, Zone: zone}).All() {
			if err != nil {
				return nil, err
			}
			all = append(all, sizeOf(t))
		}
		return all, nil
	})
}

// sizeFor returns the type of a machine in a zone: the one of the settings, else the
// smallest predefined one that the zone offers, else a custom one.
func (p *platform) sizeFor(ctx context.Context, s provider.MachineSpec, architecture, zone string) (cloud.Size, error) {
	sizes, err := p.sizesIn(ctx, zone)
	if err != nil {
		return cloud.Size{}, err
	}
	wanted := p.spec.MachineType
	if wanted != "" && !isSeries(wanted, sizes) {
		return p.namedFor(ctx, s, sizes, architecture, zone)
	}
	sizes = ofSeries(sizes, wanted)
	best, err := catalogue().Smallest(sizes, s, architecture, zone)
	if err == nil {
		return best, nil
	}
	if custom, ok := customSize(sizes, s.CPU, s.MemoryMB, architecture); ok {
		return custom, nil
	}
	return cloud.Size{}, err
}

// isSeries reports whether the settings name a series, such as n2, and no type.
func isSeries(name string, sizes []cloud.Size) bool {
	return slices.ContainsFunc(sizes, func(s cloud.Size) bool { return s.Family == name })
}

// ofSeries returns the types of a series, of which those with processors of their own may
// be chosen; without a series all types.
func ofSeries(sizes []cloud.Size, series string) (all []cloud.Size) {
	if series == "" {
		return sizes
	}
	for _, s := range sizes {
		if strings.HasPrefix(s.Name, series+"-") {
			s.Special = s.Special && slices.Contains(catalogue().Families, series)
			all = append(all, s)
		}
	}
	return all
}

// namedFor refuses a type of the settings that is too small, or that the image or the zone
// cannot have. Custom types are in no listing.
func (p *platform) namedFor(ctx context.Context, s provider.MachineSpec, sizes []cloud.Size, architecture, zone string) (cloud.Size, error) {
	name := p.spec.MachineType
	i := slices.IndexFunc(sizes, func(s cloud.Size) bool { return s.Name == name })
	if i >= 0 {
		return sizes[i], catalogue().Accept(sizes[i], true, s, architecture, zone)
	}
	t, err := p.types.Get(ctx, &computepb.GetMachineTypeRequest{Project: p.spec.ProjectID, Zone: zone, MachineType: name})
	if gone(err) || coded(err, "invalid") {
		return cloud.Size{}, catalogue().Unknown("zone "+zone, name)
	}
	if err != nil {
		return cloud.Size{}, err
	}
	one := sizeOf(t)
	return one, catalogue().Accept(one, true, s, architecture, zone)
}

// series is how custom types of a series are sized.
type series struct {
	name string
	most int32 // processors
	// step is the number by which processors grow.
	step func(cpu int32) int32
}

// customSeries are those in which custom types have up to 8 GB for each processor.
func customSeries() []series {
	even := func(int32) int32 { return 2 }
	return []series{
		{"e2", 32, even},
		{"n2", 80, func(cpu int32) int32 {
			if cpu > 32 {
				return 4
			}
			return 2
		}},
		{"n2d", 96, func(cpu int32) int32 {
			switch {
			case cpu > 16:
				return 16
			case cpu > 8:
				return 8
			case cpu > 4:
				return 4
			}
			return 2
		}},
	}
}

const (
	perProcessor   = 8 << 10 // MiB of a custom type, at most
	leastProcessor = 512     // and at least
	memoryStep     = 256
)

// customSize returns the smallest custom type for a machine, false if there is none among
// the series of the sizes.
func customSize(sizes []cloud.Size, cpu, memoryMB int32, architecture string) (cloud.Size, bool) {
	for _, f := range customSeries() {
		if architecture != x86 || !isSeries(f.name, sizes) {
			continue
		}
		need := max(cpu, roundUp(memoryMB, perProcessor)/perProcessor, 2)
		count := roundUp(need, f.step(need))
		memory := roundUp(max(memoryMB, count*leastProcessor), memoryStep)
		if count <= f.most && (f.name != "e2" || memory <= 128<<10) {
			return cloud.Size{Name: fmt.Sprintf("%s-custom-%d-%d", f.name, count, memory), CPU: count, MemoryMB: memory, Family: f.name, Architectures: []string{x86}}, true
		}
	}
	return cloud.Size{}, false
}

func roundUp(n, step int32) int32 { return (n + step - 1) / step * step }

// architectureOf is that of the images that are looked up for the settings.
func (p *platform) architectureOf() string {
	if s := seriesOf(p.spec.MachineType); s == "t2a" || s == "c4a" || s == "n4a" {
		return arm
	}
	return x86
}

// diskType is the type of disks for a series: the newest ones have Hyperdisks only.
func diskType(series string) string {
	if slices.Contains([]string{"n4", "n4a", "n4d", "c4", "c4a", "c4d", "m4", "x4", "h4d", "z4"}, series) {
		return "hyperdisk-balanced"
	}
	return "pd-balanced"
}

// customName matches the names of custom types.
var customName = regexp.MustCompile(`^(?:[a-z0-9]+-)?custom-[0-9]+-[0-9]+(?:-ext)?$`)
