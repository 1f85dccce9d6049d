// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/butlerdotdev/butler/provider"
)

// mostReads is how many VMs are read at once.
const mostReads = 8

// List reports every machine of the owner, also those of which only user data or copies are
// left. While a clone of the driver runs, it is not known whom its VM belongs to; while a
// storage cannot be read, user data may be there.
func (m machines) List(ctx context.Context, owner provider.Owner) ([]provider.Machine, error) {
	op := "list machines on " + m.config
	if err := provider.CheckOwner(op, owner); err != nil {
		return nil, err
	}
	if err := m.absenceSeen(ctx, op); err != nil {
		return nil, err
	}
	c, err := m.seen.Do(ctx, "")
	if err != nil {
		return nil, within(op, err)
	}
	objects, err := m.objects(ctx, op, c)
	if err != nil {
		return nil, within(op, err)
	}
	var found []provider.Machine
	for _, g := range provider.Assemble(objects, "") {
		if !g.Ref.Owner.Matches(owner) {
			continue
		}
		one, err := m.listed(ctx, c, g)
		if err != nil {
			return nil, within(op, err)
		}
		found = append(found, one)
	}
	return found, nil
}

// objects are the VMs, disks and ISO images that carry an owner.
func (m machines) objects(ctx context.Context, op string, c *cluster) (all []provider.Object[*vm], err error) {
	isos, unread, err := m.readVolumes(ctx, c, contentISO)
	if err != nil {
		return nil, err
	}
	if len(unread) > 0 {
		return nil, provider.Unavailable.New(op, provider.ReasonPlatformUnavailable, errors.New(unreadText(unread)), "bring it online, or disable it with pvesm set")
	}
	for _, v := range isos {
		if s := isoOwner(v.VolID); s.OwnerID != "" {
			all = append(all, provider.Object[*vm]{Part: provider.Part{Kind: provider.PartSecret, Name: v.VolID + " on " + v.node}, Tags: s})
		}
	}
	vms, err := m.owned(ctx, op, c)
	for _, v := range vms {
		isCopy := !v.original(v.VMID)
		for _, d := range v.settings.drives() {
			if d.storage() != "" && (!d.cdrom() || d.cloudinit()) {
				all = append(all, provider.Object[*vm]{Part: provider.Part{Kind: provider.PartDisk, Name: d.first + " on " + v.Node}, Tags: v.Set, Copy: isCopy})
			}
		}
		name := fmt.Sprintf("%s (VM %d on %s)", v.settings["name"], v.VMID, v.Node)
		all = append(all, provider.Object[*vm]{Part: provider.Part{Kind: provider.PartMachine, Name: name}, Tags: v.Set, Copy: isCopy, Of: v})
	}
	return all, err
}

// owned reads the VMs that carry an owner. One that has no tags yet does not run, and cannot be
// recognised while its node is offline.
func (m machines) owned(ctx context.Context, op string, c *cluster) (all []*vm, err error) {
	var wanted []resource
	for _, r := range c.vms {
		if r.said.OwnerID == "" && r.Lock == lockClone {
			if err := m.undecided(ctx, op, r); err != nil {
				return nil, err
			}
		}
		if c.mayBeOwned(r) {
			wanted = append(wanted, r)
		}
	}
	read := make([]*vm, len(wanted))
	err = each(len(wanted), func(i int) (err error) {
		read[i], err = m.read(ctx, c, wanted[i], wanted[i].said)
		return err
	})
	for _, v := range read {
		if err == nil && v != nil && v.OwnerID != "" {
			all = append(all, v)
		}
	}
	return all, err
}

// mayBeOwned reports whether a VM may carry an owner.
func (c *cluster) mayBeOwned(r resource) bool {
	return r.said.OwnerID != "" || r.Template == 0 && r.Status != "running" && c.online(r.Node)
}

// undecided is the error of a listing while a clone of the driver runs.
func (m machines) undecided(ctx context.Context, op string, r resource) error {
	t, found, err := m.pending(ctx, r.Node, r.VMID)
	if err != nil || !found || t.failed() {
		return err
	}
	return provider.Unavailable.New(op, provider.ReasonPlatformConflict, fmt.Errorf("VM %d on %s is being cloned, and has no owner before that has ended", r.VMID, r.Node), hintAgain)
}

// each calls f for every number below n, some at once, and returns the first error.
func each(n int, f func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	slots := make(chan struct{}, mostReads)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			errs[i] = f(i)
			<-slots
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// listed reports one machine of a list, as Observe would.
func (m machines) listed(ctx context.Context, c *cluster, g provider.Group[*vm]) (one provider.Machine, err error) {
	one = provider.Machine{Ref: g.Ref, State: provider.StateAbsent}
	if len(g.Objects) > 0 {
		one.State, one.Message = provider.StatePartial, g.Objects[0].Part.Name+" exists, but no VM"
	}
	for _, o := range g.Objects {
		if o.Of == nil {
			continue
		}
		if one, err = m.report(ctx, c, g.Ref, o.Of); gone(err) {
			one, err = provider.Machine{Ref: g.Ref, State: provider.StateDeleting}, nil
		}
	}
	one.Parts, one.Copies = g.Parts()
	return one, err
}
