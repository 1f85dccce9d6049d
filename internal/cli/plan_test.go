// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/butlerdotdev/butler/internal/plan"
	"github.com/butlerdotdev/butler/internal/ui"
)

const exampleAWS = "../../configs/examples/aws-ha.yaml"

// TestPlanOfANewCluster plans on a platform whose simulator needs no API server.
func TestPlanOfANewCluster(t *testing.T) {
	t.Parallel()
	a := newAdm(t)
	saved := filepath.Join(t.TempDir(), "plan")
	r := a.ok("plan", "-c", exampleAWS, "--rehearse", "--out", saved)
	for _, want := range []string{
		"Plan: create butler-mgmt on aws-prod (simulated aws)\n", "butler-mgmt-cp-0  4    16Gi    100G      m6a.xlarge   eu-central-1a\n",
		"balancer:   butler-mgmt-cp-lb, internet-facing, ports 6443 and 50000", "cert-manager              v1.16.2    ", "✓ vCPU quota",
		"✓ name butler-mgmt-w-2\n", "✓ disk space: ", "time:       no run recorded\n", " 0 refused\n",
		"gp3          disk           2400 GiB  USD 0.0952/month  2025-03-01     228.48\n", "cost:       USD 1520.58 per month of 730 hours; list prices without traffic,\n",
		"prices:     AWS Price List, simulated: the figures are invented; asked\n",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is not in\n%s", want, r.out)
		}
	}
	for line := range strings.SplitSeq(r.out, "\n") {
		if w := ansi.StringWidth(line); w > ui.Columns && len(strings.Fields(line)) > 1 {
			t.Errorf("%d columns: %s", w, line)
		}
	}
	if left, err := os.ReadDir(a.home); err != nil || len(left) != 0 {
		t.Errorf("a plan leaves %v, %v", left, err)
	}
	expectSamePlan(t, a, saved)
	t.Run("a check that refuses ends it", func(t *testing.T) { expectConflict(t, a) })
	t.Run("a plan that no longer matches is refused", func(t *testing.T) { expectOutdated(t, a, saved) })
	t.Run("the ProviderConfig alone is checked", func(t *testing.T) {
		r := a.ok("provider", "validate", "-c", exampleAWS, "--rehearse")
		if !strings.Contains(r.out, "✓ image ami-0c1d2e3f4a5b60001") || strings.Contains(r.out, "name butler-mgmt") {
			t.Errorf("%s", r.out)
		}
	})
}

// expectSamePlan has the plan for programs be the saved one.
func expectSamePlan(t *testing.T, a adm, saved string) {
	t.Helper()
	want, err := plan.Load(saved)
	if err != nil {
		t.Fatal(err)
	}
	var got plan.Plan
	if err := json.Unmarshal([]byte(a.ok("plan", "-c", exampleAWS, "--rehearse", "-o", "json").out), &got); err != nil {
		t.Fatal(err)
	}
	if found, err := got.Deviations(want); err != nil || len(found) != 0 {
		t.Errorf("the same plan again: %v, %v", found, err)
	}
	if c := got.Cost; c.PerMonth != want.Cost.PerMonth || c.Currency != "USD" || !c.Simulated || c.Source != "AWS Price List" || len(c.Charges) != 7 || c.Asked.IsZero() {
		t.Errorf("its cost is %+v", c)
	}
	for _, addon := range got.Create.Addons {
		if !strings.HasPrefix(addon.Digest, "sha256:") {
			t.Errorf("addon %s has no checksum", addon.Name)
		}
	}
}

func expectConflict(t *testing.T, a adm) {
	t.Helper()
	faults := file(t, "faults.yaml", "faults:\n  - {kind: conflictingMachine, machine: butler-mgmt-cp-1}\n")
	r := a.run("plan", "-c", exampleAWS, "--rehearse", "--faults", faults)
	if r.code != 3 || !strings.Contains(r.out, "✗ name butler-mgmt-cp-1 is refused: ") || !strings.Contains(r.err, "checks are refused; nothing was created") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
}

