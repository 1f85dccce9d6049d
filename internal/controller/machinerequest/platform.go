// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"context"
	"fmt"

	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
)

// observe returns what the platform has for the request.
func observe(ctx context.Context, p *pass) (provider.Machine, error) {
	seen, err := p.Platform.Machines.Observe(ctx, ref(p))
	return addressed(seen, p.Request.Spec.Network), err
}

// act creates or deletes the machine.
func act(ctx context.Context, p *pass, a request.Action) (provider.Machine, error) {
	if a == request.Delete {
		return p.Platform.Machines.Delete(ctx, ref(p))
	}
	s, err := spec(p)
	if err != nil {
		return provider.Machine{}, err
	}
	made, err := p.Platform.Machines.Create(ctx, s)
	return addressed(made, p.Request.Spec.Network), err
}

// plan asks for the record of the next attempt, where the platform needs one.
func plan(ctx context.Context, p *pass, last provider.Attempt) (string, error) {
	if p.Platform.Plan == nil {
		return "", nil
	}
	s, err := spec(p)
	if err != nil {
		return "", err
	}
	return p.Platform.Plan(ctx, s, last)
}

func ref(p *pass) provider.MachineRef {
	return provider.MachineRef{Name: p.Request.Spec.MachineName, Owner: p.Claim.Owner(), ID: p.Subject.ID}
}

// spec is the machine that the request asks for.
func spec(p *pass) (provider.MachineSpec, error) {
	s := p.Request.Spec
	network, err := provider.ParseNetwork(fmt.Sprintf("create machine %q", s.MachineName), s.Network)
	return provider.MachineSpec{
		MachineRef: ref(p), Role: s.Role, Network: network,
		CPU: s.CPU, MemoryMB: s.MemoryMB, DiskGB: s.DiskGB, ExtraDisks: s.ExtraDisks,
		Image: s.Image, UserData: provider.Sensitive(s.UserData), NetworkData: provider.Sensitive(s.NetworkData),
		Labels: s.Labels, TalosVersion: s.TalosVersion, Schematic: s.Schematic, Attempt: request.Record(p.Request),
	}, err
}
