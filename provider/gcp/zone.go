// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
)

const reasonZoneNotFound = "ZoneNotFound"

// allZones lists the zones of the project, in the order of their names.
func (p *platform) allZones(ctx context.Context) ([]*computepb.Zone, error) {
	return p.places.Get(ctx, "", func(ctx context.Context) (all []*computepb.Zone, err error) {
		ctx, end := p.bind(ctx)
		defer end()
		for z, err := range p.zones.List(ctx, &computepb.ListZonesRequest{Project: p.spec.ProjectID}).All() {
			if err != nil {
				return nil, err
			}
			all = append(all, z)
		}
		slices.SortFunc(all, func(a, b *computepb.Zone) int { return strings.Compare(a.GetName(), b.GetName()) })
		return all, nil
	})
}

// zoneNames returns the zones that machines are spread over: that of the settings, else
// those of the region that are up.
func (p *platform) zoneNames(ctx context.Context) ([]string, error) {
	all, err := p.allZones(ctx)
	if err != nil {
		return nil, err
	}
	names := usableZones(all, p.spec.Region, p.spec.Zone)
	if len(names) > 0 {
		return names, nil
	}
	wanted := "region " + p.spec.Region
	if p.spec.Zone != "" {
		wanted = "zone " + p.spec.Zone + " of " + wanted
	}
	return nil, provider.Invalid.New("", reasonZoneNotFound, fmt.Errorf("the project has no %s that is up", wanted), "correct spec.gcp.region or spec.gcp.zone; the project has "+strings.Join(regionsOf(all), ", "))
}

// usableZones are the zones of a region that take machines; one that is named is the only
// one.
func usableZones(all []*computepb.Zone, region, zone string) (names []string) {
	for _, z := range all {
		if lastOf(z.GetRegion()) == region && cmp.Or(zone, z.GetName()) == z.GetName() && z.GetStatus() != computepb.Zone_DOWN.String() {
			names = append(names, z.GetName())
		}
	}
	return names
}

func regionsOf(all []*computepb.Zone) (names []string) {
	for _, z := range all {
		names = append(names, lastOf(z.GetRegion()))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// itself is the zone of a place that is a zone.
func itself(zone string) string { return zone }
