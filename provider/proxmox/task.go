// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Types of tasks.
const (
	taskClone   = "qmclone"
	taskConfig  = "qmconfig"
	taskResize  = "resize"
	taskStart   = "qmstart"
	taskStop    = "qmstop"
	taskDestroy = "qmdestroy"
)

// task is one that a node runs or has run.
type task struct {
	UPID  string `json:"upid"`
	Node  string `json:"node"`
	Type  string `json:"type"`
	ID    string `json:"id"`
	User  string `json:"user"`
	Token string `json:"tokenid"`
	Start number `json:"starttime"`
	End   number `json:"endtime"`
	// Status is empty or RUNNING, then OK, or what went wrong.
	Status string `json:"status"`
}

func (t task) running() bool {
	return t.End == 0 && (t.Status == "" || strings.EqualFold(t.Status, "running"))
}

// failed reports whether a task has ended without success. Warnings are a success.
func (t task) failed() bool {
	return !t.running() && t.Status != "OK" && !strings.HasPrefix(t.Status, "WARNINGS")
}

// readTasks lists the tasks of a node, the newest first. Without Sys.Audit these are the
// driver's own.
func (p *platform) readTasks(ctx context.Context, node string, query url.Values) (all []task, err error) {
	query.Set("source", "all")
	err = p.get(ctx, "/nodes/"+node+"/tasks", query, &all)
	slices.SortStableFunc(all, func(a, b task) int { return int(b.Start - a.Start) })
	return all, err
}

// listed are tasks of a node.
type listed struct {
	tasks []task
	err   error
}

// readClones lists the clones of nodes.
func (p *platform) readClones(ctx context.Context, nodes []string) (map[string]listed, error) {
	all := map[string]listed{}
	for _, node := range nodes {
		if _, known := all[node]; !known {
			tasks, err := p.readTasks(ctx, node, url.Values{"typefilter": {taskClone}, "limit": {"500"}})
			all[node] = listed{tasks, err}
		}
	}
	return all, nil
}

// tasksOf lists the tasks on a VM, the newest first.
func (p *platform) tasksOf(ctx context.Context, node string, vmid number) ([]task, error) {
	return p.readTasks(ctx, node, url.Values{"vmid": {strconv.Itoa(int(vmid))}, "limit": {"20"}})
}

// readTasksOf reads the tasks on a VM, unless this call has done so.
func (p *platform) readTasksOf(ctx context.Context, v *vm) (err error) {
	if v.tasks == nil {
		v.tasks, err = p.tasksOf(ctx, v.Node, v.VMID)
	}
	return err
}

// last returns the newest task of the types.
func last(all []task, types ...string) (task, bool) {
	i := slices.IndexFunc(all, func(t task) bool { return slices.Contains(types, t.Type) })
	if i < 0 {
		return task{}, false
	}
	return all[i], true
}

// busy returns a task that runs.
func busy(all []task) (task, bool) {
	i := slices.IndexFunc(all, task.running)
	if i < 0 {
		return task{}, false
	}
	return all[i], true
}

// mine reports whether the driver's credentials have started a task.
func (p *platform) mine(t task) bool {
	name := t.User
	if t.Token != "" && !strings.Contains(name, "!") {
		name += "!" + t.Token
	}
	return name == p.user
}

// akin reports whether the driver's user has started a task, with whatever token: that may
// have been replaced since.
func (p *platform) akin(t task) bool {
	user, _, _ := strings.Cut(t.User, "!")
	own, _, _ := strings.Cut(p.user, "!")
	return user == own
}

// nothing are the ends of a clone that found its ID in use, and has created nothing.
var nothing = regexp.MustCompile(`(?i)config file already exists|file exists|can't lock file '[^']*/lock-\d+\.conf'`)

// counts reports whether a clone may have created something for the driver. What a failed one
// has left is removed: that of another token is not known to be the driver's.
func (p *platform) counts(t task) bool {
	return t.Type == taskClone && p.akin(t) && (!t.failed() || p.mine(t) && !nothing.MatchString(t.Status))
}

