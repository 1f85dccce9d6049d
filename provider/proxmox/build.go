// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"fmt"
	"maps"

	"github.com/butlerdotdev/butler/provider"
)

// build is the work of one Create on a VM that was cloned, and that nothing else works on.
type build struct {
	machines
	op   string
	spec provider.MachineSpec
	seen *cluster
	vm   *vm
	// is what Create returns if no further step can be taken now.
	is provider.Machine
}

// run configures the VM, enlarges its disk and starts it. Each step is a task of the platform
// that is looked at once, and not awaited: if it runs, the next call continues.
func (b *build) run(ctx context.Context) (provider.Machine, error) {
	for _, step := range []func(context.Context) (ended bool, err error){b.configure, b.enlarge, b.start} {
		ended, err := step(ctx)
		if err != nil {
			return provider.Machine{}, within(b.op, err)
		}
		if !ended {
			return b.is, nil
		}
	}
	return b.started(ctx)
}

// take begins a task and reports it, with the failure of the last one. It returns whether the
// task has ended with success; without an ID the platform has answered when it was done.
func (b *build) take(ctx context.Context, kind, doing string, begin func(upid *string) error) (ended bool, err error) {
	var upid string
	if err := begin(&upid); err != nil {
		return false, err
	}
	if upid == "" {
		return true, nil
	}
	t, known := b.look(ctx, b.vm.Node, upid)
	if t.Type = kind; known && !t.running() {
		b.vm.tasks = append([]task{t}, b.vm.tasks...)
	}
	b.describe(kind, doing)
	return known && !t.running() && !t.failed(), nil
}

// describe sets the message: what is being done, and how the last try has failed.
func (b *build) describe(kind, doing string) {
	b.is.Message = b.vm.String() + ": " + doing
	if t, found := last(b.vm.tasks, kind); found && t.failed() {
		b.is.Reason = failureReason(t)
		b.is.Message += "; the last try failed: " + stable(t.Status)
	}
}

// configure writes what differs from the machine that is wanted.
func (b *build) configure(ctx context.Context) (ended bool, err error) {
	if _, ok := b.vm.settings.root(); !ok {
		return false, provider.Invalid.New(b.op, provider.ReasonImageInvalid, fmt.Errorf("%s has no disk", b.vm), "attach the disk of Talos to the template")
	}
	iso, ready, err := b.ensureISO(ctx, b.op, b.spec, b.seen, b.vm)
	if err != nil {
		return false, err
	}
	if !ready {
		b.is.Message = b.vm.String() + ": its user data is being uploaded as an ISO image"
		return false, nil
	}
	wanted, err := b.wantedSettings(b.op, b.spec, b.vm, iso)
	if err != nil {
		return false, err
	}
	changes := b.vm.settings.differing(wanted)
	if len(changes) == 0 {
		return true, nil
	}
	changes["digest"] = b.vm.settings["digest"]
	ended, err = b.take(ctx, taskConfig, "it is being configured", func(into *string) error {
		return b.Post(ctx, vmPath(b.vm.Node, b.vm.VMID)+"/config", changes, into)
	})
	if ended {
		maps.Copy(b.vm.settings, wanted)
	}
	return ended, err
}

// enlarge extends the disk of the template to the size that is wanted.
func (b *build) enlarge(ctx context.Context) (ended bool, err error) {
	root, _ := b.vm.settings.root()
	if root.gigabytes() >= int64(b.spec.DiskGB) {
		return true, nil
	}
	return b.take(ctx, taskResize, "its disk is being enlarged", func(into *string) error {
		return b.Put(ctx, vmPath(b.vm.Node, b.vm.VMID)+"/resize", map[string]any{"disk": root.slot, "size": fmt.Sprintf("%dG", b.spec.DiskGB)}, into)
	})
}

// start starts the VM. That it runs is what counts, not the end of the task.
func (b *build) start(ctx context.Context) (runs bool, err error) {
	var upid string
	if err := b.Post(ctx, vmPath(b.vm.Node, b.vm.VMID)+"/status/start", nil, &upid); err != nil {
		return false, err
	}
	b.describe(taskStart, "it is being started")
	err = b.readStatus(ctx, b.vm)
	return err == nil && b.vm.now.Status == "running", nil // else the next call reads it
}

// started removes the tag of a new VM.
func (b *build) started(ctx context.Context) (provider.Machine, error) {
	v, tags := b.vm, words(b.vm.settings["tags"])
	delete(tags, wordNew)
	v.settings["tags"] = joined(tags)
	if err := b.Put(ctx, vmPath(v.Node, v.VMID)+"/config", map[string]any{"tags": v.settings["tags"]}, nil); err != nil {
		return provider.Machine{}, within(b.op, err)
	}
	is, err := b.report(ctx, b.seen, b.spec.MachineRef, v)
	if err == nil {
		seen := is
		seen.Ref = v.ref()
		b.known.note(v.VMID, v.sign(), seen)
	}
	return is, within(b.op, err)
}
