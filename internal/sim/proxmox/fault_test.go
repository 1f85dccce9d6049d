// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/proxmox"
)

func TestFaultsRefuseInTheWordsOfThePlatform(t *testing.T) {
	f := start(t, proxmox.Seed{})
	f.cloned(t)
	for kind, c := range map[fault.Kind]struct {
		method, path string
		code         int
		reason       string
	}{
		fault.Throttle:    {"GET", vm + "/config", 596, "Connection timed out"},
		fault.TokenExpiry: {"GET", vm + "/config", 401, "Authentication failed!"},
		fault.Deny:        {"GET", vm + "/config", 403, "Permission check failed (/vms/101, VM.Audit)"},
		fault.Quota:       {"POST", template + "/clone", 500, "unable to create output file '/var/log/pve/tasks/A/UPID' - No space left on device"},
	} {
		f.plan(fault.Fault{Kind: kind})
		if a := f.call(t, c.method, c.path, "newid=102"); a.code != c.code || a.reason != c.reason {
			t.Errorf("%s: %d %s", kind, a.code, a.reason)
		}
	}
	f.plan(fault.Fault{Kind: fault.Deny})
	if got := f.call(t, "GET", "/cluster/resources", "type=vm").list(t); len(got) > 0 {
		t.Errorf("a caller without privileges sees %v", got)
	}
	f.plan()
	if a := f.call(t, "GET", vm+"/config"); a.code != 200 {
		t.Errorf("afterwards: %d %s", a.code, a.reason)
	}
}

// TestClonesThatFailLeave is what a clone leaves behind that has failed, or whose worker was
// killed.
func TestClonesThatFailLeave(t *testing.T) {
	for debris, want := range map[string]struct{ vms, volumes int }{"": {0, 0}, "volumes": {0, 1}, "guest": {1, 1}} {
		f := start(t, proxmox.Seed{Debris: debris})
		f.plan(fault.Fault{Kind: fault.FailedTask, Verb: fault.Create, Times: 1})
		text := `{"butler.butlerlabs.dev/owner-id":"0b9f1c5e-7d3a-4c7e-9a57-3f1d2e4b6a80","vmid":101}`
		if s := f.do(t, "POST", template+"/clone", "newid=101", "name=a", "description="+text); s == "OK" {
			t.Errorf("%s: the task has succeeded", debris)
		}
		vms, err := f.admin.VMs(t.Context())
		must(t, err)
		volumes, err := f.admin.Volumes(t.Context())
		must(t, err)
		if len(vms) != want.vms || len(volumes) != want.volumes {
			t.Errorf("%s: left are %v, %v", debris, vms, volumes)
		}
		if len(vms) == 1 && (vms[0].Name != "VM 101" || vms[0].Lock != "clone") {
			t.Errorf("the VM that is left is %v", vms[0])
		}
		if left := f.auditor.Left(); (len(left) > 0) != (debris != "") {
			t.Errorf("%s: the auditor sees %v", debris, left)
		}
	}
}

func TestTasksFailAfterTheyWereAccepted(t *testing.T) {
	f := start(t, proxmox.Seed{})
	f.cloned(t)
	f.plan(fault.Fault{Kind: fault.FailedTask, Verb: fault.Delete, Times: 1})
	if s := f.do(t, "DELETE", vm); !strings.Contains(s, "got timeout") {
		t.Errorf("the delete ended with %q", s)
	}
	f.plan(fault.Fault{Kind: fault.NoCapacity})
	upid := f.call(t, "POST", vm+"/status/start").Data.(string)
	if s := f.await(t, upid); s != "start failed: QEMU exited with code 1" {
		t.Errorf("the start ended with %q", s)
	}
	log := f.call(t, "GET", "/nodes/pve1/tasks/"+upid+"/log").list(t)
	if len(log) != 2 || log[0]["t"] != "kvm: cannot set up guest memory 'pc.ram': Cannot allocate memory" || log[1]["t"] != "TASK ERROR: start failed: QEMU exited with code 1" {
		t.Errorf("the log of the start is %v", log)
	}
	failed := f.call(t, "GET", "/nodes/pve1/tasks", "vmid=101", "errors=1").list(t)
	if len(failed) != 2 || failed[0]["tokenid"] != "butler" || failed[0]["user"] != "butler@pve" {
		t.Errorf("the failed tasks are %v", failed)
	}
	f.plan()
	ok(t, f.do(t, "POST", vm+"/status/start"))
}

// TestADeletionAwaitsTheClone: it gets the lock file of the VM when that has ended.
func TestADeletionAwaitsTheClone(t *testing.T) {
	f := start(t, proxmox.Seed{Tasks: 300 * time.Millisecond})
	began := time.Now()
	clone := f.call(t, "POST", template+"/clone", "newid=101", "name=mgmt-cp-0", "full=1", "storage=local-lvm").Data.(string)
	f.until(t, "VM 101 is reserved", func() bool { return f.call(t, "GET", vm+"/config").code == 200 })
	f.until(t, "half of the clone is done", func() bool { return time.Since(began) > 150*time.Millisecond })
	ok(t, f.do(t, "DELETE", vm))
	ok(t, f.await(t, clone))
	if vms, err := f.admin.VMs(t.Context()); err != nil || len(vms) != 0 {
		t.Errorf("left are %v, %v", vms, err)
	}
	clone = f.call(t, "POST", template+"/clone", "newid=101", "name=mgmt-cp-0", "full=1", "storage=local-lvm").Data.(string)
	f.until(t, "VM 101 is reserved", func() bool { return f.call(t, "GET", vm+"/config").code == 200 })
	destroy := f.call(t, "DELETE", vm).Data.(string)
	f.call(t, "DELETE", "/nodes/pve1/tasks/"+clone)
	if s := f.await(t, destroy); s != "VM is locked (clone)" {
		t.Errorf("without the clone it ended with %q", s)
	}
}

