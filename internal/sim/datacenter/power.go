// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"context"
	"errors"
	"time"
)

func (d *Datacenter) start(m Machine) *power {
	ctx, off := context.WithCancelCause(d.ctx)
	p := &power{machine: m, off: off, done: make(chan struct{})}
	hold := addressable(ctx, d.options.Faults, m.Name)
	p.silent = hold != nil || d.options.Profile.Boot > 0
	d.machines[m.ID] = p
	d.beginRun(m.Spec)
	d.options.Log.Info("machine powered on", "machine", m.Name, "id", m.ID)
	if !p.silent {
		d.address(p)
	}
	go d.run(ctx, p, hold)
	return p
}

// address brings the machine onto the network. It is called under lock.
func (d *Datacenter) address(p *power) {
	p.silent = false
	p.machine.Host.Up()
	p.showAddress()
	if !p.shown {
		d.options.Log.Warn("machine has no address", "machine", p.machine.Name, "id", p.machine.ID, "network", p.machine.Network)
		return
	}
	d.options.Log.Info("machine has its address", "machine", p.machine.Name, "id", p.machine.ID, "address", p.machine.Address)
}

func (d *Datacenter) run(ctx context.Context, p *power, hold <-chan struct{}) {
	err := d.live(ctx, p, hold)
	switchedOff := ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrPowerLoss)
	p.off(nil)
	p.machine.Host.Detach()
	d.mu.Lock()
	delete(d.machines, p.machine.ID)
	d.endRun(p.machine.ID, !switchedOff, errors.Is(err, ErrShutdown))
	d.options.PoweredOff(p.machine.ID)
	d.mu.Unlock()
	close(p.done)
	if switchedOff {
		d.options.Log.Info("machine powered off", "machine", p.machine.Name, "id", p.machine.ID)
		return
	}
	d.options.Log.Warn("machine died", "machine", p.machine.Name, "id", p.machine.ID, "error", err)
	select {
	case d.died <- p.machine.ID:
	case <-d.ctx.Done():
	}
}

// live is the machine's time without an address, if it has one, and then its Boot.
func (d *Datacenter) live(ctx context.Context, p *power, hold <-chan struct{}) error {
	if p.silent {
		if err := d.awaitAddress(ctx, hold); err != nil {
			return err
		}
		d.mu.Lock()
		d.address(p)
		shown := p.shown
		d.mu.Unlock()
		if shown {
			go d.announce(ctx, p.machine.ID)
		}
	}
	return d.options.Boot(ctx, d.booting(p))
}

func (d *Datacenter) booting(p *power) Machine {
	d.mu.Lock()
	defer d.mu.Unlock()
	return p.machine
}

func (d *Datacenter) awaitAddress(ctx context.Context, hold <-chan struct{}) error {
	if boot := d.options.Profile.Boot; boot > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(boot):
		}
	}
	if hold == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-hold:
		return ctx.Err()
	}
}

func (d *Datacenter) announce(ctx context.Context, id string) {
	select {
	case d.addressed <- id:
	case <-ctx.Done():
	}
}