// clones remembers which VM a task creates: the task itself names only the template. What it
// holds never changes and can be read again.
type clones struct {
	mu      sync.Mutex
	targets map[string]number
}

var (
	announced = regexp.MustCompile(`creating a clone of VM \d+ with ID (\d+)`)
	allocated = regexp.MustCompile(`\bvm-(\d+)-(?:disk|cloudinit|state)`)
)

// targetOf returns the VM that a qmclone task creates, 0 if its log does not show it. Proxmox
// VE writes the ID since version 9.2; before, the names of the volumes have it.
func (p *platform) targetOf(ctx context.Context, t task) (number, error) {
	p.clones.mu.Lock()
	known := p.clones.targets[t.UPID]
	p.clones.mu.Unlock()
	if known != 0 {
		return known, nil
	}
	lines, err := p.readLog(ctx, t)
	if gone(err) { // logs are removed before the index of tasks
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, form := range []*regexp.Regexp{announced, allocated} {
		for _, l := range lines {
			if m := form.FindStringSubmatch(l.Text); m != nil && m[1] != t.ID {
				id, _ := strconv.Atoi(m[1]) // digits
				p.began(number(id), t.UPID)
				return number(id), nil
			}
		}
	}
	return 0, nil
}

// line is one of the log of a task.
type line struct {
	Text string `json:"t"`
}

func (p *platform) readLog(ctx context.Context, t task) (lines []line, err error) {
	err = p.get(ctx, "/nodes/"+t.Node+"/tasks/"+url.PathEscape(t.UPID)+"/log", url.Values{"limit": {"100"}}, &lines)
	return lines, err
}

// look reads how far a task of the driver is. It is not known if that cannot be read.
func (p *platform) look(ctx context.Context, node, upid string) (t task, known bool) {
	var said struct {
		Status string `json:"status"`
		Exit   string `json:"exitstatus"`
	}
	err := p.get(ctx, "/nodes/"+node+"/tasks/"+url.PathEscape(upid)+"/status", nil, &said)
	t = task{UPID: upid, Node: node}
	if said.Status == "stopped" {
		t.Status = said.Exit
	}
	return t, err == nil && (said.Status == "running" || said.Status == "stopped" && said.Exit != "")
}

// began notes which VM a task creates.
func (p *platform) began(vmid number, upid string) {
	p.clones.mu.Lock()
	defer p.clones.mu.Unlock()
	if upid != "" {
		p.clones.targets[upid] = vmid
	}
}

// cloning returns the task of the driver on a node that clones a template to a VM: the one that
// runs, else the newest.
func (p *platform) cloning(ctx context.Context, node string, vmid number) (task, bool, error) {
	t, _, err := p.cloneTasks(ctx, node, vmid)
	return value(t), t != nil, err
}

// pending is like cloning, but returns a clone that runs and does not say yet what it creates
// before one that has ended: it may create this VM.
func (p *platform) pending(ctx context.Context, node string, vmid number) (task, bool, error) {
	t, silent, err := p.cloneTasks(ctx, node, vmid)
	if silent != nil && (t == nil || !t.running()) {
		t = silent
	}
	return value(t), t != nil, err
}

// cloneTasks returns the task that clones to a VM, and one that runs for an unknown VM.
func (p *platform) cloneTasks(ctx context.Context, node string, vmid number) (best, silent *task, err error) {
	read, err := p.cloned.Do(ctx, node)
	if err = errors.Join(err, read[node].err); err != nil {
		return nil, nil, err
	}
	for _, t := range read[node].tasks {
		if !p.counts(t) {
			continue
		}
		target, err := p.targetOf(ctx, t)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case target == vmid && (best == nil || t.before(*best)):
			best = &t
		case target == 0 && t.running():
			silent = &t
		}
	}
	return best, silent, nil
}

// before reports whether a task says more about its VM than a newer one: it runs, or it has
// succeeded in the second in which the other one failed.
func (t task) before(newer task) bool {
	return t.running() && !newer.running() || t.Start == newer.Start && !t.failed() && newer.failed()
}
