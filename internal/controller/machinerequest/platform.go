// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"context"

	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
)

// observe returns what the platform has for the request.
func observe(ctx context.Context, p *pass) (provider.Machine, error) {
	return p.Platform.Machines.Observe(ctx, ref(p))
}

// act creates or deletes the machine.
func act(ctx context.Context, p *pass, a request.Action) (provider.Machine, error) {
	if a == request.Delete {
		return p.Platform.Machines.Delete(ctx, ref(p))
	}
	return p.Platform.Machines.Create(ctx, spec(p))
}

// plan asks for the record of the next attempt, where the platform needs one.
func plan(ctx context.Context, p *pass, last provider.Attempt) (string, error) {
	if p.Platform.Plan == nil {
		return "", nil
	}
	return p.Platform.Plan(ctx, spec(p), last)
}

func ref(p *pass) provider.MachineRef {
	return provider.MachineRef{Name: p.Request.Spec.MachineName, Owner: p.Claim.Owner(), ID: p.Subject.ID}
}

func spec(p *pass) provider.MachineSpec {
	s := p.Request.Spec
	return provider.MachineSpec{
		MachineRef: ref(p), Role: s.Role,
		CPU: s.CPU, MemoryMB: s.MemoryMB, DiskGB: s.DiskGB, ExtraDisks: s.ExtraDisks,
		Image: s.Image, UserData: provider.Sensitive(s.UserData), NetworkData: provider.Sensitive(s.NetworkData),
		Labels: s.Labels, TalosVersion: s.TalosVersion, Schematic: s.Schematic, Attempt: request.Record(p.Request),
	}
}
