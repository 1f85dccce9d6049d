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

// plan chooses ID, node and template of the next attempt. One that was refused gets another
// ID, and after a lack of capacity another node.
func (m machines) plan(ctx context.Context, s provider.MachineSpec, last provider.Attempt) (string, error) {
	op := fmt.Sprintf("plan machine %q on %s", s.Name, m.config)
	var before attempt
	number, shift := 0, 0
	if cloud.ReadRecord(op, last.Record, &before, before.check) == nil {
		if last.Refused == nil {
			return last.Record, nil
		}
		number, shift = before.Number+1, before.Shift
		if provider.ReasonOf(last.Refused) == provider.ReasonCapacityExhausted {
			shift++
		}
	}
	c, err := m.seen.Do(ctx, s.Name)
	if err != nil {
		return "", within(op, err)
	}
	a, err := m.resolve(ctx, c, s, number, shift, true)
	if err != nil {
		return "", within(op, err)
	}
	return cloud.Record(a)
}

// resolve looks up what an attempt asks for. One that is planned has not been called yet.
func (m machines) resolve(ctx context.Context, c *cluster, s provider.MachineSpec, number, shift int, planned bool) (a attempt, err error) {
	all, err := m.places(ctx, c, s)
	if err != nil {
		return a, err
	}
	at := choose(all, s, shift)
	if err := at.source.checkDisk(s); err != nil {
		return a, err
	}
	if err := m.checkStorage(c, at.node, m.spec.Storage, "spec.proxmox.storage"); err != nil {
		return a, err
	}
	for _, d := range s.ExtraDisks {
		if d.StorageClass == "" {
			continue
		}
		if err := m.checkStorage(c, at.node, d.StorageClass, "the storageClass of extraDisks"); err != nil {
			return a, err
		}
	}
	if _, ok := m.isoStorage(c, at.node); !ok && (s.UserData != "" || s.NetworkData != "") {
		return a, errISO("", at.node)
	}
	if err := m.checkBridge(ctx, at.node); err != nil {
		return a, err
	}
	a = attempt{Shift: shift, Node: at.node, Source: at.source.copyOf, Full: m.full(at.source)}
	if a.Number, a.VMID, err = m.freeID(ctx, c, s.Owner.ID, number); err != nil {
		return a, err
	}
	before, found, err := m.cloning(ctx, a.Source.Node, a.VMID)
	switch {
	case err != nil:
		return a, err
	case found && !before.running():
		a.After = before.UPID
	case found && planned: // that of another request, which has not written its configuration yet
		return m.resolve(ctx, c, s, a.Number+1, shift, planned)
	}
	return a, nil
}

// attempt returns what the recorded attempt asks for. Without a record it is the next one.
func (m machines) attempt(ctx context.Context, op string, c *cluster, s provider.MachineSpec) (a attempt, err error) {
	if s.Attempt == "" {
		a, err = m.resolve(ctx, c, s, 0, 0, false)
		return a, within(op, err)
	}
	return a, cloud.ReadRecord(op, s.Attempt, &a, func() error {
		if a.Node != "" && !slices.Contains(m.spec.Nodes, a.Node) {
			return errors.New("its node " + a.Node + " is none of the ProviderConfig")
		}
		return a.check()
	})
}

// spent is the error of an attempt whose ID creates nothing more.
func spent(op string, err error) error {
	return provider.Exhausted.New(op, provider.ReasonAttemptSpent, err, "it is tried again with another VMID")
}
