// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"

	"github.com/butlerdotdev/butler/provider"
)

// regional is the quota of all processors of a location.
const regional = "cores"

// quotas compares the processors of the machines with what the subscription has left in
// the location, of each family and of all.
func (p preflight) quotas(ctx context.Context, specs []provider.MachineSpec) (all []provider.Finding, err error) {
	asked := map[string]int64{}
	for _, s := range specs {
		spots, known, err := p.chosen(ctx, s)
		if err != nil && !known {
			return nil, err
		}
		if err != nil || !known {
			return nil, nil // another check reports it
		}
		one := spots[numberOf(s.Name)%len(spots)].size
		asked[one.quota] += int64(one.cpu)
		asked[regional] += int64(one.cpu)
	}
	if len(asked) == 0 {
		return nil, nil
	}
	left, err := p.usages(ctx)
	if err != nil && !forbidden(err) {
		return nil, err
	}
	for _, name := range sortedKeys(asked) {
		all = append(all, oneQuota(name, asked[name], left, err == nil))
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

func oneQuota(name string, asked int64, all map[string]*armcompute.Usage, readable bool) provider.Finding {
	f := provider.Finding{Check: "vCPU quota " + name, Verdict: provider.Unknown}
	u := all[strings.ToLower(name)]
	if u == nil {
		f.Message, f.Hint = fmt.Sprintf("%d vCPUs are asked for; Azure shows no such quota", asked), "look it up in the portal"
		if !readable {
			f.Message, f.Hint = fmt.Sprintf("%d vCPUs are asked for; the quota may not be read", asked), "grant Microsoft.Compute/locations/usages/read"
		}
		return f
	}
	left := value(u.Limit) - int64(value(u.CurrentValue))
	f.Message = fmt.Sprintf("%d vCPUs are asked for, and %d of %d are left", asked, max(left, 0), value(u.Limit))
	if f.Verdict = provider.Passed; asked > left {
		f.Verdict, f.Hint = provider.Refused, "raise the quota "+name+" of the location, or ask for less"
	}
	return f
}
