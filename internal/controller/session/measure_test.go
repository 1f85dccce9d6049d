// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/provider"
)

// refusing is a platform all of whose calls fail.
type refusing struct{}

var errRefused = errors.New("refused")

func (refusing) Observe(context.Context, provider.MachineRef) (provider.Machine, error) {
	return provider.Machine{}, errRefused
}

func (refusing) Create(context.Context, provider.MachineSpec) (provider.Machine, error) {
	return provider.Machine{}, errRefused
}

func (refusing) Delete(context.Context, provider.MachineRef) (provider.Machine, error) {
	return provider.Machine{}, errRefused
}

func (refusing) List(context.Context, provider.Owner) ([]provider.Machine, error) {
	return nil, errRefused
}

func TestEveryCallIsRecordedWithItsError(t *testing.T) {
	p := &provider.Platform{
		Machines:   refusing{},
		ObserveAll: func(context.Context) ([]provider.Machine, error) { return nil, errRefused },
		Plan:       func(context.Context, provider.MachineSpec, provider.Attempt) (string, error) { return "", errRefused },
		Identify:   func(context.Context) (provider.Identity, error) { return "", errRefused },
	}
	var got []string
	measure(p, func(operation string, _ time.Time, err error) {
		if !errors.Is(err, errRefused) {
			t.Errorf("%s: %v", operation, err)
		}
		got = append(got, operation)
	})
	ctx := t.Context()
	_, _ = p.Machines.Observe(ctx, provider.MachineRef{})
	_, _ = p.Machines.Create(ctx, provider.MachineSpec{})
	_, _ = p.Machines.Delete(ctx, provider.MachineRef{})
	_, _ = p.Machines.List(ctx, provider.Owner{})
	_, _ = p.ObserveAll(ctx)
	_, _ = p.Plan(ctx, provider.MachineSpec{}, provider.Attempt{})
	_, _ = p.Identify(ctx)
	want := []string{"observe_machine", "create_machine", "delete_machine", "list_machines", "observe_machines", "plan_machine", "identify"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatAPlatformLacksIsNotAdded(t *testing.T) {
	p := &provider.Platform{}
	measure(p, func(string, time.Time, error) {})
	if p.Machines != nil || p.LoadBalancers != nil || p.Preflight != nil || p.ObserveAll != nil || p.Plan != nil || p.Identify != nil {
		t.Errorf("%+v", p)
	}
}
