// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/proxmox"
)

const noSuchProperty = "property is not defined in schema and the schema does not allow additional properties"

// TestParametersAreCheckedBeforeCallsAreCarriedOut has the answer for each wrong parameter.
func TestParametersAreCheckedBeforeCallsAreCarriedOut(t *testing.T) {
	f := start(t, proxmox.Seed{})
	f.cloned(t)
	for name, c := range map[string]struct {
		method, path, param string
		errors              map[string]string
	}{
		"an unknown parameter":      {"POST", template + "/clone", "newid=102 tags=a", map[string]string{"tags": noSuchProperty}},
		"a missing one":             {"POST", template + "/clone", "name=a", map[string]string{"newid": "property is missing and it is not optional"}},
		"an ID that is too small":   {"POST", template + "/clone", "newid=99", map[string]string{"newid": "invalid format - value does not look like a valid VM ID\n"}},
		"an ID that is no number":   {"POST", template + "/clone", "newid=x", map[string]string{"newid": "type check ('integer') failed - got 'x'"}},
		"a wrong name":              {"POST", template + "/clone", "newid=102 name=a_b", map[string]string{"name": "invalid format - value does not look like a valid DNS name\n"}},
		"a wrong boolean":           {"POST", template + "/clone", "newid=102 full=true", map[string]string{"full": "type check ('boolean') failed - got 'true'"}},
		"a wrong format":            {"POST", template + "/clone", "newid=102 format=iso", map[string]string{"format": "value 'iso' does not have a value in the enumeration 'raw, qcow2, vmdk'"}},
		"two IDs":                   {"POST", template + "/clone", "vmid=1 newid=102", map[string]string{"vmid": "duplicate parameter (already defined in URI) with conflicting values!"}},
		"an unknown option":         {"PUT", vm + "/config", "scsi31=local-lvm:1", map[string]string{"scsi31": noSuchProperty}},
		"no cores":                  {"PUT", vm + "/config", "cores=0", map[string]string{"cores": "value must have a minimum value of 1"}},
		"little memory":             {"PUT", vm + "/config", "memory=1", map[string]string{"memory": "invalid format - format error\nmemory.current: value must have a minimum value of 16\n"}},
		"a device without a model":  {"PUT", vm + "/config", "net0=bridge=vmbr0", map[string]string{"net0": "invalid format - format error\nnet0.model: property is missing and it is not optional\n"}},
		"a VLAN that is too large":  {"PUT", vm + "/config", "net0=virtio,tag=4095", map[string]string{"net0": "invalid format - format error\nnet0.tag: value must have a maximum value of 4094\n"}},
		"an unknown key":            {"PUT", vm + "/config", "net0=virtio,vlan=3", map[string]string{"net0": "invalid format - invalid key in comma-separated list property: vlan\n"}},
		"a group address":           {"PUT", vm + "/config", "net0=virtio=01:00:00:00:00:01", map[string]string{"net0": "invalid format - format error\nnet0.macaddr: value does not look like a valid unicast MAC address\n"}},
		"a serial with a space":     {"PUT", vm + "/config", "scsi1=local-lvm:1,serial=a b", map[string]string{"scsi1": "invalid format - format error\nscsi1.serial: invalid format - invalid urlencoded string: a b\n"}},
		"an IO thread of IDE":       {"PUT", vm + "/config", "ide0=local-lvm:1,iothread=1", map[string]string{"ide0": "invalid format - invalid key in comma-separated list property: iothread\n"}},
		"a wrong tag":               {"PUT", vm + "/config", "tags=a,b/c", map[string]string{"tags": "invalid format - invalid characters in tag\n"}},
		"a long description":        {"PUT", vm + "/config", "description=" + strings.Repeat("x", 8193), map[string]string{"description": "value may only be 8192 characters long"}},
		"a gateway without address": {"PUT", vm + "/config", "ipconfig0=gw=192.0.2.1", map[string]string{"ipconfig0": "invalid format - format error\nipconfig0.ip: missing property required by 'ipconfig0.gw'\n"}},
		"a deleted option that is set": {
			"PUT", vm + "/config", "cores=2 delete=cores", map[string]string{"delete": "you can't use '-cores' and -delete cores' at the same time"},
		},
		"an image that is no CD-ROM": {"PUT", vm + "/config", "ide2=local:iso/a.iso", map[string]string{"ide2": "explicit 'media=cdrom' is required for iso images"}},
		"a disk where none can be":   {"PUT", vm + "/config", "scsi1=local:1", map[string]string{"storage": "storage 'local' does not support vm images"}},
		"a wrong size":               {"PUT", vm + "/resize", "disk=virtio0 size=20X", map[string]string{"size": "value does not match the regex pattern"}},
		"a task that is none":        {"GET", "/nodes/pve1/tasks/x/status", "", map[string]string{"upid": "unable to parse worker upid"}},
		"a taken ID":                 {"GET", "/cluster/nextid", "vmid=101", map[string]string{"vmid": "VM 101 already exists"}},
		"an option for root":         {"DELETE", vm, "skiplock=1", map[string]string{"skiplock": "Only root may use this option."}},
	} {
		t.Run(name, func(t *testing.T) {
			a := f.call(t, c.method, c.path, words(c.param)...)
			if a.code != http.StatusBadRequest || a.reason != "Parameter verification failed." || a.Data != nil {
				t.Fatalf("%d %s %v", a.code, a.reason, a.Data)
			}
			for param, want := range c.errors {
				got := a.Errors[param]
				if param == "net0" && strings.Contains(want, "macaddr") {
					want = strings.Replace(want, "macaddr: ", "macaddr: invalid format - ", 1) + "\n"
					got += "\n"
					got = strings.ReplaceAll(got, "\n\n", "\n")
					want = strings.ReplaceAll(want, "\n\n", "\n")
				}
				if strings.TrimSpace(got) != strings.TrimSpace(want) {
					t.Errorf("%s: %q, want %q", param, got, want)
				}
			}
		})
	}
}

