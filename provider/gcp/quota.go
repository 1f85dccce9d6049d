// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"maps"
	"slices"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// quotaOf names the quota of processors that a type counts for. Series without one of
// their own share one.
func quotaOf(s cloud.Size) string {
	switch s.Family {
	case "e2", "n1", "t2d", "t2a":
		return "CPUS"
	}
	return strings.ToUpper(s.Family) + "_CPUS"
}

// quota compares what the machines need with what the region has left.
func (p preflight) quota(ctx context.Context, specs []provider.MachineSpec) (all []provider.Finding, err error) {
	chosen, err := p.chosen(ctx, specs)
	if err != nil || len(chosen) == 0 {
		return nil, err
	}
	region, err := p.regions.Get(ctx, &computepb.GetRegionRequest{Project: p.spec.ProjectID, Region: p.spec.Region})
	if err != nil {
		return nil, cloud.Unreported(within("", err))
	}
	units := map[string]string{"INSTANCES": "instances", "SSD_TOTAL_GB": "GBs", "IN_USE_ADDRESSES": "IPs"}
	asked := cloud.Processors(chosen, quotaOf)
	for metric := range asked {
		units[metric] = "vCPUs"
	}
	asked["INSTANCES"] = int32(len(specs))
	for _, s := range specs {
		for _, gb := range disksGB(s) {
			asked["SSD_TOTAL_GB"] += gb
		}
		if p.spec.PublicIP {
			asked["IN_USE_ADDRESSES"]++
		}
	}
	for _, metric := range slices.Sorted(maps.Keys(asked)) {
		all = append(all, regionQuota(region, metric, units[metric], asked[metric]).Finding())
	}
	return all, nil
}

// disksGB are the sizes of the disks that count as SSD.
func disksGB(s provider.MachineSpec) []int32 {
	all := []int32{s.DiskGB}
	for _, d := range s.ExtraDisks {
		if d.StorageClass != "pd-standard" {
			all = append(all, d.SizeGB)
		}
	}
	return all
}

// regionQuota reads a quota of a region; one that it does not have is not limited there.
func regionQuota(region *computepb.Region, metric, unit string, asked int32) cloud.Quota {
	q := cloud.Quota{Name: metric, Unit: unit, Asked: asked, Grant: "compare it with the quotas of the project", Raise: "raise the quota " + metric + " of region " + region.GetName() + ", or request less"}
	for _, have := range region.GetQuotas() {
		if have.GetMetric() == metric {
			q.Limit, q.Used = new(have.GetLimit()), int32(min(have.GetUsage(), 1e9))
		}
	}
	return q
}
