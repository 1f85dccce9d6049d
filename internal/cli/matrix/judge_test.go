// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// idle is what is reported of a fault that happened to no machine.
const idle = "did not happen"

// judge says what came of a fault, and what is wrong with that. The fault has to have
// happened, unless its moment did not show. Plans are those that the platform got
// meanwhile; judge takes its own, which is the first.
func (b blow) judge(order string, r result, plans *[]fault.Tally) (what string, err error) {
	switch struck := strings.Contains(r.err, "faulty: "+order+"\n"); {
	case !struck && b.fleeting:
		return "", nil
	case !struck:
		return idle, errors.New(idle)
	}
	if b.plan != "" {
		if err := met(plans); err != nil {
			return idle, err
		}
	}
	switch {
	case strings.HasPrefix(order, "kill@"):
		if !r.killed {
			err = errors.New("it was not killed")
		}
		return "killed", err
	case b.ends != "" && (r.code == 0 || !strings.Contains(r.err, b.ends)):
		return "said nothing of it", fmt.Errorf("it does not say %q", b.ends)
	case b.says != "" && !r.says(b.says):
		return "said nothing of it", fmt.Errorf("it does not say %q", b.says)
	case r.code == 0:
		return "came through", nil
	case b.rivals:
		err = errors.New("it failed")
	}
	return "stopped: " + r.lastWords(), err
}

// says reports whether a command has said something, whatever its line breaks.
func (r result) says(text string) bool {
	return strings.Contains(strings.Join(strings.Fields(r.err), " "), text)
}

// met takes the first of some plans, all faults of which have to have happened.
func met(plans *[]fault.Tally) error {
	if len(*plans) == 0 {
		return errors.New("the platform has not got the plan")
	}
	first := (*plans)[0]
	*plans = (*plans)[1:]
	if never := first.Idle(); len(never) > 0 {
		return fmt.Errorf("no call met %+v", never)
	}
	return nil
}

// tallies are how often the faults have happened of all plans that the platform got.
func (a *adm) tallies() []fault.Tally {
	a.Helper()
	if _, _, running := sim.Running(a.state("sim")); !running {
		return nil // it is yet to be started
	}
	all, err := sim.Tallies(a.Context(), a.state("sim"))
	if err != nil {
		a.Error(err)
	}
	return all
}

// TestFaultThatDoesNotHappenIsAFailure has commands that come through, or stop, without
// what was to happen to them.
func TestFaultThatDoesNotHappenIsAFailure(t *testing.T) {
	plan, throttled := fault.Plan{Faults: []fault.Fault{{Kind: fault.Throttle}}}, planned(bootstrap, "throttle storm", "bootstrap/applied", "…")
	fleeting := killed(bootstrap, "bootstrap/Pivoting")
	fleeting.fleeting = true
	for reason, c := range map[string]struct {
		blow  blow
		r     result
		plans []fault.Tally
		what  string
		wrong bool
	}{
		"it happened":                   {throttled, result{err: "faulty: ORDER\n"}, []fault.Tally{{Plan: plan, Times: []int{1}}}, "came through", false},
		"its moment did not come":       {throttled, result{}, nil, idle, true},
		"its moment may not come":       {fleeting, result{}, nil, "", false},
		"its plan did not arrive":       {throttled, result{err: "faulty: ORDER\n"}, nil, idle, true},
		"no call met its plan":          {throttled, result{err: "faulty: ORDER\n"}, []fault.Tally{{Plan: plan, Times: []int{0}}}, idle, true},
		"it could not be brought about": {throttled, result{code: 70, err: "faulty: no such file\n"}, nil, idle, true},
		"it did not say what it must":   {full(pivot, 8, "pivot/copy"), result{code: 1, err: "faulty: ORDER\nno"}, nil, "said nothing of it", true},
		"it was to say something":       {throttled.saying("too many requests"), result{err: "faulty: ORDER\n"}, []fault.Tally{{Plan: plan, Times: []int{1}}}, "said nothing of it", true},
		"it said so in two lines":       {throttled.saying("too many requests"), result{err: "faulty: ORDER\ntoo many\n  requests"}, []fault.Tally{{Plan: plan, Times: []int{1}}}, "came through", false},
		"it lost against a rival":       {rivalry(pivot, "pivot/copy"), result{code: 1, err: "faulty: ORDER\nno"}, nil, "stopped: no", true},
	} {
		if what, err := c.blow.judge("ORDER", c.r, &c.plans); what != c.what || (err != nil) != c.wrong {
			t.Errorf("%s: %q, %v", reason, what, err)
		}
	}
}

// TestPlanWithoutAnyHitIsCaught has the platform itself report a plan that hits
// no machine.
func TestPlanWithoutAnyHitIsCaught(t *testing.T) {
	for i, p := range platforms() {
		if !one.includes(i) && !wantsAll() {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			found().lanes <- struct{}{}
			defer func() { <-found().lanes }()
			a := newAdm(t, p, "")
			b := planned(bootstrap, "throttle storm", "bootstrap/applied", "  - {kind: throttle, machine: absent}")
			order := a.orders(command{blows: []blow{b}})
			r := a.run(order+",kill@bootstrap/ProvisioningMachines", a.bootstrap()...)
			plans := a.tallies()
			if what, err := b.judge(order, r, &plans); !r.killed || what != idle || err == nil || !strings.Contains(err.Error(), "no call met") {
				t.Errorf("it is taken for one that %s: %v\n%s", what, err, r.err)
			}
		})
	}
}
