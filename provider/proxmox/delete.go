// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

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
	left, unread, err := m.deleteISOs(ctx, op, ref, c)
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
	some, unread, err := m.deleteISOs(ctx, op, ref, c)
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
		if r == nil || r.Template != 0 || marked(r.tags()).OwnerID != "" {
			continue
		}
		if left, err := m.removeHalf(ctx, op, ref, c, *r); err != nil || left != nil {
			return left, nil, err
		}
	}
	volumes, doubtful, err := m.bareVolumes(ctx, c, ids)
	if err != nil {
		return nil, nil, within(op, err)
	}
	for _, v := range volumes {
		if err := m.deleteVolume(ctx, v); err != nil {
			return nil, nil, within(op, err)
		}
	}
	if len(volumes) > 0 {
		return new(leaving(ref, "", volumes[0].VolID+", which no VM has any more, is being deleted")), nil, nil
	}
	return nil, doubtful, nil
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

// volume is one of a storage.
type volume struct {
	VolID string `json:"volid"`
	VMID  number `json:"vmid"`
	Size  number `json:"size"`
	Time  number `json:"ctime"`
	node  string
	store string
	// shared says that other nodes see it too.
	shared bool
}

// readVolumes lists the volumes of a type of content on the storages of all nodes that are
// online, each once. A storage that cannot be read does not hold up others: it is returned.
func (m machines) readVolumes(ctx context.Context, c *cluster, content string) (all []volume, unread []string, err error) {
	seen, failed := map[string]bool{}, map[string]string{}
	for _, r := range c.storages {
		key := r.Node + "/" + r.Storage
		if r.Shared != 0 {
			key = r.Storage
		}
		if seen[key] || !r.holds(content) || !c.online(r.Node) {
			continue
		}
		some, err := m.readStorage(ctx, r, content)
		if _, refused := errors.AsType[*answerError](err); refused && provider.ReasonOf(apiError("", err)) != provider.ReasonCredentialsRefused {
			failed[key] = r.Storage + " on " + r.Node
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		seen[key] = true
		delete(failed, key) // another node has read it
		all = append(all, some...)
	}
	return all, slices.Sorted(maps.Values(failed)), nil
}

// errInactive is the refusal of a storage that its node cannot reach.
var errInactive = &answerError{http.StatusInternalServerError, "the storage is not online"}

func (m machines) readStorage(ctx context.Context, r resource, content string) (all []volume, err error) {
	if !r.active() {
		return nil, errInactive
	}
	err = m.get(ctx, "/nodes/"+r.Node+"/storage/"+r.Storage+"/content", url.Values{"content": {content}}, &all)
	for i := range all {
		all[i].node, all[i].store, all[i].shared = r.Node, r.Storage, r.Shared != 0
	}
	return all, err
}

// active reports whether the node of a storage has reached it lately.
func (r resource) active() bool { return r.Status != "unknown" }

// unreadText says what is not known as storages could not be read.
func unreadText(unread []string) string {
	if len(unread) == 0 {
		return ""
	}
	return "the storage " + strings.Join(unread, ", ") + " cannot be read: user data or disks of a failed clone may be left there"
}

// bareVolumes are those of the IDs that failed clones and deleted VMs of the driver have left,
// and those that they may have left. There is no VM.
func (m machines) bareVolumes(ctx context.Context, c *cluster, ids map[number]bool) (bare, doubtful []volume, err error) {
	all, _, err := m.readVolumes(ctx, c, "images")
	if err != nil {
		return nil, nil, err
	}
	for _, v := range all {
		if !ids[v.VMID] || c.guests[v.VMID] {
			continue
		}
		free, err := m.free(ctx, c, v.VMID)
		if err != nil {
			return nil, nil, err
		}
		if !free {
			continue
		}
		origin, err := m.originOf(ctx, c, v)
		switch {
		case err != nil:
			return nil, nil, err
		case origin == originOwn:
			bare = append(bare, v)
		case origin == originDoubtful:
			doubtful = append(doubtful, v)
		}
	}
	return bare, doubtful, nil
}

// origin is who has created a volume.
type origin int

const (
	originOther origin = iota
	originDoubtful
	originOwn
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
			if t.Type != taskDestroy || t.running() || !m.mine(t) {
				continue
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

func (m machines) deleteVolume(ctx context.Context, v volume) error {
	var upid string
	err := m.Client.Delete(ctx, "/nodes/"+v.node+"/storage/"+v.store+"/content/"+url.PathEscape(v.VolID), &upid)
	if gone(err) {
		return nil
	}
	return err
}
