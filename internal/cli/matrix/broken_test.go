// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// TestBrokenBuildsAreCaught shows for each rule that a build which breaks it is caught.
// The sample is one of them.
func TestBrokenBuildsAreCaught(t *testing.T) {
	if !wantsAll() {
		broken(t, platforms()[0], "twin", audit.WithinDesired, bootstrapViolates(audit.WithinDesired))
		return
	}
	for i, p := range platforms() {
		brokenOnPlatform(t, p)
		brokenEngine(t, i, p)
	}
}

// brokenOnPlatform has builds whose defects only the record of their platform shows.
func brokenOnPlatform(t *testing.T, p platform) {
	for defect, breaks := range map[string]audit.Invariant{
		"twin": audit.WithinDesired, "double": audit.OneOwner, "oneaddress": audit.OneAddress, "expose": audit.NoSecret,
	} {
		if breaks == audit.OneAddress && p.assigned {
			continue
		}
		broken(t, p, defect, breaks, bootstrapViolates(breaks))
	}
	if p.part != "" && p.part != fault.Category { // a category is removed with the last machine
		broken(t, p, "keeppart", "no-orphan", func(a *adm) bool {
			made, unmade := a.run("", a.bootstrap()...), a.run("", a.destroy()...)
			check := a.run("", "sim", "check", "--empty")
			return made.code == 0 && unmade.code == 0 && check.code == 1 && strings.Contains(check.out, string(p.part))
		})
	}
	broken(t, p, "credulous", "no-orphan", func(a *adm) bool {
		plan := a.file("second.yaml", "faults:\n  - {kind: secondPlatform}\n")
		made, unmade := a.run("", a.bootstrap()...), a.run("faults="+plan+"@destroy/recorded", a.destroy()...)
		check := a.run("", "sim", "check", "--empty")
		return made.code == 0 && unmade.code == 0 && check.code == 1 && strings.Contains(check.out, "machine")
	})
}

// brokenEngine has builds with defects of the engine, each on one on-prem platform and one cloud.
func brokenEngine(t *testing.T, index int, p platform) {
	turn := func(n int) bool { return trial{turn: n}.meets(index) }
	if turn(1) {
		broken(t, p, "restless", audit.OneWriter, bootstrapViolates(audit.OneWriter))
		broken(t, p, "leak", "no-secret", func(a *adm) bool {
			a.run("kill@bootstrap/ProvisioningMachines", a.bootstrap()...)
			a.takeInPlatforms()
			return len(a.leaks()) > 0
		})
	}
	if turn(2) {
		broken(t, p.threeControlPlanes(), "bootstraptwice", audit.OneBootstrap, func(a *adm) bool {
			a.breaks = audit.OneBootstrap
			a.run("bootstraptwice", a.bootstrap()...)
			return a.violates(audit.OneBootstrap)
		})
	}
	if turn(3) {
		broken(t, p, "stubborn", "convergence", func(a *adm) bool {
			plan := a.file("once.yaml", "faults:\n  - {kind: lostResponse, verb: create, resource: machine, times: 1}\n")
			p := a.start("faults="+plan+"@bootstrap/applied", a.bootstrap()...)
			err := await(a.Context(), func() bool { return (result{err: p.err.String()}).says(": create machine ") || p.over() })
			// A sound build gets beyond an error that was returned once, and right away.
			timer := time.AfterFunc(15*time.Second, func() { _ = p.Process.Signal(os.Interrupt) })
			defer timer.Stop()
			r := a.wait(p)
			return err == nil && r.code == 130 && !strings.Contains(r.err, "BootstrappingCluster")
		})
	}
}

// bootstrapViolates bootstraps a cluster and reports whether that violates a rule.
func bootstrapViolates(rule audit.Invariant) func(*adm) bool {
	return func(a *adm) bool {
		a.breaks = rule
		a.run("", a.bootstrap()...)
		return a.violates(rule)
	}
}

// broken runs a build with a defect, which has to be caught.
func broken(t *testing.T, p platform, defect string, breaks audit.Invariant, caught func(*adm) bool) {
	t.Run(p.name+"/"+defect, func(t *testing.T) {
		t.Parallel()
		found().lanes <- struct{}{}
		defer func() { <-found().lanes }()
		began := time.Now()
		a := newAdm(t, p, defect)
		r := row{operation: "broken", fault: "build with the defect " + defect, provider: p.name, what: fmt.Sprintf("caught: %s", breaks)}
		if !caught(a) {
			t.Errorf("no check noticed it:\n%s", a.said)
			r.what, r.failed = "not caught", true
		}
		r.took = time.Since(began)
		found().add(r)
	})
}

// violates says whether the platform's record has a violation of a rule.
func (a *adm) violates(i audit.Invariant) bool {
	all, err := sim.Violations(a.state("sim"))
	if err != nil {
		a.Error(err)
	}
	for _, v := range all {
		if v.Invariant == i {
			return true
		}
	}
	return false
}
