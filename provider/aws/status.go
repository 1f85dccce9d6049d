// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider"
)

const (
	// checked is the age from which the status checks of an instance have a result.
	checked = 2 * time.Minute
	// checkInterval is how long results are kept: AWS itself checks every minute.
	checkInterval = 15 * time.Second
)

// examine is a report that says which status check fails.
func (p *platform) examine(ctx context.Context, i types.Instance, ref provider.MachineRef) provider.Machine {
	r := report(i, ref)
	if r.State != provider.StateRunning || time.Since(launched(i)) < checked {
		return r
	}
	failing, err := p.failing.Get(ctx, "", p.readFailing)
	if why := failing[r.ID]; err == nil && why != "" {
		r.State, r.Message = provider.StatePending, fmt.Sprintf("instance %s runs, but %s", r.ID, why)
	}
	return r
}

// readFailing returns the instances whose status checks fail, and how. Where they may not
// be read, none does.
func (p *platform) readFailing(ctx context.Context) (map[string]string, error) {
	failing := map[string]string{}
	for _, c := range []struct{ name, why string }{
		{"instance-status.status", "it fails the instance status check: its guest does not answer"},
		{"system-status.status", "its host fails the system status check: stop and start it, or wait for AWS"},
	} {
		in := &ec2.DescribeInstanceStatusInput{
			Filters: []types.Filter{filter(c.name, string(types.SummaryStatusImpaired))}, MaxResults: new(int32(pageSize)),
		}
		for more := true; more; more = value(in.NextToken) != "" {
			page, err := p.ec2.DescribeInstanceStatus(ctx, in)
			if err != nil {
				return failing, nil //nolint:nilerr // what cannot be read fails nothing
			}
			in.NextToken = page.NextToken
			for _, s := range page.InstanceStatuses {
				failing[value(s.InstanceId)] = c.why
			}
		}
	}
	return failing, nil
}
