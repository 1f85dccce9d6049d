// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// attempt is what one attempt to create a machine asks for, beside the spec. It is recorded
// before the call, so that what the call left is known to be the driver's own.
type attempt struct {
	cloud.Attempt
	// Shift counts the nodes that had no room.
	Shift  int    `json:"shift,omitempty"`
	VMID   number `json:"vmid"`
	Node   string `json:"node"`
	Source copyOf `json:"source"`
	Full   bool   `json:"full,omitempty"`
	// After is the last task that cloned to this ID before: it is not that of the attempt.
	After string `json:"after,omitempty"`
}

func (a *attempt) check() error {
	if a.VMID == 0 || a.Node == "" || a.Source.Node == "" || a.Source.VMID == 0 {
		return errors.New("vmid, node or source is missing")
	}
	return nil
}

// plan chooses ID, node and template of the next attempt. The ID stays the same until it is
// certain that nothing is cloned to it any more: two IDs would be two VMs.
func (m machines) plan(ctx context.Context, s provider.MachineSpec, last provider.Attempt) (string, error) {
	op := fmt.Sprintf("plan machine %q on %s", s.Name, m.config)
	var before, next attempt
	if cloud.ReadRecord(op, last.Record, &before, before.check) == nil {
		if last.Refused == nil {
			return last.Record, nil
		}
		next = before.next(last.Refused)
	}
	c, err := m.seen.Do(ctx, s.Name)
	if err != nil {
		return "", within(op, err)
	}
	a, err := m.resolve(ctx, c, s, next, true)
	if err != nil {
		return "", within(op, err)
	}
	return cloud.Record(a)
}

// choose returns the template that a machine is a clone of. Its node and ID depend on what
// is there when it is created.
func (m machines) choose(_ context.Context, s provider.MachineSpec) (provider.Choice, error) {
	return provider.Choice{Image: m.wanted(s)}, nil
}

// next is what follows an attempt that was refused: after most refusals its ID again, as a
// clone of an earlier call may still run; after a lack of capacity another node.
func (a attempt) next(refused error) attempt {
	next := attempt{Attempt: cloud.Attempt{Number: a.Number + 1}, Shift: a.Shift}
	switch provider.ReasonOf(refused) {
	case provider.ReasonCapacityExhausted:
		next.Shift++
	case provider.ReasonAttemptSpent, provider.ReasonAttemptInvalid:
	default:
		next.Number, next.VMID, next.After = a.Number, a.VMID, a.After
	}
	return next
}

// resolve looks up what an attempt asks for. One that is planned has not been called yet.
func (m machines) resolve(ctx context.Context, c *cluster, s provider.MachineSpec, a attempt, planned bool) (attempt, error) {
	all, err := m.places(ctx, c, s)
	if err != nil {
		return a, err
	}
	at := choose(all, s, a.Shift)
	if err := m.checkPlace(ctx, c, s, at); err != nil {
		return a, err
	}
	a.Node, a.Source, a.Full = at.node, at.source.copyOf, m.full(at.source)
	if a.VMID != 0 {
		return a, nil
	}
	var disks map[number]bool
	if planned { // without a record they may be those of an earlier call
		if disks, err = m.volumes.Do(ctx, s.Name); err != nil {
			return a, err
		}
	}
	if a.Number, a.VMID, err = m.freeID(ctx, c, disks, s.Owner.ID, a.Number); err != nil {
		return a, err
	}
	before, found, err := m.cloning(ctx, a.Source.Node, a.VMID)
	switch {
	case err != nil:
		return a, err
	case found && !before.running():
		a.After = before.UPID
	case found && planned: // that of another request, which has not written its configuration yet
		a.Number, a.VMID = a.Number+1, 0
		return m.resolve(ctx, c, s, a, planned)
	}
	return a, nil
}

// checkPlace refuses a place that lacks what a machine needs.
func (m machines) checkPlace(ctx context.Context, c *cluster, s provider.MachineSpec, at place) error {
	if err := at.source.check(s); err != nil {
		return err
	}
	if err := m.checkStorage(c, at.node, m.spec.Storage, "spec.proxmox.storage"); err != nil {
		return err
	}
	for _, d := range s.ExtraDisks {
		if d.StorageClass == "" {
			continue
		}
		if err := m.checkStorage(c, at.node, d.StorageClass, "the storageClass of extraDisks"); err != nil {
			return err
		}
	}
	if _, ok := m.isoStorage(c, at.node); !ok && needsISO(s) {
		return errISO("", at.node)
	}
	return m.checkBridge(ctx, at.node)
}

// attempt returns what the recorded attempt asks for. Without a record it is the next one.
func (m machines) attempt(ctx context.Context, op string, c *cluster, s provider.MachineSpec) (a attempt, err error) {
	if s.Attempt == "" {
		a, err = m.resolve(ctx, c, s, attempt{}, false)
		return a, within(op, err)
	}
	return a, cloud.ReadRecord(op, s.Attempt, &a, func() error {
		if a.Node != "" && !slices.Contains(m.spec.Nodes, a.Node) {
			return errors.New("its node " + a.Node + " is not in the ProviderConfig")
		}
		return a.check()
	})
}

// spent is the error of an attempt whose ID creates nothing more.
func spent(op string, err error) error {
	return provider.Exhausted.New(op, provider.ReasonAttemptSpent, err, "it is retried with another VMID")
}
