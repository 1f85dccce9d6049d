// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package simtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/provider/providertest"
)

// untilLifted is longer than any test.
const untilLifted = 24 * time.Hour

// planned returns the fault of the simulator for a fault of the conformance suite.
func planned(f providertest.Fault) (out fault.Fault, known bool) {
	out, known = map[providertest.Fault]fault.Fault{
		providertest.LostResponse: {Kind: fault.LostResponse, Verb: fault.Create, Resource: fault.Machine, Times: 1},
		// The parts beside the machine are created, the machine itself is not.
		providertest.HalfDone:             {Kind: fault.Throttle, Verb: fault.Create, Resource: fault.Machine},
		providertest.HalfDoneLoadBalancer: {Kind: fault.Throttle, Verb: fault.Create, Resource: fault.LoadBalancer},
		providertest.Throttled:            {Kind: fault.Throttle},
		providertest.Denied:               {Kind: fault.Deny},
		providertest.NoCapacity:           {Kind: fault.Quota},
		providertest.SlowList:             {Kind: fault.SlowList, Resource: fault.Machine, Delay: metav1.Duration{Duration: untilLifted}},
		providertest.Silent:               {Kind: fault.Hang},
		providertest.CreateFailsLate:      {Kind: fault.FailedTask, Verb: fault.Create},
		providertest.DeleteFailsLate:      {Kind: fault.FailedTask, Verb: fault.Delete},
		providertest.OtherPlatform:        {Kind: fault.SecondPlatform},
	}[f]
	return out, known
}

// Inject implements providertest.Operator.
func (s *Simulator) Inject(ctx context.Context, f providertest.Fault) (lift func(), err error) {
	if f == providertest.Drained {
		return s.drained(ctx)
	}
	one, known := planned(f)
	if !known {
		return nil, fmt.Errorf("the simulator has no fault for %q", f)
	}
	return s.cause(ctx, one)
}

// RefuseUpdates throttles all calls that change a machine which exists: on a platform that
// creates machines step by step the next one is half done.
func (s *Simulator) RefuseUpdates(ctx context.Context) (lift func(), err error) {
	return s.cause(ctx, fault.Fault{Kind: fault.Throttle, Verb: fault.Update, Resource: fault.Machine})
}

// Plan replaces the faults of the simulator.
func (s *Simulator) Plan(ctx context.Context, faults ...fault.Fault) error {
	plan := fault.Plan{Faults: faults}
	if err := s.API.Prepare(ctx, plan); err != nil {
		return err
	}
	s.faults.Replace(plan)
	return nil
}

// Happened reports whether all faults that Plan has set have happened.
func (s *Simulator) Happened() bool {
	all := s.faults.Tallies()
	return len(all) > 0 && len(all[len(all)-1].Idle()) == 0
}

// cause has the simulator cause a fault until it is lifted.
func (s *Simulator) cause(ctx context.Context, one fault.Fault) (lift func(), err error) {
	if err := s.Plan(ctx, one); err != nil {
		return nil, err
	}
	return func() { s.faults.Replace(fault.Plan{}) }, nil
}

func (s *Simulator) drained(ctx context.Context) (lift func(), err error) {
	if s.options.Drain == nil {
		return nil, errors.New("hosts of this platform cannot be drained")
	}
	return func() {}, s.options.Drain(ctx)
}
