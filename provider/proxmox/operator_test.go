// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	sim "github.com/butlerdotdev/butler/internal/sim/proxmox"
	"github.com/butlerdotdev/butler/provider/providertest"
)

// operator sees and changes the simulated cluster as its administrator does. Faults are the
// simulator's.
type operator struct{ *fixture }

// Inject implements providertest.Operator. Half a machine is a VM that was cloned and cannot be
// configured; it is looked at once the clone has ended.
func (o operator) Inject(ctx context.Context, f providertest.Fault) (lift func(), err error) {
	if f != providertest.HalfDone {
		return o.Simulator.Inject(ctx, f)
	}
	stop, err := o.RefuseUpdates(ctx)
	return func() { stop(); o.idle(ctx) }, err
}

// idle waits until no VM is being cloned.
func (o operator) idle(ctx context.Context) {
	for ctx.Err() == nil {
		var running []task
		err := o.admin.Call(ctx, http.MethodGet, "/cluster/tasks", &running)
		busy := false
		for _, t := range running {
			busy = busy || t.Type == taskClone && t.running()
		}
		if err == nil && !busy {
			return
		}
		<-time.After(20 * time.Millisecond)
	}
}

// CreateConflict implements providertest.Operator.
func (o operator) CreateConflict(ctx context.Context, name string) error {
	return o.copyVM(ctx, "pve2", 9001, name)
}

// copyVM clones a VM as the console does.
func (o operator) copyVM(ctx context.Context, node string, vmid int, as string) error {
	var next any
	if err := o.admin.Call(ctx, http.MethodGet, "/cluster/nextid", &next); err != nil {
		return err
	}
	return o.admin.Do(ctx, http.MethodPost, fmt.Sprintf("/nodes/%s/qemu/%d/clone", node, vmid), "newid", fmt.Sprint(next), "name", as, "full", "1")
}

// Clone implements providertest.Operator: a clone has the tags and the notes of its source.
func (o operator) Clone(ctx context.Context, name, as string) (func(), error) {
	of, err := o.named(ctx, name)
	if err != nil || len(of) != 1 {
		return nil, fmt.Errorf("%d machines of the name: %w", len(of), err)
	}
	err = o.copyVM(ctx, of[0].Node, of[0].VMID, as)
	return func() {
		all, _ := o.named(context.WithoutCancel(ctx), as)
		for _, r := range all { // what is left is seen by the next look
			_ = o.admin.Do(context.WithoutCancel(ctx), http.MethodDelete, fmt.Sprintf("/nodes/%s/qemu/%d", r.Node, r.VMID))
		}
	}, err
}

func (o operator) named(ctx context.Context, name string) (all []sim.Resource, err error) {
	vms, err := o.admin.VMs(ctx)
	for _, r := range vms {
		if r.Name == name {
			all = append(all, r)
		}
	}
	return all, err
}

// Inspect implements providertest.Operator: volumes are those of the machine's VM, and its user data.
func (o operator) Inspect(ctx context.Context, name string) (s providertest.View, err error) {
	vms, err := o.named(ctx, name)
	if err != nil {
		return s, err
	}
	ids := map[int]bool{}
	for _, r := range vms {
		ids[r.VMID] = true
		seen, err := o.seen(ctx, r)
		if err != nil {
			return s, err
		}
		s.Machines = append(s.Machines, seen)
	}
	volumes, err := o.admin.Volumes(ctx)
	for _, v := range volumes {
		if ids[v.VMID] || strings.Contains(v.VolID, "_"+name+"_") {
			s.Parts = append(s.Parts, v.VolID+" on "+v.Node)
		}
	}
	return s, err
}

func (o operator) seen(ctx context.Context, r sim.Resource) (s providertest.MachineState, err error) {
	var have settings
	if err := o.admin.Call(ctx, http.MethodGet, fmt.Sprintf("/nodes/%s/qemu/%d/config", r.Node, r.VMID), &have); err != nil {
		return s, err
	}
	number := func(text string) int32 { n, _ := strconv.Atoi(text); return int32(n) }
	s = providertest.MachineState{ID: fmt.Sprint(r.VMID), Labels: map[string]string{}, Version: have["digest"], CPU: number(have["cores"]), MemoryMB: number(have["memory"])}
	s.Owner = marked(words(have["tags"])).OwnerID
	for w := range words(have["tags"]) {
		name, value, _ := strings.Cut(w, ".")
		s.Labels[name] = value
	}
	root, _ := have.root()
	s.DiskGB = int32(root.gigabytes())
	for _, d := range have.drives() {
		if !d.cdrom() && d.slot != root.slot {
			s.ExtraDisksGB = append(s.ExtraDisksGB, int32(d.gigabytes()))
		}
	}
	s.UserData, _ = o.UserData(r.Name)
	return s, nil
}
