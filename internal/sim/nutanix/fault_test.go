// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/nutanix"
	"github.com/butlerdotdev/butler/provider/tag"
)

func (f *fixture) plan(t *testing.T, faults ...fault.Fault) {
	t.Helper()
	p := fault.Plan{Faults: faults}
	must(t, f.api.Prepare(t.Context(), p))
	f.faults.Replace(p)
	f.http.CloseIdleConnections() // another platform cuts them
}

func TestFaultsRefuseInTheWordsOfThePlatform(t *testing.T) {
	f := start(t)
	for kind, want := range map[fault.Kind]string{
		fault.Throttle: "429 TOO_MANY_REQUESTS: ", fault.Deny: "403 ACCESS_DENIED: ", fault.TokenExpiry: "401 <html>", fault.Quota: "422 RESOURCE_SHORTAGE: ",
	} {
		f.plan(t, fault.Fault{Kind: kind})
		a := f.call(t, http.MethodPost, "vms", machine("x"))
		if got := a.reason(); !strings.HasPrefix(got, want) || kind == fault.Throttle && a.header.Get("Retry-After") != "1" {
			t.Errorf("%s: %s", kind, got)
		}
	}
	f.plan(t, fault.Fault{Kind: fault.NoCapacity})
	if task := f.wait(t, f.do(t, http.MethodPost, "vms", machine("x"))); !strings.HasPrefix(text(task, "error_detail"), "RESOURCE_SHORTAGE: ") {
		t.Errorf("no capacity: %v", task)
	}
}

func TestFailedTasks(t *testing.T) {
	f := start(t)
	f.plan(t, fault.Fault{Kind: fault.FailedTask, Verb: fault.Create, Times: 1})
	accepted := f.do(t, http.MethodPost, "vms", machine("x"))
	if task := f.wait(t, accepted); task["status"] != "FAILED" || len(f.names(t)) != 0 {
		t.Errorf("create: %v", task)
	}
	vm := f.create(t, machine("x"))
	f.plan(t, fault.Fault{Kind: fault.FailedTask, Verb: fault.Delete, Times: 1})
	path := "vms/" + text(vm, "metadata.uuid")
	task := f.wait(t, f.do(t, http.MethodDelete, path, nil))
	if task["status"] != "FAILED" || !strings.HasPrefix(text(task, "error_detail"), "INTERNAL_ERROR: ") {
		t.Errorf("delete: %v", task)
	}
	if vm := f.do(t, http.MethodGet, path, nil); text(vm, "status.state") != "COMPLETE" || text(vm, "status.resources.power_state") != "ON" {
		t.Errorf("the VM is %v", vm["status"])
	}
	if task := f.wait(t, f.do(t, http.MethodDelete, path, nil)); task["status"] != "SUCCEEDED" {
		t.Errorf("second delete: %v", task)
	}
}

func TestReadsOfThePastAndOfAnotherPlatform(t *testing.T) {
	f := start(t)
	first := text(f.do(t, http.MethodGet, "prism_central", nil), "resources.cluster_uuid")
	f.plan(t, fault.Fault{Kind: fault.StaleList, Resource: fault.Machine, For: metav1.Duration{Duration: time.Minute}})
	f.names(t)
	accepted := f.do(t, http.MethodPost, "vms", machine("x"))
	f.wait(t, accepted)
	if got := f.names(t); len(got) != 0 {
		t.Errorf("a read of the past shows %v", got)
	}
	f.plan(t, fault.Fault{Kind: fault.SecondPlatform})
	if got := text(f.do(t, http.MethodGet, "prism_central", nil), "resources.cluster_uuid"); got == first || len(f.names(t)) != 0 {
		t.Errorf("the other platform is %s", got)
	}
	if task := f.wait(t, f.do(t, http.MethodPost, "vms", machine("y"))); task["status"] != "FAILED" {
		t.Errorf("a machine runs on the other platform: %v", task)
	}
	f.plan(t)
	if got := f.names(t); !slices.Equal(got, []string{"x"}) {
		t.Errorf("afterwards: %v", got)
	}
}

