// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
)

// bareVolumes are those of the IDs that failed clones and deleted VMs of the driver have left,
// may have left, or still remove, by origin. There is no VM.
func (m machines) bareVolumes(ctx context.Context, c *cluster, ids map[number]bool) (bare map[origin][]volume, err error) {
	all, _, err := m.readVolumes(ctx, c, "images")
	if err != nil {
		return nil, err
	}
	bare = map[origin][]volume{}
	for _, v := range all {
		if !ids[v.VMID] || c.guests[v.VMID] {
			continue
		}
		free, err := m.free(ctx, c, v.VMID)
		if err != nil {
			return nil, err
		}
		if !free {
			continue
		}
		is, err := m.originOf(ctx, c, v)
		if err != nil {
			return nil, err
		}
		bare[is] = append(bare[is], v)
	}
	return bare, nil
}

// origin is who has created a volume.
type origin int

const (
	originOther origin = iota
	originDoubtful
	originOwn
	originLeaving // a task of the driver still destroys its VM
)

// originOf compares a volume with the failed clones to its ID, on whatever node: the task of a
// clone is on the node of its template.
func (m machines) originOf(ctx context.Context, c *cluster, v volume) (is origin, err error) {
	nodes := []string{v.node}
	if v.shared {
		nodes = m.onlineNodes(c)
	}
	for _, node := range nodes {
		t, found, err := m.cloning(ctx, node, v.VMID)
		if err != nil {
			return originOther, err
		}
		if !found {
			continue
		}
		if t.running() {
			return originOther, nil
		}
		if !t.failed() {
			return m.outlived(ctx, nodes, v)
		}
		lines, err := m.readLog(ctx, t)
		if err != nil && !gone(err) {
			return originOther, err
		}
		is = max(is, v.origin(t, lines, m.spec.Storage))
	}
	if is != originOther {
		return is, nil
	}
	return m.outlived(ctx, nodes, v)
}

// outlived compares a volume with the VMs that the driver has destroyed: the log of that names
// disks that could not be removed, and the task is a success nevertheless.
func (m machines) outlived(ctx context.Context, nodes []string, v volume) (is origin, err error) {
	for _, node := range nodes {
		tasks, err := m.tasksOf(ctx, node, v.VMID)
		if err != nil {
			return originOther, err
		}
		for _, t := range tasks {
			if t.Type != taskDestroy || !m.mine(t) {
				continue
			}
			if t.running() {
				return originLeaving, nil
			}
			lines, err := m.readLog(ctx, t)
			if err != nil && !gone(err) {
				return originOther, err
			}
			is = max(is, v.kept(t, lines))
		}
	}
	return is, nil
}

// kept compares a volume with the log of a task that has destroyed a VM. One that is younger
// has the same name only.
func (v volume) kept(t task, log []line) origin {
	named := slices.ContainsFunc(log, func(l line) bool { return strings.Contains(l.Text, "Could not remove disk '"+v.VolID+"'") })
	switch {
	case !named || v.Time > t.End:
		return originOther
	case v.Time == 0:
		return originDoubtful
	}
	return originOwn
}

// origin compares a volume with a failed clone. It is the driver's if the log names it, on a
// storage of the clone, and if it was created while the clone ran. Types of storage that know
// no age prove nothing, and some have no names in the log.
func (v volume) origin(t task, log []line, target string) origin {
	if v.Time != 0 && (v.Time < t.Start || t.End != 0 && v.Time > t.End) {
		return originOther
	}
	name := v.VolID[strings.LastIndexAny(v.VolID, ":/")+1:]
	exact := regexp.MustCompile(`\b` + regexp.QuoteMeta(strings.TrimSuffix(name, path.Ext(name))) + `(?:\D|$)`)
	named, others, stored := false, false, v.store == target
	for _, l := range log {
		named, others = named || exact.MatchString(l.Text), others || allocated.MatchString(l.Text)
		stored = stored || strings.Contains(l.Text, "("+v.store+":")
	}
	switch {
	case v.Time != 0 && named && stored:
		return originOwn
	case v.Time != 0 && !named && others: // the log has the volumes of such storages
		return originOther
	}
	return originDoubtful
}

// onlineNodes are those of the cluster that answer, also ones that no machine is created on.
func (m machines) onlineNodes(c *cluster) (all []string) {
	for _, n := range c.nodes {
		if c.online(n.Node) {
			all = append(all, n.Node)
		}
	}
	if len(all) == 0 {
		return m.spec.Nodes
	}
	return all
}
