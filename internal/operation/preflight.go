// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

// Patience is how long a platform has for an answer, and how long it is asked
// again if it cannot give one now.
const Patience = 30 * time.Second

// Answers are what the preflight has learned. Nothing was created for them.
type Answers struct {
	// Findings are the checks with their results.
	Findings []provider.Finding
	// Choices are what the driver chooses for machines, by their names.
	Choices map[string]provider.Choice
	// Prices are those of the platform's price service; nil if none was asked.
	Prices *Prices
	// Manifest is that of the cluster, with the addresses that it would get of NetworkPools.
	Manifest *manifest.Manifest
	// Unasked is why the platform could not be asked; then its checks are missing.
	Unasked error
}

// Refusal is the error for answers with which nothing may be created; nil for others.
func (a Answers) Refusal() error {
	if a.Unasked != nil {
		why := strings.TrimSuffix(a.Unasked.Error(), "; it is retried")
		return failure.Refusedf("preflight: %s; nothing was created", why)
	}
	refused := 0
	for _, f := range a.Findings {
		if f.Verdict == provider.Refused {
			refused++
		}
	}
	if refused == 0 {
		return nil
	}
	return failure.Refusedf("preflight: %d of %d checks for %s refused; nothing was created", refused, len(a.Findings), a.Manifest.Provider.Name)
}

// Preflight asks the platform whether it would take the machines of a plan, and what they
// would be. The error is for a command that has ended meanwhile.
func (o *Operation) Preflight(p provider.Provider, m *manifest.Manifest, secret *corev1.Secret, plan bootstrap.Plan, progress *ui.Reporter) (Answers, error) {
	progress.Starting("running the preflight")
	m, pools, err := o.checkPools(m)
	if err != nil {
		return Answers{}, err
	}
	network := make(chan []provider.Finding, 1)
	go func() { network <- o.checkAddresses(m) }()
	images := make(chan []provider.Finding, 1)
	go func() { images <- o.checkImages(m) }()
	out := o.askPlatform(p, m, secret, plan, progress)
	out.Manifest = m
	if o.ctx.Err() != nil {
		return out, o.Ended()
	}
	out.Findings = slices.Concat(out.Findings, pools, <-network, <-images, checkAddons(m, secret))
	return out, nil
}

// Report reports how many findings there are of each result, and each of them to programs:
// people have them in the plan.
func (a Answers) Report(progress *ui.Reporter) {
	count := map[provider.Verdict]int{}
	for _, f := range a.Findings {
		count[f.Verdict]++
		reportFinding(progress, f)
	}
	if a.Refusal() != nil {
		return
	}
	summary := fmt.Sprintf("preflight: %d passed", count[provider.Passed])
	if n := count[provider.Unknown]; n > 0 {
		summary += fmt.Sprintf(", %d unknown", n)
	}
	progress.Step(summary)
}

// checkAddons refuses credentials that are sufficient for the driver, but not for addons
// that need them too, such as the cloud controller manager.
func checkAddons(m *manifest.Manifest, secret *corev1.Secret) []provider.Finding {
	addons, err := AddonsOf(m)
	if err == nil {
		err = addon.CheckCredentials(addons, m.Provider.Spec, SecretData(secret))
	}
	if err == nil {
		return nil
	}
	return []provider.Finding{{Check: "credentials for addons", Verdict: provider.Refused, Message: err.Error()}}
}

// askPlatform asks until the platform answers, or patience is at its end.
func (o *Operation) askPlatform(p provider.Provider, m *manifest.Manifest, secret *corev1.Secret, plan bootstrap.Plan, progress *ui.Reporter) Answers {
	config := provider.Config{ProviderConfig: m.Provider, Credentials: provider.NewCredentials(SecretData(secret)), Ambient: !o.Rehearsal, Transport: o.Transport()}
	specs, err := machineSpecs(m, plan)
	if err != nil {
		return Answers{Unasked: err}
	}
	wanted := basket(m.Cluster.Spec.Cluster.Name, plan, specs)
	deadline := time.Now().Add(Patience)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		answers, err := o.ask(p, config, wanted, plan.Moves)
		if err == nil || provider.KindOf(err) != provider.Unavailable || time.Now().After(deadline) {
			answers.Unasked = err
			return answers
		}
		progress.Waiting(err.Error())
		select {
		case <-o.ctx.Done():
			return Answers{Unasked: o.ctx.Err()}
		case <-tick.C:
		}
	}
}

