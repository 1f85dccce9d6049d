// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/proxmox"
)

func TestAVMLivesAndEnds(t *testing.T) {
	f := start(t, proxmox.Seed{})
	f.cloned(t)
	config := f.call(t, "GET", vm+"/config").object(t)
	if config["name"] != "mgmt-cp-0" || config["cores"] != 2.0 || config["memory"] != "2048" || config["lock"] != nil || config["template"] != nil {
		t.Errorf("the clone is %v", config)
	}
	source := f.call(t, "GET", template+"/config").object(t)
	if config["net0"] == source["net0"] || config["smbios1"] == source["smbios1"] {
		t.Error("the clone has the hardware address or the ID of the template")
	}
	ok(t, f.do(t, "PUT", vm+"/config", "cores=4", "memory=4096", "tags=Web;db;web", "description=one\ntwo", "virtio1=local-lvm:10,serial=disk-1", "net0=virtio,bridge=vmbr0,tag=7"))
	ok(t, f.do(t, "PUT", vm+"/resize", "disk=virtio0", "size=20G"))
	config = f.call(t, "GET", vm+"/config").object(t)
	if config["tags"] != "db;web" || config["description"] != "one\ntwo\n" || config["virtio0"] != "local-lvm:vm-101-disk-0,size=20G" || config["virtio1"] != "local-lvm:vm-101-disk-1,serial=disk-1,size=10G" {
		t.Errorf("the configuration is %v", config)
	}
	if a := f.call(t, "GET", vm+"/agent/network-get-interfaces"); a.reason != "VM 101 is not running" {
		t.Errorf("the agent of a stopped VM: %s", a.reason)
	}
	ok(t, f.do(t, "POST", vm+"/status/start"))
	if s := f.do(t, "POST", vm+"/status/start"); s != "VM 101 already running" {
		t.Errorf("a second start: %s", s)
	}
	m := f.machine(t)
	if m.CPU != 4 || m.MemoryMB != 4096 || m.Network != "vmbr0.7" || len(m.Disks) != 2 || m.Disks[0].SizeBytes != 20<<30 || m.Disks[1].Serial != "disk-1" {
		t.Errorf("the machine is %+v", m.Spec)
	}
	interfaces := f.call(t, "GET", vm+"/agent/network-get-interfaces").object(t)["result"].([]any)
	second := interfaces[1].(map[string]any)
	if address := second["ip-addresses"].([]any)[0].(map[string]any)["ip-address"]; address != m.Address.Addr().String() || second["hardware-address"] != m.MAC {
		t.Errorf("the agent reports %v, the machine has %v %s", second, m.Address, m.MAC)
	}
	if s := f.do(t, "DELETE", vm); s != "VM 101 is running - destroy failed" {
		t.Errorf("a running VM: %s", s)
	}
	ok(t, f.do(t, "POST", vm+"/status/stop"))
	ok(t, f.do(t, "DELETE", vm, "purge=1", "destroy-unreferenced-disks=1"))
	if left, err := f.admin.Volumes(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("left on the storages: %v, %v", left, err)
	}
	if a := f.call(t, "GET", vm+"/config"); a.code != 500 || a.reason != "Configuration file 'nodes/pve1/qemu-server/101.conf' does not exist" {
		t.Errorf("%d %s", a.code, a.reason)
	}
}

// TestACloneIsATemporaryFileUntilItIsDone has neither its name nor its description before.
func TestACloneIsATemporaryFileUntilItIsDone(t *testing.T) {
	f := start(t, proxmox.Seed{Tasks: 300 * time.Millisecond})
	upid := f.call(t, "POST", template+"/clone", "newid=101", "name=mgmt-cp-0", "description=mine").Data.(string)
	config := map[string]any{}
	for config["lock"] == nil {
		if a := f.call(t, "GET", vm+"/config"); a.code == 200 {
			config = a.object(t)
		}
	}
	if len(config) != 3 || config["lock"] != "clone" || config["digest"] == nil || config["description"] != " qmclone temporary file\n" {
		t.Errorf("while it is cloned the configuration is %v", config)
	}
	for _, r := range f.call(t, "GET", "/cluster/resources", "type=vm").list(t) {
		if r["vmid"] == 101.0 && (r["lock"] != "clone" || r["name"] == "mgmt-cp-0") {
			t.Errorf("while it is cloned the list has %v", r)
		}
	}
	for path, params := range map[string][]string{
		vm + "/config": {"cores=1"}, "/nodes/pve1/qemu/9000/clone": {"newid=101"},
	} {
		method := map[bool]string{true: "POST", false: "PUT"}[strings.HasSuffix(path, "clone")]
		a := f.call(t, method, path, params...)
		if want := map[string]string{"PUT": "VM is locked (clone)", "POST": "unable to create VM 101: config file already exists"}[method]; a.code != 500 || a.reason != want {
			t.Errorf("%s %s: %d %s", method, path, a.code, a.reason)
		}
	}
	ok(t, f.await(t, upid))
	if config := f.call(t, "GET", vm+"/config").object(t); config["description"] != "mine\n" || config["lock"] != nil {
		t.Errorf("afterwards it is %v", config)
	}
}

// machine returns the machine that was powered on last.
func (f *fixture) machine(t *testing.T) datacenter.Machine {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.machines) == 0 {
		t.Fatal("no machine was powered on")
	}
	return f.machines[len(f.machines)-1]
}
