// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// Create creates the VM with its disks in one call, which carries the owner. VMs of the name
// are looked for before: nothing else recognises a call that is repeated.
func (m machines) Create(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
	op := fmt.Sprintf("create machine %q on %s", s.Name, m.config)
	if err := m.refuseSpec(op, s); err != nil {
		return provider.Machine{}, err
	}
	there, err := m.existing(ctx, op, s.MachineRef)
	if err != nil {
		return provider.Machine{}, err
	}
	if there != nil {
		return m.resume(ctx, op, *there, s.MachineRef)
	}
	a, err := m.attempt(ctx, op, s)
	if err != nil {
		return provider.Machine{}, err
	}
	categories, err := m.categorise(ctx, op, s)
	if err != nil {
		return provider.Machine{}, err
	}
	if err := m.forgetOrigin(ctx, s.MachineRef); err != nil {
		return provider.Machine{}, within(op, err)
	}
	created, err := m.createVM(ctx, m.order(s, a, categories))
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	_ = m.recordOrigin(ctx, s.MachineRef, created.uuid) // the VM exists; Delete records it as well
	return m.report(created, s.MachineRef), nil
}

// existing returns the VM of the owner. One of another owner with the name is a Conflict: the
// names of nodes are unique in a cluster.
func (m machines) existing(ctx context.Context, op string, ref provider.MachineRef) (*vm, error) {
	all, err := m.named(ctx, ref.Name)
	if err != nil {
		return nil, within(op, err)
	}
	v, err := m.pick(ctx, all, ref)
	if err != nil || v != nil {
		return v, within(op, err)
	}
	return nil, taken(op, all)
}

// taken refuses a name that a VM of another owner has.
func taken(op string, all []vm) error {
	if len(all) == 0 {
		return nil
	}
	return provider.NameTaken(op, fmt.Sprintf("VM %q (%s)", all[0].name, all[0].uuid), "machineName")
}

// resume powers a VM on that the platform has created and could not power on.
func (m machines) resume(ctx context.Context, op string, v vm, ref provider.MachineRef) (provider.Machine, error) {
	one := m.report(v, ref)
	if one.State == provider.StateDeleting {
		return provider.Machine{}, provider.PartDeleting(op, "VM "+v.name)
	}
	if err := m.recordOrigin(ctx, ref, v.uuid); err != nil {
		return provider.Machine{}, within(op, err)
	}
	if one.State != provider.StatePartial {
		return one, nil
	}
	if err := m.power(ctx, v.uuid, powerOn); err != nil {
		return provider.Machine{}, within(op, err)
	}
	one.State, one.Message = provider.StatePending, "VM "+v.name+" is being powered on"
	if one.Reason != "" {
		one.Message += "; the last try failed" + saying(v)
	}
	return one, nil
}

// order is what the VM of a machine is created with.
func (m machines) order(s provider.MachineSpec, a attempt, categories map[string]string) order {
	cores := m.cores()
	o := order{
		name: s.Name, description: tag.Nutanix().Text(s.Owner.Tags(s.Name)), cluster: m.spec.ClusterUUID, subnet: a.Subnet, project: a.Project,
		sockets: int64(s.CPU / cores), cores: int64(cores), memoryMiB: int64(s.MemoryMB), categories: categories,
		disks: []diskOrder{{image: a.Image, container: a.Containers[0], sizeMiB: int64(s.DiskGB) << 10}},
	}
	for i, d := range s.ExtraDisks {
		o.disks = append(o.disks, diskOrder{container: a.Containers[i+1], sizeMiB: int64(d.SizeGB) << 10})
	}
	if s.Network != nil {
		o.address = s.Network.Address.Addr().String()
	}
	if s.UserData != "" {
		o.userData = base64.StdEncoding.EncodeToString([]byte(s.UserData.Reveal()))
	}
	return o
}
