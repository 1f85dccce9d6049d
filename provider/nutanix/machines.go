// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"fmt"

	"github.com/butlerdotdev/butler/provider"
)

// machines implements provider.Machines.
type machines struct{}

var _ provider.Machines = machines{}

// Observe implements provider.Machines.
func (machines) Observe(_ context.Context, ref provider.MachineRef) (provider.Machine, error) {
	return provider.Machine{}, unimplemented(fmt.Sprintf("observe machine %q", ref.Name))
}

// Create implements provider.Machines.
func (machines) Create(_ context.Context, s provider.MachineSpec) (provider.Machine, error) {
	return provider.Machine{}, unimplemented(fmt.Sprintf("create machine %q", s.Name))
}

// Delete implements provider.Machines.
func (machines) Delete(_ context.Context, ref provider.MachineRef) (provider.Machine, error) {
	return provider.Machine{}, unimplemented(fmt.Sprintf("delete machine %q", ref.Name))
}

// List implements provider.Machines.
func (machines) List(context.Context, provider.Owner) ([]provider.Machine, error) {
	return nil, unimplemented("list machines")
}
