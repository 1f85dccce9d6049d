// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/history"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/ui"
)

var update = flag.Bool("update", false, "write the golden files")

// creation is a plan for a cloud with everything in it.
func creation() Plan {
	sum := "sha256:" + strings.Repeat("ab", 32)
	return Plan{
		Format: Format, Cluster: "mgmt", Kind: "real", Provider: v1alpha1.ProviderAWS, ProviderConfig: "aws-prod", Action: Create, Manifest: sum,
		Create: &Creation{
			Talos: "v1.9.2", Kubernetes: "v1.32.0", Endpoint: Endpoint{Kind: "load-balancer", Port: 6443}, ManagesItself: true,
			LoadBalancer: &LoadBalancer{Name: "mgmt-cp-lb", Scheme: "internet-facing", Ports: []int32{6443, 50000}, AllowedCIDRs: []string{"192.0.2.0/24"}},
			Machines: []Machine{
				{Name: "mgmt-cp-0", Role: v1alpha1.RoleControlPlane, CPU: 4, MemoryMB: 16384, DiskGB: 80, Type: "m7i.xlarge", Zone: "eu-central-1a", Image: "ami-1"},
				{Name: "mgmt-w-0", Role: v1alpha1.RoleWorker, CPU: 8, MemoryMB: 32000, DiskGB: 100, ExtraDisks: []v1alpha1.DiskSpec{{SizeGB: 200}}, Type: "m7i.2xlarge", Zone: "eu-central-1b", Image: "ami-1"},
			},
			Sum:    Sum{Machines: 2, CPU: 12, MemoryMB: 48384, DiskGB: 380, Disks: 3},
			Addons: []Addon{{Name: "cilium", Version: "1.17.1", From: "https://helm.cilium.io", Digest: sum}, {Name: "butler-crds", Version: "v0.1.0", From: "butleradm"}},
			Images: []string{"ghcr.io/butlerdotdev/butler-controller:v0.1.0"},
		},
		Checks: []Check{
			{Platform, "account 1", Passed, "the credentials are those of me", ""},
			{Platform, "quota of vCPUs", Unknown, "it may not be read, and this sentence is long enough to be wrapped at eighty columns", "grant servicequotas:GetServiceQuota"},
			{Platform, "name mgmt-cp-0", Refused, "an instance of another owner has it", "choose another spec.cluster.name"},
			{Workstation, "clock", Passed, "it is 2026-01-02T03:04:05Z, and synchronised", ""},
		},
		Times: []history.Estimate{{Phase: v1alpha1.BootstrapProvisioningMachines, Median: 130, Least: 110, Most: 185, Runs: 3}},
		Total: &history.Estimate{Phase: v1alpha1.BootstrapReady, Median: 600, Least: 500, Most: 700, Runs: 3},
		Cost:  NewCost(v1alpha1.ProviderAWS, asked()), Warnings: []string{"one control plane is not highly available"},
	}
}

// pooled is a plan for a platform of one's own, with addresses of a pool.
func pooled() Plan {
	p := creation()
	p.Kind, p.Provider, p.ProviderConfig, p.Total, p.Times, p.Warnings, p.Checks = "rehearsal", v1alpha1.ProviderHarvester, "dev", nil, nil, nil, p.Checks[3:]
	c := p.Create
	c.LoadBalancer, c.Endpoint, c.ManagesItself = nil, Endpoint{Kind: "kube-vip", Address: "10.40.0.10", Port: 6443}, false
	c.LoadBalancerPool = "10.40.0.20-10.40.0.27"
	c.Addresses = []Address{{For: "mgmt-cp-0", Pool: "lab", Start: "10.40.0.11", End: "10.40.0.11"}, {For: "mgmt-lb", Pool: "lab", Start: "10.40.0.20", End: "10.40.0.27"}}
	for i := range c.Machines {
		c.Machines[i].Type, c.Machines[i].Zone, c.Machines[i].Address, c.Machines[i].Image = "", "", "10.40.0.11/24", "default/talos-v1.9.2"
	}
	p.Cost = NewCost(p.Provider, nil)
	return p
}

