// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"time"
)

// MaxRecoveries is how often in a row a machine that dies at once is started again.
const MaxRecoveries = 3

// Machine is a machine of the datacenter, as faults and restarts see it. Its functions are
// called under the lock.
type Machine struct {
	ID   string // in the datacenter
	Name string // in fault plans
	Copy bool   // it was copied itself
	// Runs reports whether it is to run.
	Runs func() bool
	// Clone creates a copy with all tags that is off, as a restore from a backup does.
	Clone func()
	// PowerOn switches the machine on.
	PowerOn func() error
}

// Started applies the faults of the plan to a machine that runs now. It is called under
// the lock.
func (b *Base) Started(m Machine) {
	if !m.Copy && b.Options.Faults.Cloned(m.Name) {
		m.Clone()
	}
	after, drained := b.Options.Faults.DrainedAfter(m.Name)
	if !drained {
		return
	}
	b.Later(after, func() {
		if m.Runs() {
			b.Restart(m)
		}
	})
}

// Restart switches a machine off and on again. To the API it runs all the time.
func (b *Base) Restart(m Machine) {
	b.PowerOff(m.ID, func() {
		if !m.Runs() {
			return
		}
		if err := m.PowerOn(); err != nil {
			b.Options.Log.Error("restart a machine", "machine", m.Name, "err", err)
		}
	})
}

// PowerOff switches a machine off, and then does something under the lock. It returns at
// once.
func (b *Base) PowerOff(id string, then func()) {
	go func() {
		b.Options.Datacenter.PowerOff(id)
		b.Do(then)
	}()
}

// Remove removes a machine after a time, and then does something under the lock. It returns
// at once. A platform without hosts has no machine to remove.
func (b *Base) Remove(id string, after time.Duration, then func()) {
	go func() {
		if !b.Sleep(after) {
			return
		}
		if b.Hosts && id != "" {
			if err := b.Options.Datacenter.Remove(id); err != nil {
				b.Options.Log.Error("remove a machine", "machine", id, "err", err)
			}
		}
		b.Do(then)
	}()
}

// follow reports machines that end by themselves.
func (b *Base) follow() {
	for {
		select {
		case <-b.ctx.Done():
			return
		case <-b.Options.Datacenter.Addressed():
		case id := <-b.Options.Datacenter.Died():
			b.Do(func() { b.died(id) })
		}
	}
}

func (b *Base) died(id string) {
	if run, known := b.Options.Datacenter.LastRun(id); known && run.Died {
		b.behaviour.Died(id, run)
	}
}

// followPlans has the faults of a new plan happen to the machines that run.
func (b *Base) followPlans() {
	replaced := b.Options.Faults.Replaced()
	for {
		select {
		case <-b.ctx.Done():
			return
		case <-replaced:
		}
		replaced = b.Options.Faults.Replaced()
		b.Do(func() {
			for _, m := range b.behaviour.Running() {
				b.Started(m)
			}
		})
	}
}

func (b *Base) createConflict(_ context.Context, name string) (func(context.Context) error, error) {
	b.Lock()
	defer b.Unlock()
	remove, err := b.behaviour.Conflict(name)
	if err != nil || remove == nil {
		return nil, err
	}
	return func(context.Context) error {
		b.Do(remove)
		return nil
	}, nil
}
