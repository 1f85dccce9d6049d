// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider"
)

// machines implements provider.Machines.
type machines struct{ *platform }

var _ provider.Machines = machines{}

// pageSize is how many instances one request lists at most.
const pageSize = 1000

// instancesBy returns a function that lists instances by the value of a tag.
func (p *platform) instancesBy(name string) func(context.Context, []string) (map[string][]types.Instance, error) {
	return func(ctx context.Context, values []string) (map[string][]types.Instance, error) {
		found, err := p.instances(ctx, filter("tag:"+name, values...))
		if err != nil {
			return nil, err
		}
		by := map[string][]types.Instance{}
		for _, i := range found {
			v := tagMap(i.Tags)[name]
			by[v] = append(by[v], i)
		}
		return by, nil
	}
}

// instances lists all instances that the filters select, terminated ones included.
func (p *platform) instances(ctx context.Context, filters ...types.Filter) (all []types.Instance, err error) {
	in := &ec2.DescribeInstancesInput{Filters: filters, MaxResults: new(int32(pageSize))}
	for more := true; more; more = value(in.NextToken) != "" {
		page, err := p.ec2.DescribeInstances(ctx, in)
		if err != nil {
			return nil, err
		}
		in.NextToken = page.NextToken
		for _, r := range page.Reservations {
			all = append(all, r.Instances...)
		}
	}
	return all, nil
}

// terminated reports whether nothing is left of an instance but its entry in listings.
func terminated(i types.Instance) bool {
	return i.State != nil && i.State.Name == types.InstanceStateNameTerminated
}

// own reports whether the driver created the instance for the owner's machine.
func own(i types.Instance, owner provider.Owner) bool {
	return owner.ID != "" && tagsOf(i.Tags).OwnerID == owner.ID && original(value(i.ClientToken), owner)
}

// pick returns the machine of an owner out of its instances: one that exists, else the
// last one that was terminated.
func pick(all []types.Instance, owner provider.Owner) (one types.Instance, found bool) {
	for _, i := range all {
		if !own(i, owner) || found && terminated(i) && (!terminated(one) || launched(i).Before(launched(one))) {
			continue
		}
		if !found || terminated(one) || launched(i).Before(launched(one)) {
			one, found = i, true
		}
	}
	return one, found
}
