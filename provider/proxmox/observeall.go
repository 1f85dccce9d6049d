// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"net/url"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

// rereadAfter is how long what was read of a VM holds while its node lists it unchanged:
// configuration and addresses are not in the listing.
const rereadAfter = 10 * time.Minute

// settledAfter is when a machine that runs is read a second time: addresses of a guest that has
// just started come one after the other.
const settledAfter = 10 * time.Second

// observeAll reports every VM that carries an owner. The nodes list status and tags; the rest is
// read of those alone that have changed.
func (m machines) observeAll(ctx context.Context) ([]provider.Machine, error) {
	op := "observe all machines on " + m.config
	c, err := m.seen.Do(ctx, "")
	if err != nil {
		return nil, within(op, err)
	}
	vms, err := m.readGuests(ctx, c, url.Values{"full": {"1"}})
	if err != nil {
		return nil, within(op, err)
	}
	vms = slices.DeleteFunc(vms, func(r resource) bool { return !c.mayBeOwned(r) })
	m.known.keep(vms)
	// No request waits for what a call creates just now: the call itself reports it.
	vms = slices.DeleteFunc(vms, func(r resource) bool { return m.creating.has(r.VMID) })
	all := make([]provider.Machine, len(vms))
	err = each(len(vms), func(i int) (err error) {
		all[i], err = m.glance(ctx, c, vms[i])
		return err
	})
	return slices.DeleteFunc(all, func(m provider.Machine) bool { return m.State == "" }), within(op, err)
}

// glance reports a VM that is listed; one that is no machine, or gone by now, has no state.
func (m machines) glance(ctx context.Context, c *cluster, r resource) (is provider.Machine, err error) {
	if is, ok := m.known.holds(r); ok {
		return is, nil
	}
	v, err := m.read(ctx, c, r, r.said)
	if err != nil || v == nil {
		return is, err
	}
	if v.original(v.VMID) {
		v.now = r.now()
		is, err = m.report(ctx, c, v.ref(), v)
	}
	if gone(err) {
		return provider.Machine{}, nil
	}
	if err == nil {
		m.known.note(r.VMID, r.sign(), is)
	}
	return is, err
}

// sign is what the listing of a node says about a VM: while it stays, the VM is the same and
// was not started again.
type sign struct {
	node, status, qmp, name, tags, lock string
	pid                                 number
}

func (r resource) sign() sign {
	return sign{r.Node, r.Status, r.QMP, r.Name, joined(r.tags), r.Lock, r.PID}
}

// sign is that of the listing, by what was read of a VM itself.
func (v *vm) sign() sign {
	return sign{v.Node, v.now.Status, v.now.QMP, v.now.Name, joined(words(v.settings["tags"])), v.now.Lock, v.now.PID}
}

// ref is the machine that a VM is, by its marks.
func (v *vm) ref() provider.MachineRef {
	return provider.MachineRef{Name: v.Machine, Owner: provider.OwnerOf(v.Set)}
}

// now is the status of a VM that runs as a node lists it in full, which is that of the VM
// itself. It is empty for one that is off: that it was started since must not be missed.
func (r resource) now() (is current) {
	if r.QMP != "" && r.Status == "running" {
		is = current{Status: r.Status, QMP: r.QMP, Lock: r.Lock}
	}
	return is
}

// glance is what was read of a VM, under the sign that it had; without a state it is no machine.
type glance struct {
	sign sign
	is   provider.Machine
	// read is when it was read; settled says that it was read again without a change.
	read    time.Time
	settled bool
}

// glances keeps what was read of machines that run, and of VMs of others.
type glances struct {
	mu sync.Mutex
	of map[number]glance
}

// holds returns what was read of a VM if that still holds: for long once it was read twice
// without a change.
func (g *glances) holds(r resource) (provider.Machine, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known, ok := g.of[r.VMID]
	keep := settledAfter
	if known.settled {
		keep = rereadAfter
	}
	return known.is, ok && known.sign == r.sign() && time.Since(known.read) < keep
}

// note keeps what was read of a VM, unless that is a machine which does not run.
func (g *glances) note(vmid number, s sign, is provider.Machine) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if is.State != "" && is.State != provider.StateRunning {
		delete(g.of, vmid)
		return
	}
	now := glance{sign: s, is: is, read: time.Now()}
	before, ok := g.of[vmid]
	now.settled = ok && before.sign == now.sign && reflect.DeepEqual(before.is, is)
	g.of[vmid] = now
}

// keep forgets VMs that are listed no more.
func (g *glances) keep(all []resource) {
	listed := map[number]bool{}
	for _, r := range all {
		listed[r.VMID] = true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for id := range g.of {
		if !listed[id] {
			delete(g.of, id)
		}
	}
}