// words splits parameters: a space begins the next one if a name and = follow.
func words(text string) (out []string) {
	for word := range strings.SplitSeq(text, " ") {
		if len(out) > 0 && !strings.Contains(word, "=") {
			out[len(out)-1] += " " + word
			continue
		}
		if word != "" {
			out = append(out, word)
		}
	}
	return out
}

// TestCallsThatFail has the answers to calls whose parameters are in order.
func TestCallsThatFail(t *testing.T) {
	f := start(t, proxmox.Seed{
		Nodes: []proxmox.Node{{Name: "pve1", MemoryGB: 8}, {Name: "pve2"}, {Name: "pve3", Offline: true}},
		Storage: []proxmox.Storage{
			{Name: "thick", Type: "lvm", Content: []string{"images"}, SizeGB: 10}, {Name: "old", Type: "dir", Content: []string{"images"}, Disabled: true},
			{Name: "far", Type: "dir", Content: []string{"images"}, Nodes: []string{"pve2"}},
		},
		Templates: []proxmox.Template{{VMID: 9000, Name: "talos", Storage: "local-lvm"}, {VMID: 9001, Name: "busy", Storage: "local-lvm", Lock: "backup"}, {VMID: 9002, Name: "thick", Storage: "thick"}, {VMID: 9003, Name: "plain", Plain: true, Storage: "local-lvm"}},
	})
	f.cloned(t)
	for name, c := range map[string]struct{ method, path, param, want string }{
		"a node that does not exist":   {"GET", "/nodes/pve9/qemu", "", "hostname lookup 'pve9' failed - failed to get address info for: pve9: Name or service not known"},
		"a node that is offline":       {"GET", "/nodes/pve3/qemu", "", "No route to host"},
		"a VM of another node":         {"GET", "/nodes/pve2/qemu/101/config", "", "Configuration file 'nodes/pve2/qemu-server/101.conf' does not exist"},
		"a template in a backup":       {"POST", "/nodes/pve1/qemu/9001/clone", "newid=102", "VM is locked (backup)"},
		"a locked VM":                  {"DELETE", "/nodes/pve1/qemu/9001", "", "VM is locked (backup)"},
		"a taken ID":                   {"POST", template + "/clone", "newid=101", "unable to create VM 101: config file already exists"},
		"a storage that is not there":  {"POST", template + "/clone", "newid=102 full=1 storage=none", "storage 'none' does not exist"},
		"a storage that is disabled":   {"POST", template + "/clone", "newid=102 full=1 storage=old", "storage 'old' is disabled"},
		"a storage of another node":    {"POST", template + "/clone", "newid=102 full=1 storage=far", "storage 'far' is not available on node 'pve1'"},
		"a storage for differences":    {"POST", template + "/clone", "newid=102 storage=local-lvm", "parameter 'storage' not allowed for linked clones"},
		"differences on LVM":           {"POST", "/nodes/pve1/qemu/9002/clone", "newid=102", "Linked clone feature is not supported for 'thick:base-9002-disk-0' (virtio0)"},
		"differences to a VM":          {"POST", "/nodes/pve1/qemu/9003/clone", "newid=102 full=0", "Linked clone feature is not supported for 'local-lvm:vm-9003-disk-0' (virtio0)"},
		"local disks on another node":  {"POST", template + "/clone", "newid=102 full=1 target=pve2", "can't clone VM to node 'pve2' (VM uses local storage)"},
		"an old digest":                {"PUT", vm + "/config", "cores=2 digest=0000", "checksum mismatch (file change by other user?)"},
		"nothing to change":            {"PUT", vm + "/config", "", "no options specified"},
		"options for root":             {"PUT", vm + "/config", "args=-no-reboot", "only root can set 'args' config"},
		"a boot order without device":  {"PUT", vm + "/config", "boot=order=scsi7", "invalid bootorder: device 'scsi7' does not exist'"},
		"an image that is not there":   {"PUT", vm + "/config", "ide2=local:iso/a.iso,media=cdrom", "volume 'local:iso/a.iso' does not exist"},
		"a disk that is not there":     {"PUT", vm + "/resize", "disk=scsi7 size=1G", "disk 'scsi7' does not exist"},
		"a smaller disk":               {"PUT", vm + "/resize", "disk=virtio0 size=1G", "shrinking disks is not supported"},
		"more than a storage has":      {"PUT", vm + "/config", "scsi1=thick:100", `lvcreate 'thick/vm-101-disk-0' error:   Volume group "thick" has insufficient free space (0 extents): 25600 required.`},
		"a start of a template":        {"POST", template + "/status/start", "", "you can't start a vm if it's a template"},
		"a reboot of a stopped VM":     {"POST", vm + "/status/reboot", "", "VM 101 not running"},
		"a template that is used":      {"DELETE", template, "", "base volume 'local-lvm:base-9000-disk-0' is still in use by linked cloned"},
		"a call that does not exist":   {"GET", "/nodes/pve1/lxc", "", "Method 'GET /nodes/pve1/lxc' not implemented"},
		"an image that is gone":        {"DELETE", "/nodes/pve1/storage/local/content/local:iso/a.iso", "", "unlink '/var/lib/vz/template/iso/a.iso' failed - No such file or directory"},
		"an ID taken on another node":  {"POST", "/nodes/pve1/qemu/9000/clone", "newid=110", "close (rename) atomic file '/etc/pve/nodes/pve1/qemu-server/110.conf' failed: File exists"},
		"more memory than a node has":  {"POST", "/nodes/pve1/qemu/120/status/start", "", "start failed: QEMU exited with code 1"},
		"a bridge that does not exist": {"POST", "/nodes/pve1/qemu/121/status/start", "", "bridge 'vmbr9' does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			switch {
			case strings.Contains(c.param, "newid=110"):
				must(t, f.admin.Do(t.Context(), "POST", "/nodes/pve2/qemu", "vmid", "110"))
			case strings.Contains(c.path, "/120/"):
				must(t, f.admin.Do(t.Context(), "POST", "/nodes/pve1/qemu", "vmid", "120", "memory", "16384"))
			case strings.Contains(c.path, "/121/"):
				must(t, f.admin.Do(t.Context(), "POST", "/nodes/pve1/qemu", "vmid", "121", "net0", "virtio,bridge=vmbr9"))
			case name == "a template that is used":
				ok(t, f.do(t, "POST", template+"/clone", "newid=130"))
			}
			if got := f.do(t, c.method, c.path, words(c.param)...); got != c.want {
				t.Errorf("it ended with %q, want %q", got, c.want)
			}
		})
	}
}

