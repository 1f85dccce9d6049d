// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/proxmox"
)

// TestListsOfTheClusterAreOld: the configuration of a new VM is there at once, its name and
// status are not.
func TestListsOfTheClusterAreOld(t *testing.T) {
	f := start(t, proxmox.Seed{Lag: time.Second})
	f.cloned(t)
	ok(t, f.do(t, "PUT", vm+"/config", "tags=a"))
	entry := func() map[string]any {
		for _, r := range f.call(t, "GET", "/cluster/resources").list(t) {
			if r["id"] == "qemu/101" {
				return r
			}
		}
		t.Fatal("the VM is not listed")
		return nil
	}
	if e := entry(); e["status"] != "unknown" || e["name"] != nil || e["tags"] != "a" {
		t.Errorf("at first it is %v", e)
	}
	f.until(t, "the list has the name", func() bool { return entry()["name"] == "mgmt-cp-0" })
	if e := entry(); e["status"] != "stopped" || e["template"] != 0.0 {
		t.Errorf("then it is %v", e)
	}
}

func TestNodesAndStoragesShowWhatIsFree(t *testing.T) {
	f := start(t, proxmox.Seed{Nodes: []proxmox.Node{{Name: "pve1", MemoryGB: 16}, {Name: "pve2", Offline: true}}})
	f.cloned(t)
	ok(t, f.do(t, "POST", vm+"/status/start"))
	nodes := f.call(t, "GET", "/nodes").list(t)
	if nodes[0]["mem"] != float64(4<<30) || nodes[0]["maxmem"] != float64(16<<30) || nodes[1]["status"] != "offline" || nodes[1]["mem"] != nil {
		t.Errorf("the nodes are %v", nodes)
	}
	memory := f.call(t, "GET", "/nodes/pve1/status").object(t)["memory"].(map[string]any)
	if memory["free"] != float64(12<<30) {
		t.Errorf("the memory is %v", memory)
	}
	before := f.call(t, "GET", "/nodes/pve1/storage/local-lvm/status").object(t)["avail"].(float64)
	ok(t, f.do(t, "PUT", vm+"/config", "virtio1=local-lvm:80"))
	if after := f.call(t, "GET", "/nodes/pve1/storage/local-lvm/status").object(t)["avail"].(float64); before-after != 10<<30 {
		t.Errorf("a disk of 80 GB on thin storage takes %v bytes", before-after)
	}
	if all := f.call(t, "GET", "/nodes/pve1/storage", "content=iso").list(t); len(all) != 1 || all[0]["storage"] != "local" || all[0]["type"] != "dir" {
		t.Errorf("storages for images: %v", all)
	}
	bridges := f.call(t, "GET", "/nodes/pve1/network", "type=any_bridge").list(t)
	if len(bridges) != 1 || bridges[0]["iface"] != "vmbr0" {
		t.Errorf("the bridges are %v", bridges)
	}
	if id := f.call(t, "GET", "/cluster/nextid").Data; id != "100" {
		t.Errorf("the next ID is %v", id)
	}
}

func TestAVMMovesToAnotherNode(t *testing.T) {
	f := start(t, proxmox.Seed{Storage: []proxmox.Storage{{Name: "ceph", Type: "rbd", Content: []string{"images"}, Shared: true}, {Name: "near", Type: "dir", Content: []string{"images"}, Nodes: []string{"pve1"}}}})
	f.cloned(t)
	move := func(params ...string) string {
		err := f.admin.Do(t.Context(), "POST", vm+"/migrate", params...)
		if err == nil {
			return ""
		}
		return err.Error()
	}
	if got := move("target", "pve1"); !strings.Contains(got, "target is local node.") {
		t.Errorf("to the same node: %s", got)
	}
	if got := move("target", "pve9"); !strings.Contains(got, "no such cluster node 'pve9'") {
		t.Errorf("to no node: %s", got)
	}
	if a := f.call(t, "POST", vm+"/migrate", "target=pve2"); a.code != 403 {
		t.Errorf("the role of the guide allows it: %d %s", a.code, a.reason)
	}
	ok(t, f.do(t, "PUT", vm+"/config", "virtio1=near:1"))
	if got := move("target", "pve2"); !strings.Contains(got, "storage 'near' is not available on node 'pve2'") {
		t.Errorf("with a disk that stays: %s", got)
	}
	ok(t, f.do(t, "PUT", vm+"/config", "delete=virtio1", "force=1"))
	ok(t, f.do(t, "POST", vm+"/status/start"))
	if got := move("target", "pve2"); !strings.Contains(got, "can't migrate running VM without --online") {
		t.Errorf("a running VM: %s", got)
	}
	if got := move("target", "pve2", "online", "1"); !strings.Contains(got, "without with-local-disks option") {
		t.Errorf("with local disks: %s", got)
	}
	must(t, f.admin.Do(t.Context(), "POST", vm+"/migrate", "target", "pve2", "online", "1", "with-local-disks", "1"))
	status := f.call(t, "GET", "/nodes/pve2/qemu/101/status/current").object(t)
	f.mu.Lock()
	defer f.mu.Unlock()
	if status["status"] != "running" || status["lock"] != nil || len(f.machines) != 1 {
		t.Errorf("afterwards it is %v", status)
	}
}

