// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"context"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
)

// observe asks what the platform has for the request. For one that is being deleted
// it asks to delete that, which is answered alike: but not another platform, which may
// have a restored copy with the same id.
func (p *pass) observe(ctx context.Context) (provider.Machine, error) {
	ctx, cancel := context.WithTimeout(ctx, request.CallTimeout)
	defer cancel()
	if !p.facts.deleting || p.facts.held != "" {
		return p.platform.Machines.Observe(ctx, p.ref())
	}
	if err := p.claim.Recheck(ctx); err != nil {
		return provider.Machine{}, err
	}
	return p.platform.Machines.Delete(ctx, p.ref())
}

// look observes the machine, over a new connection if the present one is refused.
func (p *pass) look(ctx context.Context, config *v1alpha1.ProviderConfig) (provider.Machine, error) {
	m, err := p.observe(ctx)
	if p.Sessions.Refused(p.request.ProviderConfig(), p.platform, err) {
		return p.observeAgain(ctx, config)
	}
	return m, err
}

// see observes the machine. That it is absent is believed of its own platform alone.
func (p *pass) see(ctx context.Context, config *v1alpha1.ProviderConfig) (provider.Machine, error) {
	m, err := p.look(ctx, config)
	if err != nil {
		return m, err
	}
	again, err := p.claim.Confirm(ctx, m.State != provider.StateAbsent)
	if err != nil || !again {
		return m, err
	}
	ctx, cancel := context.WithTimeout(ctx, request.CallTimeout)
	defer cancel()
	return p.platform.Machines.Observe(ctx, p.ref())
}

// observeAgain asks again over a new connection.
func (p *pass) observeAgain(ctx context.Context, config *v1alpha1.ProviderConfig) (provider.Machine, error) {
	platform, err := p.claim.Connect(ctx, p.Sessions, config, p.request.ProviderConfig())
	if err != nil {
		return provider.Machine{}, err
	}
	p.platform = platform
	return p.observe(ctx)
}

// create asks the platform for the machine and takes its answer as the facts.
func (p *pass) create(ctx context.Context) error {
	if !p.facts.fresh {
		if err := p.claim.Attempt(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, request.CallTimeout)
	defer cancel()
	if err := p.claim.Recheck(ctx); err != nil {
		p.remember(p.facts.machine, err)
		return nil
	}
	p.facts.asked = create
	absent := p.facts.machine.State == provider.StateAbsent
	p.note.Asking()
	m, err := p.platform.Machines.Create(ctx, p.spec())
	p.note.Answered(err)
	p.created = absent && err == nil
	p.remember(m, err)
	return nil
}

func (p *pass) ref() provider.MachineRef {
	return provider.MachineRef{Name: p.request.Spec.MachineName, Owner: p.claim.Owner()}
}

func (p *pass) spec() provider.MachineSpec {
	s := p.request.Spec
	return provider.MachineSpec{
		MachineRef: p.ref(), Role: s.Role,
		CPU: s.CPU, MemoryMB: s.MemoryMB, DiskGB: s.DiskGB, ExtraDisks: s.ExtraDisks,
		Image: s.Image, UserData: provider.Sensitive(s.UserData), NetworkData: provider.Sensitive(s.NetworkData),
		Labels: s.Labels, TalosVersion: s.TalosVersion, Schematic: s.Schematic,
	}
}
