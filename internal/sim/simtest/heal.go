// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package simtest

import (
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/provider"
)

// Refusal is a fault of a platform's API and how a driver reports it.
type Refusal struct {
	Fault  fault.Fault
	Reason string
	// Says is a part of the error: what to do about it.
	Says string
}

// QuotaUsedUp is a quota that leaves no room for another machine.
func QuotaUsedUp(says string) Refusal {
	return Refusal{fault.Fault{Kind: fault.Quota, Resource: fault.Machine}, provider.ReasonQuotaExceeded, says}
}

// TokenExpired is a refusal of all calls.
func TokenExpired(says string) Refusal {
	return Refusal{fault.Fault{Kind: fault.TokenExpiry}, provider.ReasonCredentialsRefused, says}
}

// ActionDenied is a permission that is missing.
func ActionDenied(says string) Refusal {
	return Refusal{fault.Fault{Kind: fault.Deny, Verb: fault.Create, Resource: fault.Machine}, provider.ReasonPermissionDenied, says}
}

// Heals demands that a call reports a refusal with what to do, and that the same call
// succeeds on the same connection when the fault is over.
func (s *Simulator) Heals(t *testing.T, r Refusal, call func() error) {
	t.Helper()
	s.faults.Replace(fault.Plan{Faults: []fault.Fault{r.Fault}})
	err := call()
	s.faults.Replace(fault.Plan{})
	if err == nil || provider.ReasonOf(err) != r.Reason || !strings.Contains(err.Error(), r.Says) {
		t.Errorf("%v is %s, want %s and %q", err, provider.ReasonOf(err), r.Reason, r.Says)
	}
	if err := call(); err != nil {
		t.Errorf("it does not heal: %v", err)
	}
}

// HealsCreation demands the same of the creation of a machine, with each refusal for a
// machine of its own.
func (s *Simulator) HealsCreation(t *testing.T, p provider.Platform, specs []provider.MachineSpec, refusals ...Refusal) {
	t.Helper()
	for i, r := range refusals {
		s.Heals(t, r, func() error {
			_, err := p.Machines.Create(t.Context(), specs[i])
			return err
		})
	}
}
