// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package matrix

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/diagnosis"
	"github.com/butlerdotdev/butler/internal/diagnosis/diagnosistest"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

const why operation = "why"

// longest is how long why may take: it believes in causes that may pass after two minutes only.
const longest = 4 * time.Minute

// TestWhyFindsFaults has one bootstrap per platform meet the faults of nodes and addons, one after
// the other, and asks butleradm why for the cause of each. When the last one is over, the
// bootstrap succeeds.
func TestWhyFindsFaults(t *testing.T) {
	for _, p := range platforms() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			found().lanes <- struct{}{}
			defer func() { <-found().lanes }()
			a := newAdm(t, p.withAddons(), "")
			rows := diagnosistest.InRehearsals()
			first := a.faultFile(rows[0].On(v1alpha1.ProviderType(p.name), ""))
			boot := a.start("", append(a.bootstrap(), "--timeout", "9m", "--faults", first)...)
			a.explain(boot, rows[0])
			for i, r := range rows[1:] {
				if t.Failed() {
					break
				}
				a.setFaults(a.planOf(r, rows[i+2:]))
				a.explain(boot, r)
			}
			a.setFaults(fault.Plan{})
			if r := a.wait(boot); r.code != 0 {
				t.Errorf("after the last fault: exit %d\n%s%s", r.code, r.out, r.err)
			}
			a.expectNoViolation()
		})
	}
}

// withAddons is the platform's manifest with addons that have hooks and webhooks.
func (p platform) withAddons() platform {
	p.manifest = strings.NewReplacer("    certManager: {enabled: false}\n", "", "    controlPlaneProvider: {type: none}\n", "").Replace(p.manifest)
	return p
}

// faultFile is a fault plan with one fault.
func (a *adm) faultFile(f fault.Fault) string {
	a.Helper()
	data, err := json.Marshal(fault.Plan{Faults: []fault.Fault{f}})
	if err != nil {
		a.Fatal(err)
	}
	return a.file("faults.yaml", string(data))
}

// planOf is the plan with a row's fault. A chart and an image that later rows have missing are
// missing already: what is installed and runs has them.
func (a *adm) planOf(r diagnosistest.Row, rest []diagnosistest.Row) (plan fault.Plan) {
	if f := r.On(v1alpha1.ProviderType(a.name), ""); r.CauseOn(v1alpha1.ProviderType(a.name)) != "" {
		plan.Faults = []fault.Fault{f}
	}
	for _, later := range rest {
		if later.Fault.Kind == fault.ImageMissing || later.Fault.Kind == fault.ChartUnavailable {
			plan.Faults = append(plan.Faults, later.Fault)
		}
	}
	return plan
}

func (a *adm) setFaults(plan fault.Plan) {
	a.Helper()
	if err := sim.SetFaults(a.Context(), a.state("sim"), plan); err != nil {
		a.Fatal(err)
	}
}

// explain waits until why names the cause of a row.
func (a *adm) explain(boot *process, r diagnosistest.Row) {
	a.Helper()
	began, want := time.Now(), r.CauseOn(v1alpha1.ProviderType(a.name))
	if want == "" {
		return
	}
	var chain diagnosis.Chain
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for chain.Cause != want && !boot.over() && time.Since(began) < longest {
		<-tick.C
		chain = a.chain()
	}
	if chain.Cause != want {
		a.Errorf("%s: found %+v, want %s\n%s", r.Name(), chain, want, a.run("", "why", cluster, "-o", "facts").out)
	}
	if chain.Cause == want && (chain.Summary == "" || len(chain.Links) < 2 || len(chain.Remedies) == 0 || chain.Remedies[0].Do == "") {
		a.Errorf("%s: the chain says too little: %+v", r.Name(), chain)
	}
	if a.Failed() {
		return
	}
	a.Logf("%s: %s: %s", r.Name(), chain.Links[len(chain.Links)-1].Object, chain.Summary)
	found().add(row{operation: why, fault: r.Name(), provider: a.name, what: fmt.Sprint(chain.Cause), took: time.Since(began)})
}

// chain is what butleradm why answers.
func (a *adm) chain() (c diagnosis.Chain) {
	a.Helper()
	r := a.run("", "why", cluster, "-o", "json")
	if r.code != 0 {
		return diagnosis.Chain{Summary: r.lastWords()} // the state directory is not there yet
	}
	if err := json.Unmarshal([]byte(r.out), &c); err != nil {
		a.Error(err)
	}
	return c
}