func TestCopiesConflictsAndDeaths(t *testing.T) {
	f := start(t)
	is := tag.Set{OwnerID: "o1", ClusterID: "c1", Cluster: "audited"}
	vm := f.create(t, with(machine("x"), "spec.description", tag.Nutanix().Text(is)))
	f.plan(t, fault.Fault{Kind: fault.Clone, Machine: "x"}, fault.Fault{Kind: fault.ConflictingMachine, Machine: "x"})
	eventually(t, "a copy and a conflicting machine exist", func() bool { return slices.Equal(f.names(t), []string{"x", "x", "x-clone"}) })
	var left []string
	for _, o := range f.auditor.Left() {
		left = append(left, o.Name)
	}
	if !slices.Equal(left, []string{"x", "x"}) { // with its disk
		t.Errorf("audited: %v", left)
	}
	id := text(vm, "metadata.uuid")
	f.center.Kill(id)
	eventually(t, "the VM is started again", func() bool {
		_, on := f.center.Running(id)
		return on && text(f.do(t, http.MethodGet, "vms/"+id, nil), "status.resources.power_state") == "ON"
	})
	f.wait(t, f.do(t, http.MethodDelete, "vms/"+id, nil))
	if left := f.auditor.Left(); len(left) != 0 {
		t.Errorf("audited afterwards: %v", left)
	}
}

// TestAGuestThatShutsDownSwitchesItsVMOff: and a host that is drained does not.
func TestAGuestThatShutsDownSwitchesItsVMOff(t *testing.T) {
	f := start(t)
	f.ends = map[string]chan error{"x": make(chan error)}
	x, y := f.create(t, machine("x")), f.create(t, machine("y"))
	f.ends["x"] <- datacenter.ErrShutdown
	eventually(t, "the VM is off", func() bool {
		return text(f.do(t, http.MethodGet, "vms/"+text(x, "metadata.uuid"), nil), "status.resources.power_state") == "OFF"
	})
	boots := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.boots)
	}
	before := boots()
	f.plan(t, fault.Fault{Kind: fault.Drain, Machine: "y"})
	eventually(t, "the machine restarts", func() bool { return boots() == before+1 })
	if vm := f.do(t, http.MethodGet, "vms/"+text(y, "metadata.uuid"), nil); text(vm, "status.resources.power_state") != "ON" {
		t.Errorf("the VM is %v", vm["status"])
	}
}

func TestTheClonesOfThePlatformAreCopies(t *testing.T) {
	f := start(t)
	vm := f.create(t, with(machine("x"), "spec.description", "mine"))
	clone := f.do(t, http.MethodPost, "vms/"+text(vm, "metadata.uuid")+"/clone", object{"override_spec": object{"name": "y"}})
	f.wait(t, object{"status": object{"execution_context": clone}})
	list := f.do(t, http.MethodPost, "vms/list", object{"filter": "vm_name==y"})
	if text(list, "entities.0.spec.description") != "mine" || text(list, "entities.0.status.resources.power_state") != "OFF" {
		t.Errorf("the clone is %v", list)
	}
}

// TestSecretsAreFoundInWhatIsWritten: user data that is no machine configuration, and a
// description.
func TestSecretsAreFoundInWhatIsWritten(t *testing.T) {
	f := start(t)
	key := "-----BEGIN EC PRIVATE KEY-----"
	f.do(t, http.MethodPost, "vms", with(machine("x"), "spec.description", key))
	found, err := audit.Violations(f.dir)
	must(t, err)
	if len(found) != 1 || found[0].Invariant != audit.NoSecret {
		t.Errorf("violations: %v", found)
	}
}

// TestReleasesWithoutV3: Preflight distinguishes them from a wrong address.
func TestReleasesWithoutV3(t *testing.T) {
	f := start(t, func(s *nutanix.Seed) { s.WithoutV3, s.Version = true, "pc.7.9" })
	a := f.call(t, http.MethodGet, "users/me", nil)
	if a.status != http.StatusNotFound || a.header.Get("X-Ntnx-Product") != "pc.7.9" {
		t.Errorf("answer: %d %v", a.status, a.header)
	}
}
