// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package matrix

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// The operations of tenant clusters.
const (
	tenantCreate  operation = "t create"
	tenantUpgrade operation = "t upgrade"
	tenantDelete  operation = "t delete"
)

const (
	// tenantName is that of the only tenant cluster.
	tenantName = "web"
	// upgraded is the version of Kubernetes that it is upgraded to.
	upgraded = "v1.32.0"
)

// host is a management cluster, on which tenant clusters come and go.
type host struct {
	*adm
	api      client.Client
	manifest string
	// own is what the management cluster itself has on the platform, by kind.
	own map[string][]string
}

// TestTenantFaults has tenant clusters of one management cluster per platform meet one trouble
// each, in their creation, their upgrade and their deletion.
func TestTenantFaults(t *testing.T) {
	for i, p := range platforms() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			found().lanes <- struct{}{}
			defer func() { <-found().lanes }()
			h := newHost(t, p)
			h.guard()
			for _, tr := range troubles() {
				if (!tr.meets(i) && everything()) || t.Failed() {
					continue
				}
				t.Run(tr.name, func(t *testing.T) { h.lead(t, tr) })
			}
			h.close()
		})
	}
}

// newHost bootstraps the example of a platform, and prepares its example of a tenant cluster, with
// one worker.
func newHost(t *testing.T, p platform) *host {
	t.Helper()
	p.manifest = renamed(t, map[string]string{"proxmox": "proxmox-ha-ipam"}[p.name], p.name+"-ha")
	h := &host{adm: newAdm(t, p, "")}
	h.manifest = h.file("tenant.yaml", strings.Replace(renamed(t, "tenant-"+p.name), "workers:\n    replicas: 2", "workers:\n    replicas: 1", 1))
	h.must("bootstrap", p.name, "-c", h.adm.manifest, "--rehearse", "--timeout", "8m")
	api, err := h.planeOf([]byte(h.must("kubeconfig", cluster).out))
	if err != nil {
		t.Fatal(err)
	}
	h.api = api
	h.own = h.held()
	return h
}

