// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
)

// readDisks lists the disks of the owners of the keys, in all zones.
func (p *platform) readDisks(ctx context.Context, keys []string) ([]*computepb.Disk, error) {
	var terms []string
	for _, k := range keys {
		owner, _, _ := strings.Cut(k, "/")
		terms = append(terms, fmt.Sprintf(`(labels.%s="%s")`, labelOwner, owner))
	}
	slices.Sort(terms)
	return p.listDisks(ctx, strings.Join(slices.Compact(terms), " OR "))
}

// listDisks lists the disks of all zones that a filter selects: all or an error.
func (p *platform) listDisks(ctx context.Context, filter string) (all []*computepb.Disk, err error) {
	ctx, end := p.bind(ctx)
	defer end()
	list := p.disks.AggregatedList(ctx, &computepb.AggregatedListDisksRequest{Project: p.spec.ProjectID, Filter: &filter})
	for scope, err := range list.All() {
		if err == nil {
			err = p.unreachable(scope.Key, scope.Value.GetWarning())
		}
		if err != nil {
			return nil, err
		}
		all = append(all, scope.Value.GetDisks()...)
	}
	return all, nil
}

// copied reports whether the driver did not create a disk: clones and those restored from
// snapshots have other names, or are in other zones.
func copied(d *computepb.Disk) bool {
	machine := tagsOf(d.GetLabels()).Machine
	expected := d.GetLabels()[labelZone] == lastOf(d.GetZone())
	for n := range mostDisks {
		if d.GetName() == diskName(machine, n) {
			return !expected
		}
	}
	return true
}

// mostDisks is how many disks an instance has.
const mostDisks = 128

// remains returns the disks that are left of a machine that has no instance.
func (m machines) remains(ctx context.Context, ref provider.MachineRef) (left []*computepb.Disk, err error) {
	if ref.Owner.ID == "" {
		return nil, nil
	}
	all, err := m.remnants.Do(ctx, key(ref))
	for _, d := range all {
		if set := tagsOf(d.GetLabels()); set.OwnerID == ref.Owner.ID && set.Machine == ref.Name && !copied(d) {
			left = append(left, d)
		}
	}
	return left, err
}

// remnant reports a machine of which only disks are left.
func remnant(ref provider.MachineRef, left []*computepb.Disk) provider.Machine {
	return provider.Machine{Ref: ref, State: provider.StatePartial, Message: "there is no instance, but disk " + left[0].GetName() + " is left"}
}

// clear removes disks that are left of an earlier attempt: they would block their names.
// It returns nil if there are none.
func (m machines) clear(ctx context.Context, op string, ref provider.MachineRef) (*provider.Machine, error) {
	left, err := m.remains(ctx, ref)
	if err != nil {
		return nil, within(op, err)
	}
	if len(left) == 0 {
		return nil, nil
	}
	if begun, err := m.inserts(ctx, ref); err != nil || running(begun) {
		one := remnant(ref, left)
		one.State, one.Message = provider.StatePending, "the instance is being created"
		return &one, within(op, err)
	}
	one, err := m.deleteDisks(ctx, op, ref, left)
	one.State = provider.StatePartial
	return &one, err
}

// running reports whether one of the operations may still have an effect.
func running(all []*computepb.Operation) bool {
	return slices.ContainsFunc(all, func(o *computepb.Operation) bool { return o.GetStatus() != computepb.Operation_DONE })
}

// heldBy names an instance that a disk is attached to, other than its machine's.
func heldBy(d *computepb.Disk, machine string) string {
	for _, user := range d.GetUsers() {
		if holder := lastOf(user); holder != machine {
			return holder
		}
	}
	return ""
}

// deleteDisks asks for the deletion of disks. One that the platform keeps does not block
// the others.
func (m machines) deleteDisks(ctx context.Context, op string, ref provider.MachineRef, left []*computepb.Disk) (provider.Machine, error) {
	var kept []error
	for _, d := range left {
		if holder := heldBy(d, ref.Name); holder != "" {
			kept = append(kept, provider.InUse.New(op, provider.ReasonDeletionRefused, fmt.Errorf("disk %s is attached to instance %s", d.GetName(), holder), "detach it"))
			continue
		}
		if len(d.GetUsers()) > 0 || d.GetStatus() == computepb.Disk_DELETING.String() {
			continue
		}
		_, err := m.disks.Delete(ctx, &computepb.DeleteDiskRequest{Project: m.spec.ProjectID, Zone: lastOf(d.GetZone()), Disk: d.GetName()})
		if err != nil && !gone(err) && !unready(err) {
			kept = append(kept, within(op, err))
		}
	}
	if err := errors.Join(kept...); err != nil {
		return provider.Machine{}, err
	}
	one := remnant(ref, left)
	one.State, one.Message = provider.StateDeleting, "disk "+left[0].GetName()+" is being deleted"
	return one, nil
}
