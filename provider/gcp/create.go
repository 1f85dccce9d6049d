// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"errors"
	"fmt"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
)

// Create creates the instance with its disks in one call. A repeated call has the same
// request ID, so that it returns the same operation. Instances of the owner are looked for
// in all zones before.
func (m machines) Create(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
	op := fmt.Sprintf("create machine %q on %s", s.Name, m.config)
	if err := refuseSpec(op, s); err != nil {
		return provider.Machine{}, err
	}
	there, err := m.existing(ctx, op, s.MachineRef)
	if err != nil || there != nil {
		return m.reported(there, s.MachineRef), err
	}
	if left, err := m.clear(ctx, op, s.MachineRef); err != nil || left != nil {
		return value(left), err
	}
	a, err := m.attempt(ctx, op, s)
	if err != nil {
		return provider.Machine{}, err
	}
	subnet, err := m.subnet(ctx)
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	request, err := m.request(op, s, a, subnet)
	if err != nil {
		return provider.Machine{}, err
	}
	begun, err := m.instances.Insert(ctx, request)
	if err != nil {
		return m.refusedInsert(ctx, op, s, a, err)
	}
	return m.inserted(ctx, op, s, a, begun.Proto())
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func (m machines) reported(i *computepb.Instance, ref provider.MachineRef) provider.Machine {
	if i == nil {
		return provider.Machine{}
	}
	return m.report(i, ref)
}

// existing returns the instance of the owner. One of another owner with the name is a
// Conflict, in whatever zone: the names of nodes are unique in a cluster.
func (m machines) existing(ctx context.Context, op string, ref provider.MachineRef) (*computepb.Instance, error) {
	all, err := m.seen.Do(ctx, key(ref))
	if err != nil {
		return nil, within(op, err)
	}
	if i := pick(all, ref); i != nil {
		return i, nil
	}
	return nil, taken(op, all, ref)
}

// taken refuses a name that an instance of another owner has.
func taken(op string, all []*computepb.Instance, ref provider.MachineRef) error {
	for _, i := range all {
		if i.GetName() == ref.Name && !own(i, ref) {
			return provider.NameTaken(op, fmt.Sprintf("instance %q in %s", ref.Name, lastOf(i.GetZone())), "machineName")
		}
	}
	return nil
}

// inserted reports what an operation means that was begun by this call or by an earlier
// one with the same request ID. It is not awaited.
func (m machines) inserted(ctx context.Context, op string, s provider.MachineSpec, a attempt, o *computepb.Operation) (provider.Machine, error) {
	if err := operationError(op, o); err != nil {
		return provider.Machine{}, asked(err, a)
	}
	if o.GetStatus() != computepb.Operation_DONE {
		return m.starting(s.MachineRef, a), nil
	}
	i, err := m.instances.Get(ctx, &computepb.GetInstanceRequest{Project: m.spec.ProjectID, Zone: a.Zone, Instance: s.Name})
	if gone(err) {
		return provider.Machine{}, spent(op, errors.New("the instance of an earlier call is gone"))
	}
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	if !own(i, s.MachineRef) {
		return provider.Machine{}, taken(op, []*computepb.Instance{i}, s.MachineRef)
	}
	return m.report(i, s.MachineRef), nil
}

// starting reports an instance that the platform may still fail to create: it has no ID.
func (m machines) starting(ref provider.MachineRef, a attempt) provider.Machine {
	return provider.Machine{Ref: ref, State: provider.StatePending, Message: fmt.Sprintf("instance %s (%s in %s) is being created", ref.Name, a.Type, a.Zone)}
}

// path is the ID of an instance.
func (p *platform) path(zone, name string) string {
	return fmt.Sprintf("projects/%s/zones/%s/instances/%s", p.spec.ProjectID, zone, name)
}

// refusedInsert looks whether the instance that blocks the name is the owner's: a listing
// may lack what was created just now.
func (m machines) refusedInsert(ctx context.Context, op string, s provider.MachineSpec, a attempt, err error) (provider.Machine, error) {
	if !exists(err) {
		return provider.Machine{}, asked(within(op, err), a)
	}
	i, readErr := m.instances.Get(ctx, &computepb.GetInstanceRequest{Project: m.spec.ProjectID, Zone: a.Zone, Instance: s.Name})
	switch {
	case readErr == nil && own(i, s.MachineRef):
		return m.report(i, s.MachineRef), nil
	case readErr == nil:
		return provider.Machine{}, taken(op, []*computepb.Instance{i}, s.MachineRef)
	case gone(readErr): // one of its disks
		return provider.Machine{}, within(op, err)
	}
	return provider.Machine{}, within(op, readErr)
}

// asked adds to a refusal for want of capacity what was asked for.
func asked(err error, a attempt) error {
	if e, ok := errors.AsType[*provider.Error](err); ok && e.Kind == provider.Exhausted && e.Err != nil {
		e.Err = fmt.Errorf("%s in %s: %w", a.Type, a.Zone, e.Err)
	}
	return err
}
