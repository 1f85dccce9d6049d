// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/butlerdotdev/butler/provider"
)

// Delete stops the VM, removes its user data and then destroys it, with which its disks end.
// Asked again once it is gone, it removes what failed clones have left. A task that runs is
// not asked for again.
func (m machines) Delete(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	op := fmt.Sprintf("delete machine %q on %s", ref.Name, m.config)
	c, err := m.seen.Do(ctx, ref.Name)
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	v, err := m.find(ctx, c, ref)
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	if v == nil {
		if err := m.absenceSeen(ctx, op); err != nil {
			return provider.Machine{}, err
		}
		return m.deleteRemains(ctx, op, ref, c)
	}
	return m.deleteVM(ctx, op, ref, c, v)
}

// leaving reports a machine that is being deleted.
func leaving(ref provider.MachineRef, id, message string) provider.Machine {
	return provider.Machine{Ref: ref, ID: id, State: provider.StateDeleting, Message: message}
}

func (m machines) deleteVM(ctx context.Context, op string, ref provider.MachineRef, c *cluster, v *vm) (provider.Machine, error) {
	id := m.id(v.mark, c)
	if v.settings == nil {
		return leaving(ref, id, fmt.Sprintf("%s is deleted when that node is online again", v)), nil
	}
	if lock := v.settings["lock"]; lock != "" && lock != "suspended" {
		return leaving(ref, id, fmt.Sprintf("%s is locked (%s) and is deleted when that has ended; remove a stale lock with qm unlock %d", v, lock, v.VMID)), nil
	}
	tasks, err := m.tasksOf(ctx, v.Node, v.VMID)
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	if t, runs := busy(tasks); runs {
		return leaving(ref, id, fmt.Sprintf("%s is deleted; task %s runs", v, t.Type)), nil
	}
	var now current
	if err := m.get(ctx, vmPath(v.Node, v.VMID)+"/status/current", nil, &now); err != nil && !gone(err) {
		return provider.Machine{}, within(op, err)
	}
	if now.Status == "running" {
		return m.removing(op, leaving(ref, id, v.String()+" is being stopped"), tasks, taskStop, func(into *string) error {
			return m.Post(ctx, vmPath(v.Node, v.VMID)+"/status/stop", nil, into)
		})
	}
	left, unread, err := m.deleteISOs(ctx, op, ref)
	if err != nil || left {
		return leaving(ref, id, v.String()+": its user data is being deleted"), err
	}
	if volid := v.iso(unread); volid != "" {
		return leaving(ref, id, fmt.Sprintf("%s is deleted when the storage of its user data, %s, can be read again", v, volid)), nil
	}
	return m.removing(op, leaving(ref, id, v.String()+" is being deleted"), tasks, taskDestroy, func(into *string) error {
		return m.destroy(ctx, v.Node, v.VMID, into)
	})
}

// destroy removes a VM with the disks of its configuration. Others that have its ID in their
// name are kept: a person may have put them there.
func (m machines) destroy(ctx context.Context, node string, vmid number, into *string) error {
	query := url.Values{"purge": {"1"}, "destroy-unreferenced-disks": {"0"}}
	return m.Client.Delete(ctx, vmPath(node, vmid)+"?"+query.Encode(), into)
}

// removing begins a task and reports it, with the failure of the last one.
func (m machines) removing(op string, left provider.Machine, tasks []task, kind string, begin func(upid *string) error) (provider.Machine, error) {
	var upid string
	if err := begin(&upid); err != nil && !gone(err) {
		return provider.Machine{}, within(op, err)
	}
	if t, found := last(tasks, kind); found && t.failed() {
		left.Message += "; the last try failed: " + stable(t.Status)
	}
	return left, nil
}

// deleteRemains removes what is left of a machine without a VM. While a clone still runs,
// nothing is gone.
func (m machines) deleteRemains(ctx context.Context, op string, ref provider.MachineRef, c *cluster) (provider.Machine, error) {
	r, err := m.unowned(ctx, c)
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	if r != nil {
		return leaving(ref, "", fmt.Sprintf("VM %d on %s is still being cloned, and is deleted then if it is this machine", r.VMID, r.Node)), nil
	}
	some, unread, err := m.deleteISOs(ctx, op, ref)
	if err != nil || some {
		return leaving(ref, "", "its user data is being deleted"), err
	}
	left, doubtful, err := m.clearDebris(ctx, op, ref, c, m.candidates(ref.Owner.ID))
	if err != nil || left != nil {
		return value(left), err
	}
	if len(doubtful) > 0 {
		return provider.Machine{}, errDoubtful(op, doubtful)
	}
	runs, err := m.active.Do(ctx, ref.Name)
	return provider.Machine{Ref: ref, State: provider.StateAbsent, Certain: err == nil && !runs, Message: unreadText(unread)}, within(op, err)
}

// readActive reports whether a clone of the driver runs: without one no VM can appear.
func (p *platform) readActive(ctx context.Context, _ []string) (bool, error) {
	c, err := p.readCluster(ctx, nil)
	if err != nil {
		return true, ctx.Err()
	}
	nodes := slices.Clone(p.spec.Nodes)
	for _, n := range c.nodes {
		nodes = append(nodes, n.Node)
	}
	slices.Sort(nodes)
	for _, node := range slices.Compact(nodes) {
		if !c.online(node) {
			return true, nil // it may run one
		}
		all, err := p.readTasks(ctx, node, url.Values{"typefilter": {taskClone}, "limit": {"100"}})
		if slices.ContainsFunc(all, func(t task) bool { return t.Type == taskClone && t.running() && p.akin(t) }) || err != nil && ctx.Err() == nil {
			return true, nil // a node that does not answer may run one
		}
	}
	return false, ctx.Err()
}