func expectOutdated(t *testing.T, a adm, saved string) {
	t.Helper()
	changed := file(t, "changed.yaml", edited(t, exampleAWS, "cpu: 8", "cpu: 16"))
	r := a.run("bootstrap", "aws", "-c", changed, "--rehearse", "--plan", saved)
	if r.code != 3 || !strings.Contains(r.err, "the plan no longer matches, nothing was created") || !strings.Contains(r.err, "create.machines[butler-mgmt-w-0].cpu was 8 and is 16\n") {
		t.Errorf("exit %d\n%s", r.code, r.err)
	}
	if left, err := filepath.Glob(filepath.Join(a.home, "rehearsals", "*")); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// expectPlannedChange plans changes of a cluster that is Ready, and finds its run recorded.
func expectPlannedChange(t *testing.T, a adm, manifest, patch string) {
	t.Helper()
	if r := a.ok("plan", "-c", manifest, "--rehearse"); !strings.Contains(r.out, "The manifest changes nothing of the cluster.") {
		t.Errorf("the same manifest:\n%s", r.out)
	}
	inPlace := file(t, "in-place.yaml", edited(t, manifest, "hubbleEnabled: true", "hubbleEnabled: false", patch, patch+"-2"))
	r := a.run("plan", "-c", inPlace, "--rehearse")
	for _, want := range []string{"~ ClusterBootstrap butler-mgmt spec.addons.cni.hubbleEnabled\n    true → false\n    addons are installed or updated in place", "✗ ClusterBootstrap butler-mgmt spec.talos.strategicPatches[0].patch\n", "refused: spec.talos and podCIDR"} {
		if r.code != 2 || !strings.Contains(r.out, want) || strings.Contains(r.out, patch) {
			t.Errorf("exit %d, %q is not in\n%s%s", r.code, want, r.out, r.err)
		}
	}
	runs, err := os.ReadFile(filepath.Join(a.home, "runs.jsonl"))
	if err != nil || strings.Count(string(runs), "\n") != 1 || !strings.Contains(string(runs), `"provider":"harvester","topology":"ha","profile":"instant","machines":6`) || !strings.Contains(string(runs), "Pivoting") {
		t.Errorf("recorded: %s, %v", runs, err)
	}
}

func TestCommandsThatNeedNoPlatform(t *testing.T) {
	t.Parallel()
	a := newAdm(t)
	for reason, c := range map[string]struct {
		args []string
		want string
	}{
		"a field":               {[]string{"explain", "cluster.topology"}, "default:    ha\n"},
		"the kinds":             {[]string{"explain"}, "       ProviderConfig describes "},
		"the providers":         {[]string{"provider", "list"}, "aws        cloud        yes        "},
		"a first manifest":      {[]string{"init", "proxmox", "--name", "mine"}, "\n  name: mine\n"},
		"a single node":         {[]string{"init", "gcp", "--topology", "single-node"}, "topology: single-node\n"},
		"this machine":          {[]string{"doctor"}, "✓ disk space: "},
		"this machine, as data": {[]string{"doctor", "-o", "json"}, `"name": "disk space"`},
		"completion":            {[]string{"completion", "bash"}, "bash completion V2 for butleradm"},
		"names of fields":       {[]string{"__complete", "explain", "ClusterBootstrap.spec.clu"}, "ClusterBootstrap.spec.cluster\n"},
		"names of providers":    {[]string{"__complete", "init", "a"}, "aws\nazure\n"},
	} {
		if r := a.ok(c.args...); !strings.Contains(r.out, c.want) {
			t.Errorf("%s: %q is not in\n%s%s", reason, c.want, r.out, r.err)
		}
	}
	t.Run("clusters are completed by name", func(t *testing.T) {
		dir := filepath.Join(a.home, "rehearsals", "my-cluster", "plane")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".butleradm"), []byte(`{"rehearsal":true}`), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, verb := range []string{"status", "destroy", "kubeconfig"} {
			if r := a.ok("__complete", verb, "my"); !strings.HasPrefix(r.out, "my-cluster\n") {
				t.Errorf("%s: %s", verb, r.out)
			}
		}
	})
	t.Run("a first manifest can be rehearsed", func(t *testing.T) {
		to := filepath.Join(t.TempDir(), "mine.yaml")
		if r := a.ok("init", "azure", "--to", to, "--name", "mine"); !strings.Contains(r.err, "butleradm bootstrap azure -c "+to+" --rehearse") {
			t.Errorf("%s", r.err)
		}
		if r := a.ok("plan", "-c", to, "--rehearse"); !strings.Contains(r.out, "Plan: create mine on azure-prod") {
			t.Errorf("%s", r.out)
		}
	})
}
