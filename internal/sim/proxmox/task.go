// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// task is what a worker of a node carries out.
type task struct {
	UPID, Node, Type, ID, User string
	PID                        int
	Start, End                 time.Time
	Status                     string // of one that has ended: OK, or what went wrong
	Log                        []string
	// Kind is the key of the worker, Params what it gets. Begun says that its first part
	// is done, Ended that its last one is.
	Kind         string
	Params       map[string]string
	Begun, Ended bool
}

func (t *task) running() bool { return t.End.IsZero() }

func (t *task) print(format string, args ...any) { t.Log = append(t.Log, fmt.Sprintf(format, args...)) }

// worker carries tasks out, under the lock: begin at once, end after a time. Either may be
// nil.
type worker struct {
	takes      func(p *PVE, t *task) time.Duration
	begin, end func(p *PVE, t *task) error
	// locks is a worker that needs the lock file of its VM to end, and waits for it.
	locks bool
}

// time is how long a task takes.
func (w worker) time(p *PVE, t *task) time.Duration {
	if w.takes == nil {
		return 0
	}
	return w.takes(p, t)
}

func workers() map[string]worker {
	return map[string]worker{
		"qmclone":    {takes: (*PVE).copying, begin: beginClone, end: endClone},
		"qmcreate":   {end: endCreate},
		"qmconfig":   {end: endConfig},
		"resize":     {end: endResize},
		"qmstart":    {end: endStart},
		"qmstop":     {end: endStop},
		"qmshutdown": {end: endStop},
		"qmreboot":   {end: endReboot},
		"qmdestroy":  {takes: (*PVE).working, end: endDestroy, locks: true},
		"qmigrate":   {takes: (*PVE).working, begin: beginMigrate, end: endMigrate},
		"qmtemplate": {end: endTemplate},
		"imgcopy":    {end: endUpload},
		"imgdel":     {end: endRemoveVolume},
		"pretended":  {takes: (*PVE).working, end: endPretended},
	}
}

// copying is how long it takes to copy disks.
func (p *PVE) copying(*task) time.Duration {
	if p.seed.Tasks > 0 {
		return p.seed.Tasks
	}
	return 2 * p.Options.Create
}

// working is how long other tasks take that are not done at once.
func (p *PVE) working(*task) time.Duration {
	if p.seed.Tasks > 0 {
		return p.seed.Tasks
	}
	return p.Options.Create
}

// firstPID is that of the first task after a start of the simulator.
const firstPID = 1200

// fork starts a task and returns its ID.
func (c *call) fork(kind, id string, params map[string]string) string {
	return c.begin(&task{Node: c.at(), Type: kind, ID: id, User: c.who, Params: params})
}

// begin starts a task. Its worker is that of its type unless it names another one.
func (p *PVE) begin(t *task) string {
	p.pids++
	t.PID, t.Start, t.Kind = p.pids, time.Now(), cmp.Or(t.Kind, t.Type)
	t.UPID = fmt.Sprintf("UPID:%s:%08X:%08X:%08X:%s:%s:%s:", t.Node, t.PID, t.Start.UnixNano()/1e7&0xffffffff, t.Start.Unix(), t.Type, t.ID, t.User)
	p.st.tasks.Put(t.UPID, t)
	p.work(t)
	return t.UPID
}

// work carries a task out until the platform ends. It continues after a restart.
func (p *PVE) work(t *task) {
	p.tasks.Go(func() {
		w := workers()[t.Kind]
		takes := w.time(p, t)
		if t.Begun {
			w.begin = nil
		}
		if t.Ended {
			w.end = nil
		}
		if takes+p.seed.Linger == 0 && !w.locks {
			p.step(t, w.begin, w.end, succeed)
			return
		}
		p.step(t, w.begin)
		if !p.Sleep(time.Until(t.Start.Add(takes))) {
			return
		}
		if w.locks && !p.awaitLock(t) {
			return
		}
		p.step(t, w.end, ended)
		if p.Sleep(p.seed.Linger) {
			p.step(t, succeed)
		}
	})
}

