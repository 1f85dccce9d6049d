// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// regional is the quota of all processors of a location.
const regional = "cores"

// quotas compares the processors of the machines with what the subscription has left in
// the location, of each family and of all.
func (p preflight) quotas(ctx context.Context, specs []provider.MachineSpec) (all []provider.Finding, err error) {
	asked := map[string]int32{}
	for _, s := range specs {
		spots, known, err := p.chosen(ctx, s)
		if !known {
			return nil, err // another check reports the image
		}
		if err != nil {
			return nil, cloud.Unreported(within("", err))
		}
		one := spots[cloud.NumberOf(s.Name)%len(spots)].size
		asked[one.quota] += one.CPU
		asked[regional] += one.CPU
	}
	if len(asked) == 0 {
		return nil, nil
	}
	left, err := p.usages(ctx)
	if err != nil && !forbidden(err) {
		return nil, err
	}
	for _, name := range sortedKeys(asked) {
		q := cloud.Quota{Name: name, Unit: "vCPUs", Asked: asked[name], Grant: "grant Microsoft.Compute/locations/usages/read", Raise: "raise the quota " + name + " of the location, or request less"}
		if u := left[strings.ToLower(name)]; u != nil {
			q.Used, q.Limit = value(u.CurrentValue), new(float64(value(u.Limit)))
		}
		all = append(all, q.Finding())
	}
	return all, nil
}

// usages returns what is left of each quota, by its name in lower case.
func (p preflight) usages(ctx context.Context) (map[string]*armcompute.Usage, error) {
	at, err := p.location(ctx)
	if err != nil {
		return nil, err
	}
	all, err := drain(ctx, p.usage.NewListPager(at, nil), func(r armcompute.UsageClientListResponse) []*armcompute.Usage { return r.Value })
	by := map[string]*armcompute.Usage{}
	for _, u := range all {
		if u.Name != nil {
			by[strings.ToLower(value(u.Name.Value))] = u
		}
	}
	return by, err
}
