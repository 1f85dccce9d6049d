// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"fmt"
	"strings"

	"github.com/butlerdotdev/butler/provider"
)

// removeDebris removes what failed clones of the driver have left under the IDs. It returns
// nil if there is nothing. What may be that of others is left for Delete to report.
func (m machines) removeDebris(ctx context.Context, op string, ref provider.MachineRef, c *cluster, ids map[number]bool) (*provider.Machine, error) {
	left, _, err := m.clearDebris(ctx, op, ref, c, ids)
	return left, err
}

// clearDebris removes temporary configurations, and volumes without a VM. What no clone of the
// driver has created is never touched; volumes of which that is not known are returned.
func (m machines) clearDebris(ctx context.Context, op string, ref provider.MachineRef, c *cluster, ids map[number]bool) (*provider.Machine, []volume, error) {
	for id := range ids {
		r := c.vm(id)
		if r == nil || r.Template != 0 || r.said.OwnerID != "" {
			continue
		}
		if left, err := m.removeHalf(ctx, op, ref, c, *r); err != nil || left != nil {
			return left, nil, err
		}
	}
	bare, err := m.bareVolumes(ctx, c, ids)
	if err != nil {
		return nil, nil, within(op, err)
	}
	for _, v := range bare[originOwn] {
		if err := m.deleteVolume(ctx, v); err != nil {
			return nil, nil, within(op, err)
		}
	}
	if own := bare[originOwn]; len(own) > 0 {
		return new(leaving(ref, "", own[0].VolID+", which no VM has any more, is being deleted")), nil, nil
	}
	if some := bare[originLeaving]; len(some) > 0 {
		return new(leaving(ref, "", fmt.Sprintf("VM %d on %s is being destroyed", some[0].VMID, some[0].node))), nil, nil
	}
	return nil, bare[originDoubtful], nil
}

// errDoubtful names volumes that a failed clone may have left: they are not deleted, as a
// person may have created them.
func errDoubtful(op string, all []volume) error {
	var names []string
	for _, v := range all {
		names = append(names, v.VolID+" on "+v.node)
	}
	return provider.InUse.New(op, provider.ReasonDeletionRefused, fmt.Errorf("a failed clone or a deleted VM may have left %s, and neither a log nor the age proves that", strings.Join(names, ", ")),
		"run pvesm free "+all[0].VolID+" on "+all[0].node+" if it is not needed, else attach it to a VM of another ID")
}

// temporaryNote is the description of the file that reserves an ID while disks are cloned.
const temporaryNote = "qmclone temporary file"

// temporary reports whether a configuration is nothing but that file. A VM that was created
// in any other way has more in it, also one without a name.
func (s settings) temporary() bool {
	for name := range s {
		if name != "lock" && name != "digest" && name != "description" {
			return false
		}
	}
	lock := s["lock"]
	return strings.TrimSpace(s["description"]) == temporaryNote && (lock == "" || lock == lockClone)
}

// removeHalf removes what a failed clone of the driver has left of a VM: the temporary
// configuration. It is locked, and only root may remove a lock.
func (m machines) removeHalf(ctx context.Context, op string, ref provider.MachineRef, c *cluster, r resource) (*provider.Machine, error) {
	if r.Lock == "destroyed" {
		return new(leaving(ref, "", fmt.Sprintf("VM %d on %s is being destroyed", r.VMID, r.Node))), nil
	}
	v, err := m.read(ctx, c, r, mark{})
	if err != nil || v == nil || !v.settings.temporary() {
		return nil, within(op, err)
	}
	t, found, err := m.pending(ctx, r.Node, r.VMID)
	if err != nil || !found || !t.failed() {
		return nil, within(op, err)
	}
	var upid string
	err = m.destroy(ctx, r.Node, r.VMID, &upid)
	if err != nil && !gone(err) {
		return nil, within(op, err)
	}
	tasks, err := m.tasksOf(ctx, r.Node, r.VMID)
	if t, failed := last(tasks, taskDestroy); err == nil && failed && t.failed() {
		err = provider.InUse.New(op, provider.ReasonDeletionRefused, fmt.Errorf("VM %d on %s is left from a failed clone: %s", r.VMID, r.Node, stable(t.Status)), fmt.Sprintf("run qm unlock %d on %s: only root can remove the lock", r.VMID, r.Node))
	}
	return new(leaving(ref, "", fmt.Sprintf("VM %d on %s, left from a failed clone, is being deleted", r.VMID, r.Node))), within(op, err)
}