// ended records that what a task does is done, though it may be reported as running for a while.
func ended(_ *PVE, t *task) error {
	t.Ended = true
	return nil
}

func succeed(p *PVE, t *task) error {
	p.end(t, nil)
	return nil
}

// lockTimeout is how long a task waits for the lock file of a VM.
const lockTimeout = 10 * time.Second

// awaitLock waits until no clone holds the lock file of a task's VM: it has it until it
// ends. A task that does not get it in time fails. It reports false if the platform ends.
func (p *PVE) awaitLock(t *task) bool {
	for until := time.Now().Add(lockTimeout); ; {
		held := false
		p.Do(func() { held = p.cloningTo(t.ID, t) })
		if !held {
			return true
		}
		if time.Now().After(until) {
			p.step(t, endPretended)
			return true
		}
		if !p.Sleep(10 * time.Millisecond) {
			return false
		}
	}
}

// step carries out parts of a task that runs, and ends the task if one fails.
func (p *PVE) step(t *task, parts ...func(*PVE, *task) error) {
	p.Do(func() {
		for _, do := range parts {
			if do == nil || !t.running() {
				continue
			}
			if err := do(p, t); err != nil {
				p.end(t, err)
				return
			}
			t.Begun = true
		}
		if t.running() {
			p.st.tasks.Put(t.UPID, t)
		}
	})
}

// warnings counts those in the log.
func (t *task) warnings() (n int) {
	for _, l := range t.Log {
		if strings.HasPrefix(l, "WARN: ") {
			n++
		}
	}
	return n
}

// end records the result of a task.
func (p *PVE) end(t *task, err error) {
	t.End, t.Status = time.Now(), "OK"
	line := "TASK OK"
	if n := t.warnings(); n > 0 {
		t.Status = fmt.Sprintf("WARNINGS: %d", n)
		line = "TASK " + t.Status
	}
	if err != nil {
		t.Status = strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", " ")
		line = "TASK ERROR: " + t.Status
	}
	t.print("%s", line)
	p.st.tasks.Put(t.UPID, t)
}

// show is a task as the API reports it. That of a token is shown as the user's.
func (t *task) show() map[string]any {
	out := map[string]any{
		"upid": t.UPID, "node": t.Node, "pid": t.PID, "pstart": t.pstart(), "starttime": t.Start.Unix(), "type": t.Type, "id": t.ID, "user": t.User,
	}
	if user, name, is := strings.Cut(t.User, "!"); is {
		out["user"], out["tokenid"] = user, name
	}
	return out
}

func (t *task) pstart() int64 {
	v, _ := strconv.ParseInt(strings.Split(t.UPID, ":")[3], 16, 64)
	return v
}

// seenBy reports whether a caller owns a task: a user owns those of its tokens too.
func (t *task) seenBy(who string) bool { return t.User == who || userOf(t.User) == who }

var upidForm = regexp.MustCompile(`^UPID:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?:[0-9A-Fa-f]{8}:[0-9A-Fa-f]{8,9}:[0-9A-Fa-f]{8}:[^:\s/]+:[^:\s/]*:[^:\s/]+:$`)

// taskOf returns the task of a call.
func (c *call) taskOf(privilege string) (*task, error) {
	upid := c.params["upid"]
	if !upidForm.MatchString(upid) {
		return nil, wrongParam("upid", "unable to parse worker upid")
	}
	t := c.st.tasks.ByID[upid]
	if t == nil || t.Node != c.at() {
		return nil, wrongParam("upid", "no such task")
	}
	if !t.seenBy(c.who) {
		return t, c.need("/nodes/"+t.Node, privilege)
	}
	return t, nil
}

