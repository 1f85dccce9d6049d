// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// bucketOf names the quota of on-demand processors that a type counts for: its code in
// Service Quotas.
func bucketOf(name string) string {
	series, _ := familyOf(name)
	for code, of := range map[string][]string{
		"L-1216C47A": {"a", "c", "d", "h", "i", "m", "r", "t", "z", "im", "is"},
		"L-DB2E81BA": {"g", "gr", "vt"},
		"L-417A185B": {"p"},
		"L-7295265B": {"x"},
		"L-74FC7D96": {"f"},
		"L-1945791B": {"inf"},
		"L-2C3B7624": {"trn"},
		"L-F7808C92": {"hpc"},
		"L-43DA4232": {"u"},
		"L-6E869C2A": {"dl"},
	} {
		if slices.Contains(of, series) {
			return code
		}
	}
	return ""
}

// quota compares the processors of the machines with what the account has left.
func (p preflight) quota(ctx context.Context, specs []provider.MachineSpec) (all []provider.Finding, err error) {
	chosen, err := p.chosen(ctx, specs)
	if err != nil || chosen == nil {
		return nil, err
	}
	asked := cloud.Processors(chosen, func(s cloud.Size) string { return bucketOf(s.Name) })
	if len(asked) == 0 {
		return nil, nil
	}
	used, err := p.used(ctx)
	if err != nil {
		return nil, err
	}
	for _, code := range slices.Sorted(maps.Keys(asked)) {
		all = append(all, p.oneQuota(ctx, code, asked[code], used[code]))
	}
	return all, nil
}

func (p preflight) oneQuota(ctx context.Context, code string, asked, used int32) provider.Finding {
	q := cloud.Quota{
		Name: code, Unit: "vCPUs", Asked: asked, Used: used, Grant: "grant servicequotas:GetServiceQuota",
		Raise: "raise the quota " + code + " of the region in Service Quotas, or request less",
	}
	out, err := p.quotas.GetServiceQuota(ctx, &servicequotas.GetServiceQuotaInput{ServiceCode: new("ec2"), QuotaCode: &code})
	if err == nil && out.Quota != nil {
		q.Limit = out.Quota.Value
	}
	return q.Finding()
}

// used counts the processors of all instances of the account that run, by quota.
func (p preflight) used(ctx context.Context) (map[string]int32, error) {
	running, err := p.instances(ctx, filter("instance-state-name", string(types.InstanceStateNamePending), string(types.InstanceStateNameRunning)))
	if err != nil {
		return nil, err
	}
	used := map[string]int32{}
	for _, i := range running {
		if o := i.CpuOptions; o != nil {
			used[bucketOf(string(i.InstanceType))] += value(o.CoreCount) * max(value(o.ThreadsPerCore), 1)
		}
	}
	return used, nil
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.SortedFunc(maps.Keys(m), strings.Compare)
}
