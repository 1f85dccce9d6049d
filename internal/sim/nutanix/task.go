// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// The operations of tasks, as the platform calls them.
const (
	taskCreate      = "create_vm_intentful"
	taskUpdate      = "update_vm_intentful"
	taskDelete      = "delete_vm_intentful"
	taskClone       = "clone_vm"
	taskCreateImage = "create_image_intentful"
	taskDeleteImage = "delete_image_intentful"
	// taskPretended is a task that fails after it was accepted.
	taskPretended = "delete_vm_intentful_pretended"
)

// The states of an intent whose task has not ended.
const (
	statePending = "PENDING"
	stateRunning = "RUNNING"
)

// task is what a task carries out. It is kept with the task.
type task struct {
	Operation, Kind, UUID, User, Cluster string
	Spec                                 object // of a change
}

func newUUID() string { return uuid.NewString() }

// failure is the error of a task: code is a reason of the API.
func failure(code, format string, args ...any) error {
	return &datacenter.OperationError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// openTasks opens the tasks, and continues those that were pending.
func (p *Prism) openTasks(dir string) (err error) {
	all := map[string]datacenter.OperationKind{}
	for name, do := range map[string]func(task) error{
		taskCreate: p.applyCreate, taskUpdate: p.applyUpdate, taskDelete: p.applyDelete, taskClone: p.applyClone,
		taskCreateImage: p.applyImage, taskDeleteImage: p.applyDeleteImage, taskPretended: pretended,
	} {
		all[name] = datacenter.OperationKind{Takes: p.takes(name), Do: carryOutTask(do)}
	}
	p.tasks, err = datacenter.OpenOperations(datacenter.OperationOptions{Dir: dir, Kinds: all})
	return err
}

func carryOutTask(do func(task) error) func(context.Context, datacenter.Operation) error {
	return func(_ context.Context, o datacenter.Operation) error {
		var t task
		if err := json.Unmarshal(o.Input, &t); err != nil {
			return err
		}
		return do(t)
	}
}

// takes is how long a task is pending.
func (p *Prism) takes(operation string) time.Duration {
	if operation == taskCreate {
		return 2 * p.Options.Create
	}
	return p.Options.Create
}

// begin begins a task on an entity.
func (c *call) begin(operation string, e *entity, spec object) (string, error) {
	return c.beginFor(c.who.UUID, operation, e, spec)
}

func (p *Prism) beginFor(user, operation string, e *entity, spec object) (string, error) {
	input, err := json.Marshal(task{Operation: operation, Kind: e.Kind, UUID: e.UUID, User: user, Cluster: e.Spec.sub("cluster_reference").str("uuid"), Spec: spec})
	if err != nil {
		return "", err
	}
	o, err := p.tasks.Begin(datacenter.Operation{Kind: operation, Target: e.UUID, Input: input})
	return o.ID, err
}

// pending reports whether the last task of an entity has not ended.
func (p *Prism) pending(e *entity) bool {
	if len(e.Tasks) == 0 {
		return false
	}
	o, found := p.tasks.Get(e.Tasks[len(e.Tasks)-1])
	return found && !o.Done()
}

// state is that of an entity.
func (p *Prism) state(e *entity) string {
	switch {
	case e.Deleting:
		return stateDeleting
	case !p.pending(e):
		return e.State
	}
	o, _ := p.tasks.Get(e.Tasks[len(e.Tasks)-1])
	return p.progress(o, statePending, stateRunning)
}

// progress is the first word in the first half of a task, then the second.
func (p *Prism) progress(o datacenter.Operation, first, second string) string {
	if time.Since(o.Began) < p.takes(o.Kind)/2 {
		return first
	}
	return second
}

func getTask(c *call) (any, error) {
	o, found := c.tasks.Get(c.params[0])
	if !found {
		return nil, notFound("task", c.params[0])
	}
	shown, t := c.showTask(o)
	if t.User != c.who.UUID {
		if err := c.allow("View_Task"); err != nil {
			return nil, err
		}
	}
	return shown, nil
}

func listTasks(c *call) (any, error) {
	var all []object
	for _, o := range c.tasks.List() {
		if shown, t := c.showTask(o); t.User == c.who.UUID || c.who.may("View_Task") {
			all = append(all, shown)
		}
	}
	part, err := page(c, all)
	if err != nil {
		return nil, err
	}
	return object{"api_version": apiVersion, "metadata": c.listMetadata(len(part), len(all)), "entities": anys(part)}, nil
}

// showTask is a task as the API answers with it. A user sees the operation that was asked
// for, and not that it is a fault.
func (p *Prism) showTask(o datacenter.Operation) (object, task) {
	var t task
	if err := json.Unmarshal(o.Input, &t); err != nil {
		return object{}, t
	}
	out := object{
		"api_version": apiVersion, "uuid": o.ID, "status": p.progress(o, "QUEUED", "RUNNING"), "operation_type": t.Operation, "progress_message": t.Operation,
		"percentage_complete": 0, "logical_timestamp": 1, "creation_time": stamp(o.Began), "start_time": stamp(o.Began), "last_update_time": stamp(o.Began),
		"creation_time_usecs": o.Began.UnixMicro(), "start_time_usecs": o.Began.UnixMicro(), "subtask_reference_list": []any{},
		"entity_reference_list": []any{reference(t.Kind, t.UUID, "")},
	}
	if t.Cluster != "" {
		out["cluster_reference"] = reference(kindCluster, t.Cluster, "")
	}
	if !o.Done() {
		return out, t
	}
	out["status"], out["percentage_complete"], out["logical_timestamp"] = "SUCCEEDED", 100, 2
	out["completion_time"], out["last_update_time"], out["completion_time_usecs"] = stamp(o.Ended), stamp(o.Ended), o.Ended.UnixMicro()
	if f := o.Failure; f != nil {
		out["status"], out["error_code"], out["error_detail"] = "FAILED", f.Code, f.Error()
	}
	return out, t
}

// pretended is what a task does that a fault plan lets fail.
func pretended(task) error {
	return failure("INTERNAL_ERROR", "Internal Server Error. Failed to delete the VM on its cluster.")
}
