// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/history"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/plan"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
	"github.com/butlerdotdev/butler/internal/workstation"
	"github.com/butlerdotdev/butler/provider"
)

// newPlan returns a plan without what differs between a new cluster and one that exists.
func (l *Launch) newPlan(a plan.Action) (plan.Plan, error) {
	m := l.Manifest
	sum, err := plan.Checksum(m)
	return plan.Plan{
		Format: plan.Format, Cluster: m.Cluster.Spec.Cluster.Name, Kind: l.Workspace.Kind(), Provider: m.Provider.Spec.Provider,
		ProviderConfig: m.Provider.Name, Manifest: sum, Action: a,
	}, err
}

// planCreation returns the plan of a new cluster. Only if digests are wanted are addons
// fetched.
func (l *Launch) planCreation(o *operation.Operation, secret *corev1.Secret, resolved bootstrap.Plan, digests bool) (plan.Plan, operation.Answers, error) {
	local := make(chan []provider.Finding, 1)
	go func() { local <- l.checkWorkstation(o.Context()) }()
	answers, err := o.Preflight(l.Provider, l.Manifest, secret, resolved, l.Progress)
	machine := <-local
	if err != nil {
		return plan.Plan{}, answers, err
	}
	p, err := l.newPlan(plan.Create)
	if err != nil {
		return p, answers, err
	}
	facts := plan.Facts{Manifest: answers.Manifest, Resolved: resolved, Choices: answers.Choices}
	if facts.Addons, err = operation.AddonsOf(answers.Manifest); err != nil {
		return p, answers, err
	}
	if digests {
		l.Progress.Starting("fetching the addons")
		var found []provider.Finding
		facts.Digests, found = o.Digests(facts.Addons)
		answers.Findings = append(answers.Findings, found...)
	}
	p.Create, p.Cost = plan.NewCreation(facts), plan.NewCost(p.Provider, l.asked(answers.Prices))
	p.Checks = slices.Concat(plan.Checks(plan.Platform, unasked(answers)), plan.Checks(plan.Platform, answers.Findings), plan.Checks(plan.Workstation, machine))
	answers.Findings = append(answers.Findings, machine...)
	p.Warnings = l.warnings(resolved, true)
	return p, answers, l.estimate(&p)
}

// asked are the prices of a plan; nil: no price service was asked.
func (l *Launch) asked(p *operation.Prices) *plan.Asked {
	if p == nil {
		return nil
	}
	return &plan.Asked{PriceList: p.PriceList, At: p.Asked, Err: p.Err, Simulated: l.Workspace.Rehearsal}
}

// unasked is the finding about a platform that could not be asked.
func unasked(a operation.Answers) []provider.Finding {
	if a.Unasked == nil {
		return nil
	}
	f := provider.Finding{Check: "connection to the platform", Verdict: provider.Refused, Message: a.Unasked.Error(), Hint: "correct the credentials or the endpoint; the other checks of the platform follow"}
	if e, ok := errors.AsType[*provider.Error](a.Unasked); ok && e.Hint != "" {
		f.Message, f.Hint = strings.TrimSuffix(f.Message, "; "+e.Hint), e.Hint
	}
	return []provider.Finding{f}
}

// checkWorkstation looks at this machine.
func (l *Launch) checkWorkstation(ctx context.Context) []provider.Finding {
	home, err := workspace.Home()
	if err != nil {
		return []provider.Finding{{Check: "state directory", Verdict: provider.Refused, Message: err.Error(), Hint: "set BUTLER_HOME"}}
	}
	spec := operation.Effective(l.Manifest)
	direct := []string{workstation.HostOf(l.Manifest.Provider.Spec.Endpoint()), spec.Network.VIP}
	direct = slices.DeleteFunc(direct, func(host string) bool { return host == "" })
	hosts := slices.Clone(direct)
	if addons, err := operation.AddonsOf(l.Manifest); err == nil && l.Charts == "" {
		hosts = append(hosts, sources(addons)...)
	}
	return workstation.Check(ctx, workstation.Options{Home: home, Hosts: hosts, Direct: direct, Rehearsal: l.Workspace.Rehearsal})
}

// sources are the hosts that addons are fetched from.
func sources(addons []addon.Addon) (out []string) {
	for _, a := range addons {
		if !operation.IsCarried(a) && strings.Contains(a.Origin(), "://") {
			out = append(out, workstation.HostOf(a.Origin()))
		}
	}
	return out
}

// kind is what earlier runs have to have in common with this one.
func (l *Launch) kind() history.Kind {
	return history.KindOf(l.Provider.Type, l.Manifest.Cluster.Spec.Cluster.Topology, l.Workspace.Rehearsal, l.Setup.Profile)
}

// estimate fills in how long earlier runs took.
func (l *Launch) estimate(p *plan.Plan) error {
	home, err := workspace.Home()
	if err != nil {
		return err
	}
	runs, err := history.Load(home)
	if err != nil {
		return err
	}
	p.Times = history.Estimates(runs, l.kind())
	if total, ok := history.Total(runs, l.kind()); ok {
		p.Total = &total
	}
	return nil
}

// show reports a plan, with the checks as events for programs.
func (l *Launch) show(p plan.Plan) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	l.Progress.Report(ui.Event{Type: ui.EventPlan, Plan: data, Message: plan.Render(p, plan.Brief)})
	return nil
}

// matchSaved refuses a plan that differs from the saved one.
func (l *Launch) matchSaved(p plan.Plan) error {
	if l.Saved == nil {
		return nil
	}
	found, err := p.Deviations(*l.Saved)
	if err != nil || len(found) == 0 {
		return err
	}
	return failure.Refusedf("the plan no longer matches, nothing was created:\n  %s\nbutleradm: create a new plan with butleradm plan", strings.Join(found, "\n  "))
}

// question asks for a confirmation before something real is done.
func (l *Launch) question(o *operation.Operation, text string) error {
	if o.Rehearsal || l.Confirm(o.Context(), text) {
		return nil
	}
	if o.Context().Err() != nil {
		return o.Ended()
	}
	return failure.New(failure.Usage, errors.New("nothing was created; answer y, or pass --yes"))
}

// confirmCreation shows the plan of a new cluster and asks for a confirmation.
func (l *Launch) confirmCreation(o *operation.Operation, secret *corev1.Secret, resolved bootstrap.Plan) error {
	p, answers, err := l.planCreation(o, secret, resolved, l.Saved != nil)
	if err != nil {
		return err
	}
	if err := l.show(p); err != nil {
		return err
	}
	answers.Report(l.Progress)
	if err := answers.Refusal(); err != nil {
		return err
	}
	if err := l.matchSaved(p); err != nil {
		return err
	}
	return l.question(o, fmt.Sprintf("Create %d machine(s) on %s (%s)?", p.Create.Sum.Machines, p.ProviderConfig, p.Provider))
}
