// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider"
)

// Delete terminates the instance, with which its disks and its interface end. Asked again
// once it is gone, it removes those that an operator has detached.
func (m machines) Delete(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	op := fmt.Sprintf("delete machine %q on %s", ref.Name, m.config)
	found, err := m.byOwner.Do(ctx, ref.Owner.ID)
	if err != nil {
		return provider.Machine{}, apiError(op, err)
	}
	i, exists := pick(found[ref.Owner.ID], ref.Owner)
	exists = exists && named(i, ref)
	if !exists || terminated(i) {
		return m.deleteRemains(ctx, op, ref, exists)
	}
	if i.State == nil || i.State.Name != types.InstanceStateNameShuttingDown {
		_, err := m.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{value(i.InstanceId)}})
		if err != nil && !gone(err) {
			return provider.Machine{}, apiError(op, err)
		}
	}
	left := report(i, ref)
	left.State, left.Message = provider.StateDeleting, "instance "+left.ID+" is being terminated"
	return left, nil
}

// deleteRemains removes what is left of a machine without an instance. A part that AWS
// keeps does not block the others. Ended says that the instance is listed as terminated.
func (m machines) deleteRemains(ctx context.Context, op string, ref provider.MachineRef, ended bool) (provider.Machine, error) {
	left, err := m.remains(ctx, ref)
	if err != nil {
		return provider.Machine{}, apiError(op, err)
	}
	if len(left) == 0 {
		return provider.Machine{Ref: ref, State: provider.StateAbsent, Certain: ended}, nil
	}
	var kept []error
	for _, d := range left {
		if d.deleting || d.holder != "" {
			continue
		}
		if err := d.remove(ctx); err != nil && !gone(err) {
			kept = append(kept, apiError(op, err))
		}
	}
	if err := errors.Join(kept...); err != nil {
		return provider.Machine{}, err
	}
	r := remnant(ref, left)
	r.State, r.Message = provider.StateDeleting, left[0].Kind+" "+left[0].Name+" is being deleted"
	return r, nil
}
