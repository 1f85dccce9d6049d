// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package providertest is the provider contract as tests: every rule is a named
// subtest that any driver can run against its platform, or a simulator of it.
// The rules are explained in docs/contributing/provider-contract.md.
package providertest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

// Suite is a driver and the operator that it runs against.
type Suite struct {
	// Provider is the driver.
	Provider provider.Provider
	// Config is a connection that works.
	Config provider.Config
	// Machine is one that the platform can make; name and owner are replaced.
	Machine provider.MachineSpec
	// Network is an address that the platform can give to a machine, one at a time; nil means
	// that the driver refuses every one.
	Network *provider.Network
	// Operator is the far side of the driver.
	Operator Operator

	// LoadBalancers is the far side of the driver's load balancers. Without it,
	// WithoutLoadBalancers must say why, and the platform must not offer any.
	LoadBalancers        LoadBalancerOperator
	WithoutLoadBalancers string
	// MachineClients are the ranges that the driver adds to those of a spec, because
	// machines are clients of the load balancer too.
	MachineClients []string

	// Labels are some that the platform can write; the default has a domain in one name.
	Labels map[string]string
	// Missing names, under "image" and "network", something that is not there.
	Missing map[string]Change
	// Refused has a change for every field that the platform cannot honour.
	Refused map[string]Change
	// Secrets are the values in Config.Credentials that must not be shown.
	Secrets []string

	// Steps says that a machine takes several calls of Create: it is Partial between them, and
	// is then asked for again, as by the reconciler.
	Steps bool

	// Unexercised argues, by rule, why the operator cannot exercise it. Each row
	// must be in a table of the Markdown file Record as well.
	Unexercised map[string]string
	Record      string

	// Patience is how long the platform may take to reach a state, Interval how
	// often it is asked, Prompt how long a single call may take. The defaults are
	// 30 s, 50 ms and 10 s.
	Patience, Interval, Prompt time.Duration
}

// Change alters a connection or a machine that would work.
type Change func(*provider.Config, *provider.MachineSpec)

// Run checks every rule in a subtest of its name. A rule that is not exercised is
// skipped there with its reason, and fails unless Record lists it.
func Run(t *testing.T, s Suite) {
	t.Helper()
	s = s.withDefaults()
	for _, flaw := range s.flaws() {
		t.Error(flaw)
	}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) { s.report(t, s.check(t.Context(), r)) })
	}
	t.Log("\n" + s.table())
}

func (s Suite) report(t *testing.T, r Result) {
	t.Helper()
	for _, n := range r.Notes {
		t.Log(n)
	}
	for _, f := range r.Failures {
		t.Error(f)
	}
	if r.Unexercised != "" {
		t.Skip("not exercised: " + r.Unexercised)
	}
}

// Result is what became of one rule.
type Result struct {
	Rule string
	// Failures are the breaches of the rule; none means that it is kept.
	Failures []string
	// Unexercised is the reason for which the rule was not tried.
	Unexercised string
	// Notes are troubles beside the rule, such as machines left behind.
	Notes []string
}

// Check checks every rule without a testing.T and returns the results in the
// order of Rules.
func Check(ctx context.Context, s Suite) []Result {
	s = s.withDefaults()
	results := make([]Result, 0, len(rules()))
	for _, r := range rules() {
		results = append(results, s.check(ctx, r))
	}
	return results
}

func (s Suite) check(ctx context.Context, r rule) Result {
	reason := strings.TrimSpace(s.Unexercised[r.name])
	switch {
	case r.loadBalancers && s.WithoutLoadBalancers != "":
		reason, r.check = s.WithoutLoadBalancers, withoutLoadBalancers
	case reason != "":
		return Result{Rule: r.name, Unexercised: reason}
	}
	t := newTrial(ctx, s)
	t.run(r)
	return Result{Rule: r.name, Failures: t.failures, Notes: t.notes, Unexercised: reason}
}

func (s Suite) exercises(rule string) bool { return strings.TrimSpace(s.Unexercised[rule]) == "" }

func (s Suite) withDefaults() Suite {
	if s.Patience == 0 {
		s.Patience = 30 * time.Second
	}
	if s.Interval == 0 {
		s.Interval = 50 * time.Millisecond
	}
	if s.Prompt == 0 {
		s.Prompt = 10 * time.Second
	}
	if s.Labels == nil {
		s.Labels = map[string]string{"tier": "gold", "example.com/zone": "a-1"}
	}
	return s
}