// TestTheServerRefusesWhatItCannotRead has the answers of the HTTP server itself.
func TestTheServerRefusesWhatItCannotRead(t *testing.T) {
	f := start(t, proxmox.Seed{})
	for name, c := range map[string]struct {
		change func(*http.Request)
		code   int
		reason string
	}{
		"another content":   {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 506, "upload 'Content-Type 'text/plain' not implemented"},
		"chunks":            {func(r *http.Request) { r.ContentLength = -1 }, 501, "chunked transfer encoding not supported"},
		"content of DELETE": {func(r *http.Request) { r.Method = "DELETE"; r.URL.Path = "/api2/json/nodes/pve1/qemu/9000" }, 501, "Unexpected content for method 'DELETE'"},
		"another format":    {func(r *http.Request) { r.URL.Path = "/version" }, 501, "no such uri"},
	} {
		r := f.request(t, "POST", template+"/clone", "newid=101")
		c.change(r)
		if a := f.send(t, r); a.code != c.code || a.reason != c.reason || a.Data != nil {
			t.Errorf("%s: %d %s %v", name, a.code, a.reason, a.Data)
		}
	}
	r := f.request(t, "POST", template+"/clone", `{"newid": 101, "full": true, "name": "a"}`)
	r.Header.Set("Content-Type", "application/json")
	if a := f.send(t, r); a.code != 200 {
		t.Errorf("JSON: %d %s %v", a.code, a.reason, a.Errors)
	}
}