func (o *Operation) ask(p provider.Provider, c provider.Config, wanted provider.Basket, moves bool) (Answers, error) {
	ctx, cancel := context.WithTimeout(o.ctx, Patience)
	defer cancel()
	platform, err := p.Open(ctx, c)
	if err != nil {
		return Answers{}, err
	}
	if platform.Close != nil {
		defer platform.Close()
	}
	expiring := o.checkLifetime(platform.Lifetime, moves)
	if platform.Preflight == nil {
		return Answers{Findings: expiring}, nil
	}
	prices := askPrices(ctx, platform, wanted)
	findings, err := platform.Preflight.Check(ctx, wanted.Machines)
	if err != nil {
		cancel()
		<-prices
		return Answers{}, err
	}
	return Answers{Findings: append(expiring, findings...), Choices: choices(ctx, platform, wanted.Machines), Prices: <-prices}, nil
}

// choices are what the driver chooses for machines. Why it has none for a machine is among
// the findings.
func choices(ctx context.Context, platform provider.Platform, specs []provider.MachineSpec) map[string]provider.Choice {
	out := map[string]provider.Choice{}
	for _, s := range specs {
		if platform.Choose == nil {
			break
		}
		if c, err := platform.Choose(ctx, s); err == nil {
			out[s.Name] = c
		}
	}
	return out
}

// checkLifetime refuses credentials that end by themselves for a cluster that takes them
// over: nothing there renews them.
func (o *Operation) checkLifetime(l provider.Lifetime, moves bool) []provider.Finding {
	if !l.Temporary || !moves {
		return nil
	}
	end := "they are temporary"
	if !l.Ends.IsZero() {
		end = "they expire at " + l.Ends.UTC().Format(time.RFC3339)
	}
	f := provider.Finding{
		Check: "lifetime of the credentials", Verdict: provider.Refused,
		Message: end + ", and the controllers of the cluster need them after that",
		Hint:    "use credentials that do not expire, or set --accept-expiring and replace them in the Secret of the cluster before then",
	}
	if o.AcceptExpiring {
		f.Verdict, f.Hint = provider.Unknown, "replace them in the Secret of the cluster before then"
	}
	return []provider.Finding{f}
}

// machineSpecs are the machines of a plan as a driver is asked for them. They
// have no owner yet: whatever has their names belongs to another owner.
func machineSpecs(of *manifest.Manifest, plan bootstrap.Plan) (out []provider.MachineSpec, err error) {
	s := of.Cluster.Spec
	cb, err := prospect(of)
	if err != nil {
		return nil, err
	}
	for _, m := range plan.Machines {
		network, err := provider.ParseNetwork("preflight", bootstrap.MachineNetwork(cb.Status, m.Name, of.Provider.Spec.Network))
		if err != nil {
			return nil, err
		}
		out = append(out, provider.MachineSpec{
			MachineRef: provider.MachineRef{Name: m.Name},
			Role:       m.Role,
			CPU:        m.Pool.CPU, MemoryMB: m.Pool.MemoryMB, DiskGB: m.Pool.DiskGB, ExtraDisks: m.Pool.ExtraDisks,
			TalosVersion: s.Talos.Version, Schematic: s.Talos.Schematic, Extensions: addon.Extensions(s), Network: network,
		})
	}
	return out, nil
}

// reportFinding reports a finding to programs.
func reportFinding(progress *ui.Reporter, f provider.Finding) {
	if !progress.JSON() {
		return
	}
	text := fmt.Sprintf("%s is %s", f.Check, strings.ToLower(string(f.Verdict)))
	if f.Message != "" {
		text += ": " + f.Message
	}
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	progress.Report(ui.Event{Type: ui.EventCheck, Check: &ui.Check{Name: f.Check, Verdict: string(f.Verdict), Hint: f.Hint}, Message: text})
}