// renamed reads the first of some examples that has a name, with the cluster called as here.
func renamed(t *testing.T, names ...string) string {
	t.Helper()
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	data, err := os.ReadFile("../../../configs/examples/" + names[0] + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("butler-mgmt", cluster, "butler-prod", cluster).Replace(string(data))
}

// must runs a command that has to succeed.
func (h *host) must(args ...string) result {
	h.Helper()
	r := h.run("", args...)
	if r.code != 0 {
		h.Fatalf("%s: exit %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r
}

// close destroys the management cluster: nothing is left of it, nor of a tenant cluster.
func (h *host) close() {
	if !h.Failed() {
		h.must("destroy", cluster, "--yes", "--timeout", patience)
		h.expectNothingLeft(nil)
	}
}

// lead leads a tenant cluster through its life, in trouble.
func (h *host) lead(t *testing.T, tr trouble) {
	outer := h.T
	h.T = t // failures are the trial's
	defer func() { h.T = outer }()
	for _, o := range []struct {
		operation
		args []string
		then func()
	}{
		{tenantCreate, []string{"create", cluster, "-f", h.manifest}, h.expectTenant},
		{tenantUpgrade, []string{"upgrade", cluster, tenantName, "--kubernetes-version", upgraded}, h.expectTenant},
		{tenantDelete, []string{"delete", cluster, tenantName, "--yes"}, h.expectNoTenant},
	} {
		if t.Failed() {
			return
		}
		r := h.suffer(o.operation, append([]string{"tenant"}, append(o.args, "--timeout", patience)...), tr)
		o.then()
		h.expectNoViolation()
		r.failed = t.Failed()
		t.Logf("%s, %s: %s after %s", r.operation, r.fault, r.what, r.took.Round(time.Second))
		found().add(r)
	}
}

// suffer runs a command of a tenant cluster, in trouble. What lasts ends when the command has
// said what it waits for.
func (h *host) suffer(o operation, args []string, tr trouble) row {
	h.Helper()
	began, before := time.Now(), len(h.tallies())
	words := tr.says[o]
	p := h.start("", args...)
	if err := await(h.Context(), func() bool { return tr.due(h, o) || p.over() }); err != nil {
		h.Errorf("%s: its moment does not come: %v", tr.name, err)
	}
	end := tr.begin(h, o)
	if len(words) > 0 {
		if err := await(h.Context(), func() bool { return says(p.err.String(), words) || p.over() }); err != nil {
			h.Errorf("%s, %s: nothing is said of it, none of %q:\n%s", o, tr.name, words, p.err.String())
		}
	}
	end()
	if h.name == "nutanix" {
		h.deleteFailed(p)
	}
	r := h.wait(p)
	what := "came through"
	if plans := h.tallies()[before:]; tr.plans[o] != "" {
		if err := met(&plans); err != nil {
			h.Errorf("%s, %s: %v\n%s", o, tr.name, err, r.err)
			what = idle
		}
	}
	if len(words) > 0 {
		what = "said it, then came through"
	}
	if r.code != 0 || len(words) > 0 && !says(r.err, words) {
		h.Errorf("%s, %s: exit %d, none of %q\n%s%s", o, tr.name, r.code, words, r.out, r.err)
		what = "stopped: " + r.lastWords()
	}
	return row{operation: o, fault: tr.name, provider: h.name, what: what, took: time.Since(began)}
}

// deleteFailed does what the guide says where a provider does not try again: it deletes Machines
// whose creation has failed.
func (h *host) deleteFailed(p *process) {
	h.Helper()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for deadline := time.After(hanging); !p.over(); {
		for _, m := range h.failed() {
			_ = h.api.Delete(h.Context(), &m) // the next round tries again
		}
		select {
		case <-p.ended:
		case <-deadline:
			return
		case <-tick.C:
		}
	}
}

// failed are the Machines whose NutanixMachine has failed for good.
func (h *host) failed() (out []unstructured.Unstructured) {
	var all unstructured.UnstructuredList
	all.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta1")
	all.SetKind("NutanixMachineList")
	_ = h.api.List(h.Context(), &all) // the next round asks again
	for _, n := range all.Items {
		if reason, _, _ := unstructured.NestedString(n.Object, "status", "failureReason"); reason == "" {
			continue
		}
		for _, owner := range n.GetOwnerReferences() {
			m := unstructured.Unstructured{}
			m.SetAPIVersion(owner.APIVersion)
			m.SetKind(owner.Kind)
			m.SetNamespace(n.GetNamespace())
			m.SetName(owner.Name)
			out = append(out, m)
		}
	}
	return out
}

func says(text string, words []string) bool {
	text = strings.Join(strings.Fields(text), " ")
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// expectTenant wants a Ready tenant cluster with one worker, and one machine of it.
func (h *host) expectTenant() {
	h.Helper()
	tc := &v1alpha1.TenantCluster{}
	err := h.api.Get(h.Context(), client.ObjectKey{Namespace: v1alpha1.DefaultTenantsNamespace, Name: tenantName}, tc)
	if err != nil || tc.Status.Phase != v1alpha1.TenantReady || tc.Status.WorkerNodesReady != 1 {
		h.Errorf("the tenant cluster is %s with %d workers: %v", tc.Status.Phase, tc.Status.WorkerNodesReady, err)
	}
	if found := h.workers(); len(found) != 1 {
		h.Errorf("the platform holds the workers %q", found)
	}
}

// held is what the platform's administrator sees, by kind.
func (h *host) held() map[string][]string {
	h.Helper()
	all, err := h.objects(h.Context(), h.state("sim/"+h.admin))
	if err != nil {
		h.Fatal(err)
	}
	for _, names := range all {
		slices.Sort(names)
	}
	return all
}

// workers are the machines of the tenant cluster, by the platform.
func (h *host) workers() (out []string) {
	h.Helper()
	for kind, names := range h.held() {
		if strings.Contains(strings.ToLower(kind), "machine") || strings.HasPrefix(kind, "vms") || kind == "instances" {
			out = append(out, slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, tenantName+"-") })...)
		}
	}
	return out
}

// expectNoTenant wants what there was before the tenant cluster, and no address of it.
func (h *host) expectNoTenant() {
	h.Helper()
	if diff := cmp.Diff(h.own, h.held()); diff != "" {
		h.Errorf("the platform before the tenant cluster (-) and after (+):\n%s", diff)
	}
	var allocations v1alpha1.IPAllocationList
	if err := h.api.List(h.Context(), &allocations); err != nil {
		h.Error(err)
	}
	for _, a := range allocations.Items {
		if a.Spec.TenantClusterRef != nil {
			h.Errorf("IPAllocation %s is left", a.Name)
		}
	}
}

// setFaults has a plan hold, and returns what lifts it.
func (h *host) setFaults(plan string) (lift func()) {
	h.Helper()
	h.setPlan(plan)
	return func() { h.setPlan("") }
}

func (h *host) setPlan(text string) {
	h.Helper()
	plan := fault.Plan{}
	if text != "" {
		var err error
		if plan, err = fault.Load(h.file("plan.yaml", "faults:\n"+text+"\n")); err != nil {
			h.Fatal(err)
		}
	}
	if err := sim.SetFaults(h.Context(), h.state("sim"), plan); err != nil {
		h.Error(err)
	}
}
