// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/gcp"
)

func (f *fixture) plan(t *testing.T, faults ...fault.Fault) {
	t.Helper()
	p := fault.Plan{Faults: faults}
	cloudtest.Must(t, f.API.Prepare(t.Context(), p))
	f.Faults.Replace(p)
}

func TestFaultsRefuseInTheWordsOfThePlatform(t *testing.T) {
	f := start(t, gcp.Seed{})
	for kind, want := range map[fault.Kind]string{
		fault.Throttle: "403 rateLimitExceeded: ", fault.Deny: "403 forbidden: Required 'compute.instances.create' permission", fault.TokenExpiry: "401 authError: ",
		fault.Quota: "403 quotaExceeded: Quota 'CPUS' exceeded.",
	} {
		f.plan(t, fault.Fault{Kind: kind})
		if got := reason(f.call(http.MethodPost, instances, machine("x"))); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", kind, got)
		}
	}
	f.plan(t, fault.Fault{Kind: fault.TokenExpiry})
	if got := reason(f.grant(f.key.signed(f.key.claims()))); got != "400 invalid_grant: Invalid JWT Signature." {
		t.Errorf("a token: %s", got)
	}
	f.plan(t, fault.Fault{Kind: fault.NoCapacity})
	failed(t, f.do(t, http.MethodPost, instances, machine("x")), "ZONE_RESOURCE_POOL_EXHAUSTED", 503)
}

func TestFailedTasksAndDeaths(t *testing.T) {
	f := start(t, gcp.Seed{})
	f.plan(t, fault.Fault{Kind: fault.FailedTask, Verb: fault.Create, Times: 1})
	failed(t, f.do(t, http.MethodPost, instances, machine("x")), "INTERNAL_ERROR", 500)
	f.succeed(t, http.MethodPost, instances, machine("x"))
	f.plan(t, fault.Fault{Kind: fault.FailedTask, Verb: fault.Delete, Times: 1})
	failed(t, f.do(t, http.MethodDelete, instances+"/x", nil), "INTERNAL_ERROR", 500)
	if i := f.get(t, instances+"/x"); i["status"] != "RUNNING" {
		t.Errorf("the instance is %v", i["status"])
	}
	f.succeed(t, http.MethodDelete, instances+"/x", nil)
}

func TestReadsOfThePastAndOfAnotherProject(t *testing.T) {
	f := start(t, gcp.Seed{})
	first := f.get(t, "")["id"]
	f.plan(t, fault.Fault{Kind: fault.StaleList, Resource: fault.Machine, For: metav1.Duration{Duration: time.Minute}})
	f.get(t, instances)
	f.succeed(t, http.MethodPost, instances, machine("x"))
	if got := names(f.get(t, instances)); got != "" {
		t.Errorf("a read of the past shows %q", got)
	}
	f.plan(t, fault.Fault{Kind: fault.SecondPlatform})
	if second := f.get(t, "")["id"]; second == first {
		t.Error("the other project is the same")
	}
	if status, _ := f.call(http.MethodGet, instances+"/x", nil); status != http.StatusNotFound {
		t.Error("the other project has the instance")
	}
}

func TestCopiesAndConflicts(t *testing.T) {
	f := start(t, gcp.Seed{})
	f.succeed(t, http.MethodPost, instances, with(machine("x"), "labels", object{"butler-owner-id": "o"}))
	f.plan(t, fault.Fault{Kind: fault.Clone, Machine: "x"}, fault.Fault{Kind: fault.ConflictingMachine, Machine: "y"})
	for _, name := range []string{"x-clone", "y"} {
		for end := time.Now().Add(5 * time.Second); ; {
			if status, _ := f.call(http.MethodGet, instances+"/"+name, nil); status == http.StatusOK {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("there is no %s", name)
			}
		}
	}
	copied := f.get(t, instances+"/x-clone")
	if copied["status"] != "TERMINATED" || copied["labels"].(object)["butler-owner-id"] != "o" {
		t.Errorf("the copy is %v", copied)
	}
	f.get(t, "/zones/"+zone+"/disks/x-clone-0")
}

func TestDrainRestartsTheMachineOfAnInstanceThatRuns(t *testing.T) {
	f := start(t, gcp.Seed{})
	f.succeed(t, http.MethodPost, instances, machine("x"))
	f.plan(t, fault.Fault{Kind: fault.Drain, Machine: "x"})
	for tick, end := time.Tick(10*time.Millisecond), time.Now().Add(10*time.Second); f.Boots.Load() < 2; <-tick {
		if i := f.get(t, instances+"/x"); i["status"] != "RUNNING" || time.Now().After(end) {
			t.Fatalf("the instance is %v, booted %d times", i["status"], f.Boots.Load())
		}
	}
}

func TestEverythingSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	f := startIn(t, dir, gcp.Seed{})
	address := f.balance(t)
	f.becomes(t, "HEALTHY")
	cloudtest.Must(t, f.API.Stop())
	g := startIn(t, dir, gcp.Seed{})
	if i := g.get(t, instances+"/cp-0"); i["status"] != "RUNNING" || g.Boots.Load() != 1 {
		t.Errorf("the instance is %v, booted %d times", i["status"], g.Boots.Load())
	}
	if rule := g.get(t, rules+"/lb"); rule["IPAddress"] != address {
		t.Errorf("the address was %s and is %v", address, rule["IPAddress"])
	}
}
