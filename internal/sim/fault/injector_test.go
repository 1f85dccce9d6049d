// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

func injector(t *testing.T, faults string) *fault.Injector {
	t.Helper()
	p, err := fault.Parse([]byte("faults:\n" + faults))
	if err != nil {
		t.Fatal(err)
	}
	c := fault.NewInjector(p)
	c.Begin()
	return c
}

func TestFaultHappensToTheCallsThatItNames(t *testing.T) {
	create := fault.Call{Verb: fault.Create, Resource: fault.Machine, Name: "mgmt-cp-0"}
	tests := map[string]struct {
		fault string
		call  fault.Call
		want  bool
	}{
		"everything":               {"- {kind: deny}", create, true},
		"everything, also a list":  {"- {kind: deny}", fault.Call{Verb: fault.List}, true},
		"its verb":                 {"- {kind: deny, verb: create}", create, true},
		"another verb":             {"- {kind: deny, verb: delete}", create, false},
		"its resource":             {"- {kind: deny, resource: machine}", create, true},
		"another resource":         {"- {kind: deny, resource: disk}", create, false},
		"its machine":              {"- {kind: deny, machine: mgmt-cp-0}", create, true},
		"a pattern":                {"- {kind: deny, machine: 'mgmt-cp-*'}", create, true},
		"another machine":          {"- {kind: deny, machine: mgmt-cp}", create, false},
		"a list names no machine":  {"- {kind: deny, machine: '*'}", fault.Call{Verb: fault.List, Resource: fault.Machine}, false},
		"slow list":                {"- {kind: slowList, delay: 1s}", fault.Call{Verb: fault.List, Resource: fault.Machine}, true},
		"slow list, not a get":     {"- {kind: slowList, delay: 1s}", fault.Call{Verb: fault.Get, Resource: fault.Machine}, false},
		"lost write":               {"- {kind: lostResponse}", create, true},
		"a read is not lost":       {"- {kind: lostResponse}", fault.Call{Verb: fault.List, Resource: fault.Machine}, false},
		"unless it is meant":       {"- {kind: lostResponse, verb: list}", fault.Call{Verb: fault.List, Resource: fault.Machine}, true},
		"delete of nothing":        {"- {kind: failedTask, verb: delete}", fault.Call{Verb: fault.Delete, Resource: fault.Machine}, true},
		"delete of a disk":         {"- {kind: failedTask, verb: delete}", fault.Call{Verb: fault.Delete, Resource: fault.Disk}, false},
		"a failed start is later":  {"- {kind: failedTask, verb: create}", create, false},
		"machines die without us":  {"- {kind: machineDies}", create, false},
		"the second of two faults": {"- {kind: deny, verb: get}\n- {kind: throttle}", create, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, hit := injector(t, tt.fault).Inject(tt.call); hit != tt.want {
				t.Errorf("happens: %v", hit)
			}
		})
	}
}

func TestFaultHasItsTimeAndItsNumber(t *testing.T) {
	call := fault.Call{Verb: fault.Get, Resource: fault.Machine}
	tests := map[string]struct{ fault, want string }{
		"for ever":         {"- {kind: deny}", "+++++"},
		"later":            {"- {kind: deny, after: 2s}", "--+++"},
		"for a while":      {"- {kind: deny, for: 2s}", "++---"},
		"a while later":    {"- {kind: deny, after: 1s, for: 2s}", "-++--"},
		"twice":            {"- {kind: deny, times: 2}", "++---"},
		"twice later":      {"- {kind: deny, times: 2, after: 2s}", "--++-"},
		"the shorter ends": {"- {kind: deny, times: 3, for: 1s}", "+----"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, got := injector(t, tt.fault), ""
				for range 5 {
					mark := "-"
					if _, hit := c.Inject(call); hit {
						mark = "+"
					}
					got += mark
					time.Sleep(time.Second)
				}
				if got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			})
		})
	}
}

func TestClockIsStoppedUntilThePlatformAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := fault.Parse([]byte("faults: [{kind: noCapacity, for: 10s}]"))
		if err != nil {
			t.Fatal(err)
		}
		c := fault.NewInjector(p)
		time.Sleep(time.Minute)
		c.Begin()
		time.Sleep(4 * time.Second)
		if left, crowded := c.WithoutCapacity("any"); !crowded || left != 6*time.Second {
			t.Errorf("%v, %v", left, crowded)
		}
		time.Sleep(6 * time.Second)
		if _, crowded := c.WithoutCapacity("any"); crowded {
			t.Error("crowded for ever")
		}
	})
}

func TestFaultsOfMachines(t *testing.T) {
	c := injector(t, `
- {kind: failedTask, verb: create, machine: a, times: 2}
- {kind: machineDies, machine: b, after: 5s}
- {kind: machineDies, machine: c, times: 2}
- {kind: noAddress, machine: d, for: 3s}
- {kind: noAddress, machine: e}
- {kind: noCapacity, machine: f}
- {kind: conflictingMachine, machine: g}
`)
	type start struct {
		stillborn, dies, diesToo bool
		after                    time.Duration
	}
	var got []start
	for range 3 {
		after, dies := c.DiesAfter("b")
		_, diesToo := c.DiesAfter("c")
		got = append(got, start{c.FailsAtStart("a"), dies, diesToo, after})
	}
	want := []start{{true, true, true, 5 * time.Second}, {true, false, true, 0}, {false, false, false, 0}}
	if !slices.Equal(got, want) || c.FailsAtStart("b") {
		t.Errorf("got %v, want %v", got, want)
	}
	if d, held := c.WithoutAddress("d"); !held || d != 3*time.Second {
		t.Errorf("d: %v, %v", d, held)
	}
	if d, held := c.WithoutAddress("e"); !held || d != 0 {
		t.Errorf("e: %v, %v", d, held)
	}
	if _, held := c.WithoutAddress("f"); held {
		t.Error("f has no address")
	}
	if left, crowded := c.WithoutCapacity("f"); !crowded || left != 0 {
		t.Errorf("f: %v, %v", left, crowded)
	}
	if all := c.ConflictingMachines(); len(all) != 1 || all[0].Machine != "g" {
		t.Errorf("conflicting machines %v", all)
	}
}

func TestConflictingHostsHaveTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := injector(t, `
- {kind: conflictingHost, address: 10.40.0.12}
- {kind: conflictingHost, address: 10.40.0.11, for: 5s}
- {kind: conflictingHost, address: 10.40.0.13, after: 9s}
- {kind: noGateway, after: 4s, for: 3s}
`)
		c.Begin()
		for _, want := range []string{"10.40.0.11 10.40.0.12", "10.40.0.12", "10.40.0.12 10.40.0.13"} {
			var got []string
			for _, a := range c.ConflictingHosts() {
				got = append(got, a.String())
			}
			if strings.Join(got, " ") != want {
				t.Errorf("got %v, want %s", got, want)
			}
			if cut := c.WithoutGateway(); cut != (want == "10.40.0.12") {
				t.Errorf("with %s: no gateway is %v", want, cut)
			}
			time.Sleep(5 * time.Second)
		}
	})
}

func TestAMachineIsClonedOnceIfThePlanSaysNothingElse(t *testing.T) {
	c := fault.NewInjector(fault.Plan{Faults: []fault.Fault{{Kind: fault.Clone, Machine: "a*"}, {Kind: fault.Clone, Machine: "b", Times: 2}}})
	for i, want := range []bool{true, false, true, true, false, false} {
		if machine := []string{"a1", "a2", "b", "b", "b", "c"}[i]; c.Cloned(machine) != want {
			t.Errorf("%d: %s is cloned: %t", i, machine, !want)
		}
	}
}

func TestNoCourseHasNoFaults(t *testing.T) {
	var c *fault.Injector
	c.Begin()
	_, struck := c.Inject(fault.Call{})
	_, dies := c.DiesAfter("a")
	_, held := c.WithoutAddress("a")
	_, crowded := c.WithoutCapacity("a")
	_, ails := c.AddonFails(fault.HookFails, "cilium")
	if ails || c.ArtifactUnavailable("cilium") || len(c.Plan().Faults) > 0 {
		t.Error("an addon has a fault")
	}
	if struck || dies || held || crowded || c.FailsAtStart("a") || c.Cloned("a") || len(c.ConflictingMachines())+len(c.ConflictingHosts()) > 0 {
		t.Error("something goes wrong")
	}
}

func TestFaultHappensToTheAddonsThatItNames(t *testing.T) {
	tests := map[string]struct {
		fault string
		kind  fault.Kind
		want  bool
	}{
		"every addon":    {"- {kind: addonNotReady}", fault.AddonNotReady, true},
		"its addon":      {"- {kind: hookFails, addon: steward}", fault.HookFails, true},
		"a pattern":      {"- {kind: webhookRefuses, addon: 'st*'}", fault.WebhookRefuses, true},
		"another addon":  {"- {kind: hookFails, addon: flux}", fault.HookFails, false},
		"another kind":   {"- {kind: hookFails, addon: steward}", fault.WebhookRefuses, false},
		"the second one": {"- {kind: hookFails, after: 1h}\n- {kind: hookFails}", fault.HookFails, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if left, hit := injector(t, tt.fault).AddonFails(tt.kind, "steward"); hit != tt.want || left != 0 {
				t.Errorf("happens: %v, %v", hit, left)
			}
		})
	}
}

func TestAddonAilsForItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := injector(t, "- {kind: addonNotReady, addon: cilium, after: 2s, for: 5s}")
		var got []time.Duration
		for range 4 {
			left, hit := c.AddonFails(fault.AddonNotReady, "cilium")
			if !hit {
				left = -1
			}
			got = append(got, left)
			time.Sleep(3 * time.Second)
		}
		if want := []time.Duration{-1, 4 * time.Second, time.Second, -1}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestChartIsWithheldAsOftenAsThePlanSays(t *testing.T) {
	c := injector(t, "- {kind: chartUnavailable, addon: cilium, times: 2}")
	var got []bool
	for _, addon := range []string{"cilium", "flux", "cilium", "cilium"} {
		got = append(got, c.ArtifactUnavailable(addon))
	}
	if want := []bool{true, false, true, false}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFaultOfNoAddonIsReported(t *testing.T) {
	c := injector(t, `
- {kind: deny}
- {kind: addonNotReady}
- {kind: addonNotReady, addon: cillium}
- {kind: hookFails, addon: "st*"}
- {kind: hookFails, addon: cilium}
- {kind: webhookRefuses}
`)
	got := c.Plan().Idle(map[fault.Kind][]string{
		fault.AddonNotReady: {"cilium", "steward"},
		fault.HookFails:     {"flux", "steward"},
	})
	want := []string{
		`faults[2]: addonNotReady will not happen: no addon that can have it fits "cillium"; there are cilium, steward`,
		`faults[4]: hookFails will not happen: no addon that can have it fits "cilium"; there are flux, steward`,
		`faults[5]: webhookRefuses will not happen: no addon of this cluster can have it`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