func changed() Plan {
	return Plan{
		Cluster: "mgmt", Kind: "real", Provider: v1alpha1.ProviderHarvester, ProviderConfig: "lab", Action: Alter,
		Changes: []Change{
			{Object: "ClusterBootstrap mgmt", Field: "spec.addons.certManager.version", From: "1.16.0", To: "1.17.0", Effect: "addons are updated in place"},
			{Object: "ClusterBootstrap mgmt", Field: "spec.talos.version", From: "v1.9.2", To: "v1.10.0", Refused: "spec.talos is immutable once a machine is configured"},
		},
	}
}

func TestPlansAreReadableAtEightyColumns(t *testing.T) {
	for name, text := range map[string]string{
		"create": Render(creation(), Full), "brief": Render(creation(), Brief), "pooled": Render(pooled(), Full), "change": Render(changed(), Full),
		"nothing": Render(Plan{Cluster: "mgmt", Kind: "real", Provider: "aws", ProviderConfig: "p", Action: Nothing}, Full),
	} {
		for line := range strings.SplitSeq(text, "\n") {
			if w := ansi.StringWidth(line); w > ui.Columns || strings.HasSuffix(line, " ") {
				t.Errorf("%s: %d columns: %q", name, w, line)
			}
		}
		golden := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if diff := cmp.Diff(string(want), text); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestASavedPlanIsHeldAgainstReality(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan")
	if err := creation().Save(path); err != nil {
		t.Fatal(err)
	}
	saved, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for reason, c := range map[string]struct {
		change func(*Plan)
		want   []string
	}{
		"the same":                     {func(*Plan) {}, nil},
		"other times and prices":       {func(p *Plan) { p.Total, p.Times, p.Cost.PerMonth, p.Cost.Charges[0].Price = nil, nil, "1.00", "2.00" }, nil},
		"other evidence":               {func(p *Plan) { p.Checks[0].Evidence = "much" }, nil},
		"a check that passes now":      {func(p *Plan) { p.Checks[2].Result = Passed }, nil},
		"a check that is new":          {func(p *Plan) { p.Checks = append(p.Checks, Check{Name: "new", Result: Unknown}) }, nil},
		"a check that became worse":    {func(p *Plan) { p.Checks[0].Result = Refused }, []string{"check account 1 was passed and is refused: the credentials are those of me"}},
		"another type":                 {func(p *Plan) { p.Create.Machines[0].Type = "m6i.xlarge" }, []string{"create.machines[mgmt-cp-0].type was m7i.xlarge and is m6i.xlarge"}},
		"another checksum of an addon": {func(p *Plan) { p.Create.Addons[0].Digest = "sha256:0" }, []string{"create.addons[cilium].digest was sha256:" + strings.Repeat("ab", 32) + " and is sha256:0"}},
		"an addon less":                {func(p *Plan) { p.Create.Addons = p.Create.Addons[:1] }, []string{"create.addons[butler-crds].from was butleradm and is absent", "create.addons[butler-crds].name was butler-crds and is absent", "create.addons[butler-crds].version was v0.1.0 and is absent"}},
		"another manifest":             {func(p *Plan) { p.Manifest = "sha256:1" }, []string{"manifest was sha256:" + strings.Repeat("ab", 32) + " and is sha256:1"}},
	} {
		now := creation()
		c.change(&now)
		got, err := now.Deviations(saved)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", reason, err, diff)
		}
	}
}

func TestWhatIsNoPlanIsRefused(t *testing.T) {
	for reason, c := range map[string]struct{ content, want string }{
		"no file":        {"", "read the plan"},
		"no JSON":        {"x", "is not a plan of butleradm plan --out"},
		"other JSON":     {"{}", "its format is 0, not 1"},
		"another format": {`{"format":2}`, "its format is 2, not 1"},
	} {
		path := filepath.Join(t.TempDir(), "plan")
		if c.content != "" {
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

func TestChangesSayWhatHappensOrWhyNot(t *testing.T) {
	type spec = map[string]any
	const frozen = "spec.talos and podCIDR, serviceCIDR, vip and vipInterface of spec.network are immutable once a machine is configured"
	now := spec{"talos": spec{"version": "v1.9.2"}, "addons": spec{"certManager": spec{"version": "1"}}, "network": spec{"podCIDR": "10.0.0.0/16"}, "cluster": spec{"workers": spec{"replicas": 3}}}
	for reason, c := range map[string]struct {
		then    spec
		refused []manifest.Problem
		want    []Change
	}{
		"nothing": {now, nil, nil},
		"an addon": {spec{"talos": now["talos"], "network": now["network"], "cluster": now["cluster"], "addons": spec{"certManager": spec{"version": "2"}}}, nil,
			[]Change{{Object: "ClusterBootstrap x", Field: "spec.addons.certManager.version", From: "1", To: "2", Effect: effects[0].effect}}},
		"a field that the message names": {spec{"talos": now["talos"], "network": spec{"podCIDR": "10.1.0.0/16"}, "cluster": now["cluster"], "addons": spec{}}, []manifest.Problem{{Message: frozen}},
			[]Change{
				{Object: "ClusterBootstrap x", Field: "spec.addons.certManager.version", From: "1", Effect: effects[0].effect},
				{Object: "ClusterBootstrap x", Field: "spec.network.podCIDR", From: "10.0.0.0/16", To: "10.1.0.0/16", Refused: frozen},
			}},
		"an upgrade": {spec{"talos": spec{"version": "v1.10.0"}, "network": now["network"], "cluster": now["cluster"], "addons": now["addons"]}, []manifest.Problem{{Message: frozen}},
			[]Change{{Object: "ClusterBootstrap x", Field: "spec.talos.version", From: "v1.9.2", To: "v1.10.0", Refused: frozen + "; this version of butleradm does not upgrade Talos or Kubernetes of a management cluster"}}},
		"a field around it": {spec{"talos": now["talos"], "network": now["network"], "addons": now["addons"], "cluster": spec{"workers": spec{"replicas": 4}}}, []manifest.Problem{{Field: "spec.cluster", Message: "is immutable"}},
			[]Change{{Object: "ClusterBootstrap x", Field: "spec.cluster.workers.replicas", From: "3", To: "4", Refused: "spec.cluster is immutable"}}},
		"a rule about no change": {now, []manifest.Problem{{Message: "it is not allowed"}}, []Change{{Object: "ClusterBootstrap x", Refused: "it is not allowed"}}},
	} {
		got, err := Object{Kind: "ClusterBootstrap", Name: "x", Now: now, Then: c.then, Refused: c.refused}.Changes()
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", reason, err, diff)
		}
	}
}

func TestAnotherNumberOfWorkersNamesTheMachines(t *testing.T) {
	spec := func(workers int32) (s v1alpha1.ClusterBootstrapSpec) {
		s.Cluster.Name, s.Cluster.Topology, s.Cluster.ControlPlane.Replicas = "dev", v1alpha1.TopologyHA, 3
		s.Cluster.Workers = &v1alpha1.NodePool{Replicas: workers}
		return s
	}
	for _, c := range []struct {
		wanted int32
		want   string
	}{{5, "added: dev-w-3, dev-w-4"}, {1, "drained and removed, one at a time: dev-w-2, dev-worker-1"}} {
		o := Object{Kind: "ClusterBootstrap", Name: "dev", Now: spec(3), Then: spec(c.wanted), Workers: []string{"dev-worker-0", "dev-worker-1", "dev-w-2"}}
		got, err := o.Changes()
		if err != nil || len(got) != 1 || got[0].Effect != c.want {
			t.Errorf("%d: %+v, %v", c.wanted, got, err)
		}
	}
}

func TestPatchesAreNotRepeated(t *testing.T) {
	patch := func(text string) map[string]any {
		return map[string]any{"talos": map[string]any{"strategicPatches": []any{map[string]any{"patch": text}}}}
	}
	got, err := Object{Now: patch("canary-1"), Then: patch("canary-2")}.Changes()
	if err != nil || len(got) != 1 || strings.Contains(got[0].From+got[0].To, "canary") {
		t.Errorf("%+v, %v", got, err)
	}
}
