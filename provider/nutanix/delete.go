// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"fmt"
	"net/http"

	"github.com/butlerdotdev/butler/provider"
)

// Delete records the VM, so that none restored from it is taken for it, and deletes it, with
// which its disks end. A task that changes the VM is left alone
// until it has ended: it may be the deletion. Asked again once the VM is gone, it removes the
// categories that no other VM has.
func (m machines) Delete(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	op := fmt.Sprintf("delete machine %q on %s", ref.Name, m.config)
	v, err := m.find(ctx, ref)
	switch {
	case gone(err):
		return m.absent(ctx, op, ref, true)
	case err != nil:
		return provider.Machine{}, within(op, err)
	case v == nil:
		return m.absent(ctx, op, ref, false)
	}
	left := m.report(*v, ref)
	if left.State == provider.StateDeleting {
		return left, nil
	}
	left.State, left.Message = provider.StateDeleting, "VM "+v.name+" is being deleted"
	busy, err := m.busy(ctx, *v)
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	if busy != "" {
		left.Message = busy
		return left, nil
	}
	if err := m.recordOrigin(ctx, ref, v.uuid); err != nil {
		return provider.Machine{}, within(op, err)
	}
	if err := m.deleteVM(ctx, v.uuid); err != nil && !gone(err) {
		return provider.Machine{}, within(op, err)
	}
	return left, nil
}

// absent reports a machine without a VM, once nothing else of it is left. It is certain that
// none appears if Prism Central no longer knows the UUID.
func (m machines) absent(ctx context.Context, op string, ref provider.MachineRef, certain bool) (provider.Machine, error) {
	if ref.Owner.ID != "" {
		if err := m.retire(ctx, ref.Owner); err != nil {
			return provider.Machine{}, within(op, err)
		}
	}
	return provider.Machine{Ref: ref, State: provider.StateAbsent, Certain: certain}, nil
}

// busy describes the task that changes a VM; empty if there is none. A task of another user
// may not be readable: then Prism Central refuses to delete the VM before that has ended.
func (m machines) busy(ctx context.Context, v vm) (string, error) {
	if v.task == "" || v.state == stateComplete {
		return "", nil
	}
	t, err := m.task(ctx, v.task)
	if err != nil || t.ended() {
		return "", ignoreUnseen(err)
	}
	return fmt.Sprintf("VM %s is being changed by a task (%s); it is deleted after that", v.name, t.operation), nil
}

// ignoreUnseen drops the errors of what is gone or belongs to another user.
func ignoreUnseen(err error) error {
	if gone(err) || status(err) == http.StatusForbidden {
		return nil
	}
	return err
}
