// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// machines implements provider.Machines.
type machines struct{ *platform }

var _ provider.Machines = machines{}

// tagsOf returns what the description of a VM says about its owner.
func tagsOf(v vm) tag.Set { return tag.Nutanix().ReadText(v.description) }

// original reports whether the driver may have created a VM with this description. Clones have
// it as well: they have a parent, and restored VMs another name, or that of their original.
func original(v vm) bool { return v.parent == "" && tagsOf(v).Machine == v.name }

// own reports whether the driver may have created the VM for the machine.
func own(v vm, ref provider.MachineRef) bool {
	return ref.Owner.ID != "" && tagsOf(v).OwnerID == ref.Owner.ID && original(v) && v.name == ref.Name
}

// oldestOf returns the oldest VM that may be the machine, nil if there is none: names are not
// unique, and another may have been restored from it.
func oldestOf(all []vm, ref provider.MachineRef) *vm {
	var found *vm
	for i, v := range all {
		if own(v, ref) && (found == nil || older(v, *found)) {
			found = &all[i]
		}
	}
	return found
}

func older(a, b vm) bool {
	if c := a.created.Compare(b.created); c != 0 {
		return c < 0
	}
	return a.uuid < b.uuid
}

// find returns the VM of a machine, nil if it is not there. One whose UUID is known is read by
// that: listings lack what is being created or could not be, names are changed by people,
// and a VM that was restored has another one.
func (m machines) find(ctx context.Context, ref provider.MachineRef) (*vm, error) {
	if ref.ID != "" {
		v, err := m.vm(ctx, ref.ID)
		if err != nil || ref.Owner.ID != "" && tagsOf(v).OwnerID == ref.Owner.ID {
			return &v, err
		}
	}
	all, err := m.named(ctx, ref.Name)
	if err != nil {
		return nil, err
	}
	return m.pick(ctx, all, ref)
}

// named lists the VMs of a name, of all owners.
func (m machines) named(ctx context.Context, name string) ([]vm, error) {
	all, err := m.listVMs(ctx, "vm_name=="+name)
	return slices.DeleteFunc(all, func(v vm) bool { return v.name != name }), err
}

// saying returns what Prism Central says about a VM, as the end of a sentence.
func saying(v vm) string {
	said := slices.DeleteFunc(slices.Clone(v.messages), func(text string) bool { return text == "" })
	if len(said) == 0 {
		return ""
	}
	return ": " + strings.Join(said, "; ")
}
