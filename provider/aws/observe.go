// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// Observe lists the instances with the owner's tag. If there is none, disks and interfaces
// that are left make the machine Partial.
func (m machines) Observe(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	op := fmt.Sprintf("observe machine %q on %s", ref.Name, m.config)
	found, err := m.byOwner.Do(ctx, ref.Owner.ID)
	if err != nil {
		return provider.Machine{}, apiError(op, err)
	}
	i, exists := pick(found[ref.Owner.ID], ref.Owner)
	if !named(i, ref) {
		exists = false
	}
	if exists && !terminated(i) {
		return m.examine(ctx, i, ref), nil
	}
	left, err := m.remains(ctx, ref)
	if err != nil {
		return provider.Machine{}, apiError(op, err)
	}
	if len(left) > 0 {
		return remnant(ref, left), nil
	}
	if exists {
		return report(i, ref), nil
	}
	return provider.Machine{Ref: ref, State: provider.StateAbsent}, nil
}

// named reports whether the instance was created under the name of the reference.
func named(i types.Instance, ref provider.MachineRef) bool { return tagsOf(i.Tags).Machine == ref.Name }

// observeAll reports every machine that carries an owner.
func (m machines) observeAll(ctx context.Context) ([]provider.Machine, error) {
	found, err := m.instances(ctx, filter("tag-key", tag.OwnerID))
	if err != nil {
		return nil, apiError("observe all machines on "+m.config, err)
	}
	byOwner := map[provider.MachineRef][]types.Instance{}
	for _, i := range found {
		s := tagsOf(i.Tags)
		ref := provider.MachineRef{Name: s.Machine, Owner: provider.OwnerOf(s)}
		byOwner[ref] = append(byOwner[ref], i)
	}
	var all []provider.Machine
	for ref, of := range byOwner {
		if i, ok := pick(of, ref.Owner); ok && !terminated(i) {
			all = append(all, m.examine(ctx, i, ref))
		}
	}
	return all, nil
}