// TestChangesOfARunningVMArePending until it stops.
func TestChangesOfARunningVMArePending(t *testing.T) {
	f := start(t, proxmox.Seed{})
	f.cloned(t)
	ok(t, f.do(t, "POST", vm+"/status/start"))
	ok(t, f.do(t, "POST", vm+"/config", "cores=8", "tags=now"))
	current := f.call(t, "GET", vm+"/config", "current=1").object(t)
	if current["cores"] != 2.0 || current["tags"] != "now" || f.call(t, "GET", vm+"/config").object(t)["cores"] != 8.0 {
		t.Errorf("while it runs it has %v", current)
	}
	for _, one := range f.call(t, "GET", vm+"/pending").list(t) {
		if one["key"] == "cores" && (one["value"] != 2.0 || one["pending"] != 8.0) {
			t.Errorf("pending is %v", one)
		}
	}
	ok(t, f.do(t, "POST", vm+"/status/shutdown", "forceStop=1"))
	if stopped := f.call(t, "GET", vm+"/config", "current=1").object(t); stopped["cores"] != 8.0 {
		t.Errorf("after the stop it has %v", stopped["cores"])
	}
}

// TestAReplacedDiskIsUnused until that is deleted too.
func TestAReplacedDiskIsUnused(t *testing.T) {
	f := start(t, proxmox.Seed{})
	f.cloned(t)
	ok(t, f.do(t, "PUT", vm+"/config", "virtio1=local-lvm:1"))
	ok(t, f.do(t, "PUT", vm+"/config", "delete=virtio1"))
	config := f.call(t, "GET", vm+"/config").object(t)
	if config["unused0"] != "local-lvm:vm-101-disk-1" || config["virtio1"] != nil {
		t.Errorf("the configuration is %v", config)
	}
	ok(t, f.do(t, "PUT", vm+"/config", "delete=unused0"))
	volumes, err := f.admin.Volumes(t.Context())
	if err != nil || len(volumes) != 1 {
		t.Errorf("on the storages are %v, %v", volumes, err)
	}
}

// TestTemplatesAreMadeOfVMs by any client, and cloned as differences.
func TestTemplatesAreMadeOfVMs(t *testing.T) {
	f := start(t, proxmox.Seed{})
	must(t, f.admin.Do(t.Context(), "POST", "/nodes/pve2/qemu", "vmid", "200", "name", "new", "scsi0", "local-lvm:8", "net0", "virtio,bridge=vmbr0"))
	must(t, f.admin.Do(t.Context(), "POST", "/nodes/pve2/qemu/200/template"))
	if has := f.call(t, "GET", "/nodes/pve2/qemu/200/feature", "feature=clone").object(t); has["hasFeature"] != 1.0 {
		t.Errorf("the template has %v", has)
	}
	ok(t, f.do(t, "POST", "/nodes/pve2/qemu/200/clone", "newid=201"))
	volumes := f.call(t, "GET", "/nodes/pve2/storage/local-lvm/content", "vmid=201").list(t)
	if len(volumes) != 1 || volumes[0]["parent"] != "local-lvm:base-200-disk-0" {
		t.Errorf("the clone has %v", volumes)
	}
	if s := f.do(t, "DELETE", "/nodes/pve2/qemu/200"); s != "base volume 'local-lvm:base-200-disk-0' is still in use by linked cloned" {
		t.Errorf("its template is deleted: %s", s)
	}
}