func TestMachinesDieAndAreDrained(t *testing.T) {
	f := start(t, proxmox.Seed{})
	f.cloned(t)
	ok(t, f.do(t, "POST", vm+"/status/start"))
	f.plan(fault.Fault{Kind: fault.Drain, Machine: "mgmt-cp-0"})
	f.until(t, "VM 101 runs on another node", func() bool {
		a := f.call(t, "GET", "/nodes/pve2/qemu/101/status/current")
		return a.code == 200 && a.object(t)["status"] == "running"
	})
	volumes, err := f.admin.Volumes(t.Context())
	if err != nil || len(volumes) != 1 || volumes[0].Node != "pve2" {
		t.Errorf("the disks are %v, %v", volumes, err)
	}
	f.plan(fault.Fault{Kind: fault.MachineDies, Machine: "mgmt-cp-0"})
	f.until(t, "VM 101 has stopped", func() bool {
		return f.call(t, "GET", "/nodes/pve2/qemu/101/status/current").object(t)["status"] == "stopped"
	})
}

// until waits for a condition.
func (f *fixture) until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !done(); {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func TestCopiesConflictsAndReadsOfThePast(t *testing.T) {
	f := start(t, proxmox.Seed{})
	f.cloned(t)
	ok(t, f.do(t, "PUT", vm+"/config", "tags=butler-owner-id.0b9f1c5e-7d3a-4c7e-9a57-3f1d2e4b6a80", "description=mine"))
	ok(t, f.do(t, "POST", vm+"/status/start"))
	f.plan(fault.Fault{Kind: fault.Clone, Machine: "mgmt-cp-0"}, fault.Fault{Kind: fault.ConflictingMachine, Machine: "mgmt-cp-1"})
	f.until(t, "a copy and a conflicting VM", func() bool {
		vms, err := f.admin.VMs(t.Context())
		must(t, err)
		return len(vms) == 3
	})
	copied := f.call(t, "GET", "/nodes/pve1/qemu/102/config").object(t)
	if copied["name"] != "mgmt-cp-0-clone" || copied["description"] != "mine\n" || !strings.HasPrefix(copied["virtio0"].(string), "local-lvm:vm-102-disk-0") {
		t.Errorf("the copy is %v", copied)
	}
	f.plan(fault.Fault{Kind: fault.StaleList, For: metav1.Duration{Duration: time.Minute}})
	if a := f.call(t, "GET", vm+"/config"); a.code != 200 {
		t.Fatalf("%d %s", a.code, a.reason)
	}
	must(t, f.admin.Call(t.Context(), "PUT", vm+"/config", nil, "cores", "7"))
	if got := f.call(t, "GET", vm+"/config").object(t)["cores"]; got == 7.0 {
		t.Error("a read of the past sees the present")
	}
}

func TestAnotherPlatformHasAnotherName(t *testing.T) {
	f := start(t, proxmox.Seed{})
	f.cloned(t)
	first := f.call(t, "GET", "/nodes").list(t)[0]["ssl_fingerprint"]
	plan := fault.Plan{Faults: []fault.Fault{{Kind: fault.SecondPlatform}}}
	must(t, f.api.Prepare(t.Context(), plan))
	f.faults.Replace(plan)
	if second := f.call(t, "GET", "/nodes").list(t)[0]["ssl_fingerprint"]; second == first {
		t.Error("both platforms have the same certificate")
	}
	if a := f.call(t, "GET", vm+"/config"); a.code != 500 {
		t.Errorf("the VM is on both platforms: %d", a.code)
	}
}

// TestARestartKeepsEverything: tasks continue, machines run again.
func TestARestartKeepsEverything(t *testing.T) {
	dir := t.TempDir()
	f := startIn(t, dir, proxmox.Seed{})
	f.cloned(t)
	ok(t, f.do(t, "POST", vm+"/status/start"))
	f.stop(t)
	g := startIn(t, dir, proxmox.Seed{Tasks: 100 * time.Millisecond})
	if g.token != f.token {
		t.Error("the token has changed")
	}
	if s := g.call(t, "GET", vm+"/status/current").object(t)["status"]; s != "running" || g.machine(t).Name != "mgmt-cp-0" {
		t.Errorf("the VM is %v", s)
	}
	upid := g.call(t, "POST", template+"/clone", "newid=102", "name=b").Data.(string)
	g.stop(t)
	h := startIn(t, dir, proxmox.Seed{})
	ok(t, h.await(t, upid))
}