func getTaskStatus(c *call) (any, error) {
	t, err := c.taskOf("Sys.Audit")
	if err != nil {
		return nil, err
	}
	out := t.show()
	out["status"] = "running"
	if !t.running() {
		out["status"], out["exitstatus"] = "stopped", t.Status
	}
	return out, nil
}

func getTaskLog(c *call) (any, error) {
	t, err := c.taskOf("Sys.Audit")
	if err != nil {
		return nil, err
	}
	type line struct {
		N int    `json:"n"`
		T string `json:"t"`
	}
	first, limit := c.number("start", 0), c.number("limit", 50)
	lines := []line{}
	for i, text := range t.Log {
		if i >= first && len(lines) < limit {
			lines = append(lines, line{i + 1, text})
		}
	}
	if len(t.Log) == 0 {
		lines = append(lines, line{1, "no content"})
	}
	return listed{lines, max(len(t.Log), 1)}, nil
}

// stopTask ends the worker of a task where it is.
func stopTask(c *call) (any, error) {
	t, err := c.taskOf("Sys.Modify")
	if err != nil {
		return nil, err
	}
	if t.running() {
		c.end(t, errors.New("interrupted by signal"))
	}
	return nil, nil
}

// number is an integer of the parameters.
func (c *call) number(name string, otherwise int) int {
	if v, err := strconv.Atoi(c.params[name]); err == nil {
		return v
	}
	return otherwise
}

// listTasks lists the tasks of a node, the last one first.
func listTasks(c *call) (any, error) {
	audits := c.may("/nodes/"+c.at(), "Sys.Audit")
	source := c.params["source"]
	var all []*task
	for _, t := range c.st.tasks.ByID {
		switch {
		case t.Node != c.at() || !audits && !t.seenBy(c.who):
		case source == "active" && !t.running(), source != "active" && source != "all" && t.running():
		case !c.selects(t):
		default:
			all = append(all, t)
		}
	}
	return c.showTasks(all), nil
}

// selects reports whether a task fits the filters of a call.
func (c *call) selects(t *task) bool {
	failed := !t.running() && t.Status != "OK"
	since, until := c.number("since", 0), c.number("until", 1<<40)
	switch {
	case c.params["vmid"] != "" && t.ID != c.params["vmid"],
		c.params["typefilter"] != "" && t.Type != c.params["typefilter"],
		c.params["userfilter"] != "" && !strings.Contains(strings.ToLower(t.User), strings.ToLower(c.params["userfilter"])),
		c.params["errors"] == "1" && !failed,
		t.Start.Unix() < int64(since), t.Start.Unix() > int64(until):
		return false
	}
	if filter := splitList(strings.ToLower(c.params["statusfilter"])); len(filter) > 0 && c.params["errors"] != "1" {
		return slices.Contains(filter, map[bool]string{true: "error", false: "ok"}[failed])
	}
	return true
}

func (c *call) showTasks(all []*task) listed {
	slices.SortFunc(all, func(a, b *task) int { return b.Start.Compare(a.Start) })
	out := []map[string]any{}
	first, limit := c.number("start", 0), c.number("limit", 50)
	for i, t := range all {
		if i < first || len(out) >= limit {
			continue
		}
		one := t.show()
		one["status"] = "RUNNING"
		if !t.running() {
			one["endtime"], one["status"] = t.End.Unix(), t.Status
		}
		out = append(out, one)
	}
	return listed{out, len(all)}
}

// listClusterTasks lists the recent tasks of all nodes.
func listClusterTasks(c *call) (any, error) {
	var all []*task
	for _, t := range c.st.tasks.ByID {
		if t.seenBy(c.who) || c.may("/nodes/"+t.Node, "Sys.Audit") {
			all = append(all, t)
		}
	}
	shown := c.showTasks(all)
	for _, one := range shown.data.([]map[string]any) { //nolint:forcetypeassert // showTasks returns it
		if one["status"] == "RUNNING" {
			delete(one, "status")
		}
	}
	return shown.data, nil
}
