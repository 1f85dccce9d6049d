// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"maps"
	"slices"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
)

// capacity compares the machines with what the hosts of the cluster have.
func (p preflight) capacity(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	if len(specs) == 0 {
		return nil, nil
	}
	hosts, err := p.listHosts(ctx)
	if f, err := check.Verdict("capacity", within("", err)); err != nil || f.Verdict != provider.Passed {
		return []provider.Finding{f}, err
	}
	pool := check.Pool{Grant: hintPermission}
	for _, h := range hosts {
		if h.cluster == p.spec.ClusterUUID {
			pool.Hosts = append(pool.Hosts, check.Amount{CPU: h.cores * 1000, Memory: h.memoryMiB << 20})
		}
	}
	all, err := p.listVMs(ctx, "")
	if err != nil {
		return nil, err
	}
	pool.Used = &check.Amount{}
	for _, v := range all {
		if v.cluster == p.spec.ClusterUUID && v.power == powerOn {
			*pool.Used = pool.Used.Plus(check.Amount{CPU: v.cpu * 1000, Memory: v.memoryMiB << 20})
		}
	}
	return append([]provider.Finding{pool.Capacity(specs)}, pool.Spread(specs)...), nil
}

func sorted(m map[string]int64) []string { return slices.Sorted(maps.Keys(m)) }
