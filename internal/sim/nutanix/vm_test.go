// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/nutanix"
)

// TestAVMLivesAndEnds: what is answered follows what was recorded from Prism Central.
func TestAVMLivesAndEnds(t *testing.T) {
	f := start(t)
	accepted := f.do(t, http.MethodPost, "vms", machine("a"))
	if text(accepted, "status.state") != "PENDING" || text(accepted, "metadata.spec_version") != "0" || text(accepted, "spec.name") != "a" {
		t.Errorf("accepted: %v", accepted)
	}
	task, id := f.wait(t, accepted), text(accepted, "metadata.uuid")
	if task["operation_type"] != "create_vm_intentful" || text(task, "entity_reference_list.0.uuid") != id || text(task, "percentage_complete") != "100" {
		t.Errorf("task: %v", task)
	}
	vm := f.do(t, http.MethodGet, "vms/"+id, nil)
	for path, want := range map[string]string{
		"status.state": "COMPLETE", "status.resources.power_state": "ON", "status.resources.hypervisor_type": "AHV", "status.resources.bios_uuid": id,
		"spec.resources.nic_list.0.ip_endpoint_list.0.type": "ASSIGNED", "spec.resources.nic_list.0.ip_endpoint_list.0.ip": "192.0.2.10",
		"spec.resources.disk_list.0.device_properties.disk_address.adapter_type": "SCSI", "spec.resources.disk_list.0.disk_size_bytes": "2.147483648e+10",
		"spec.cluster_reference.name": "butler-ahv", "metadata.owner_reference.name": "butler", "metadata.spec_version": "0",
		"status.execution_context.task_uuid.0": text(accepted, "status.execution_context.task_uuid"),
	} {
		if got := text(vm, path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	if !strings.HasPrefix(text(vm, "status.resources.host_reference.name"), "ahv-") || !strings.HasPrefix(text(vm, "spec.resources.nic_list.0.mac_address"), "50:6b:8d:") {
		t.Errorf("host and address of the interface: %v", vm["status"])
	}
	m := f.booted(t, "a")
	if m.CPU != 4 || m.MemoryMB != 4096 || m.Address.Addr().String() != "192.0.2.10" || m.ID != id {
		t.Errorf("the machine is %+v", m.Spec)
	}
	gone := f.do(t, http.MethodDelete, "vms/"+id, nil)
	if text(gone, "status.state") != "DELETE_PENDING" || gone["spec"] != "" {
		t.Errorf("delete: %v", gone)
	}
	if task := f.wait(t, gone); task["status"] != "SUCCEEDED" {
		t.Errorf("delete task: %v", task)
	}
	if got := f.call(t, http.MethodGet, "vms/"+id, nil); got.reason() != "404 ENTITY_NOT_FOUND: vm : "+id+" does not exist. null" || got.body["kind"] != "vm" {
		t.Errorf("after the delete: %s", got.text)
	}
	if _, on := f.center.Running(id); on {
		t.Error("the machine still runs")
	}
}

func TestUserDataComesOnAConfigDrive(t *testing.T) {
	f := start(t)
	data := base64.StdEncoding.EncodeToString([]byte("#cloud-config\n"))
	vm := f.create(t, with(machine("a"), "spec.resources.guest_customization", object{"cloud_init": object{"user_data": data}, "is_overridable": true}))
	if got := string(f.booted(t, "a").UserData); got != "#cloud-config\n" {
		t.Errorf("user data: %q", got)
	}
	if text(vm, "spec.resources.disk_list.1.device_properties.device_type") != "CDROM" || text(vm, "spec.resources.guest_customization.cloud_init.user_data") != data {
		t.Errorf("disks: %v", at(vm, "spec.resources"))
	}
}

// TestAnImageForNoCloudDoesNotReadTheConfigDrive: its label is another one.
func TestAnImageForNoCloudDoesNotReadTheConfigDrive(t *testing.T) {
	f := start(t, func(s *nutanix.Seed) { s.ImageName = "talos-v1.9.2-nocloud-amd64" })
	data := base64.StdEncoding.EncodeToString([]byte("#cloud-config\n"))
	f.create(t, with(machine("a"), "spec.resources.guest_customization", object{"cloud_init": object{"user_data": data}}))
	if got := f.booted(t, "a").UserData; len(got) != 0 {
		t.Errorf("user data: %q", got)
	}
}

func TestDisksAsTheGuestSeesThem(t *testing.T) {
	f := start(t)
	vm := machine("a")
	resources := at(vm, "spec.resources").(object)
	resources["disk_list"] = append(resources["disk_list"].([]any),
		object{"disk_size_mib": 10240, "storage_config": object{"storage_container_reference": object{"kind": "storage_container", "uuid": containerID}}},
		object{"disk_size_mib": 5120, "device_properties": object{"device_type": "DISK", "disk_address": object{"adapter_type": "SCSI", "device_index": 7}}},
	)
	shown := f.create(t, vm)
	if got := text(shown, "spec.resources.disk_list.1.storage_config.storage_container_reference.uuid"); got != containerID {
		t.Errorf("container: %s", got)
	}
	disks := f.booted(t, "a").Disks
	if len(disks) != 3 || !disks[0].System || disks[1].System {
		t.Fatalf("disks: %+v", disks)
	}
	for i, want := range []string{"target2:0:0/2:0:0:0", "target2:0:1/2:0:1:0", "target2:0:7/2:0:7:0"} {
		if !strings.HasSuffix(disks[i].BusPath, want) || disks[i].Serial != "" || !strings.HasPrefix(disks[i].WWID, "naa.6506b8d") {
			t.Errorf("disk %d: %+v", i, disks[i])
		}
	}
}

func TestChangesNeedThePresentSpecVersion(t *testing.T) {
	f := start(t)
	vm := f.create(t, machine("a"))
	path := "vms/" + text(vm, "metadata.uuid")
	change := object{"api_version": "3.1", "metadata": vm["metadata"], "spec": with(vm, "spec.description", "new")["spec"]}
	if task := f.wait(t, f.do(t, http.MethodPut, path, change)); task["status"] != "SUCCEEDED" || task["operation_type"] != "update_vm_intentful" {
		t.Fatalf("change: %v", task)
	}
	if got := f.call(t, http.MethodPut, path, change).reason(); !strings.HasPrefix(got, "409 CONCURRENT_REQUESTS_NOT_ALLOWED: Edit conflict: please retry change.") {
		t.Errorf("an old version: %s", got)
	}
	vm = f.do(t, http.MethodGet, path, nil)
	if text(vm, "spec.description") != "new" || text(vm, "metadata.spec_version") != "1" {
		t.Errorf("changed: %v", vm["metadata"])
	}
	metadata := with(vm, "metadata.spec_version", 1)["metadata"].(object)
	delete(metadata, "spec_version")
	if got := f.call(t, http.MethodPut, path, object{"metadata": metadata, "spec": vm["spec"]}).reason(); !strings.Contains(got, "'spec_version' is a required property") {
		t.Errorf("without a version: %s", got)
	}
}

// TestPowerFollowsTheSpec: a VM that is off keeps its address, and a guest that shuts down
// switches its VM off.
func TestPowerFollowsTheSpec(t *testing.T) {
	f := start(t)
	vm := f.create(t, machine("a"))
	id := text(vm, "metadata.uuid")
	set := func(state string) object {
		vm := f.do(t, http.MethodGet, "vms/"+id, nil)
		accepted := f.do(t, http.MethodPut, "vms/"+id, object{"metadata": vm["metadata"], "spec": with(vm, "spec.resources.power_state", state)["spec"]})
		if task := f.wait(t, accepted); task["status"] != "SUCCEEDED" {
			t.Fatalf("%s: %v", state, task)
		}
		return f.do(t, http.MethodGet, "vms/"+id, nil)
	}
	if vm := set("OFF"); text(vm, "status.resources.power_state") != "OFF" || text(vm, "status.resources.nic_list.0.ip_endpoint_list.0.ip") != "192.0.2.10" || at(vm, "status.resources.host_reference") != nil {
		t.Errorf("off: %v", vm["status"])
	}
	if _, on := f.center.Running(id); on {
		t.Error("the machine still runs")
	}
	if vm := set("ON"); text(vm, "status.resources.power_state") != "ON" {
		t.Errorf("on: %v", vm["status"])
	}
	if _, on := f.center.Running(id); !on {
		t.Error("the machine does not run")
	}
}

// TestASubnetWithoutAPoolAssignsWhatIsAskedFor and nothing else.
func TestASubnetWithoutAPoolAssignsWhatIsAskedFor(t *testing.T) {
	f := start(t, func(s *nutanix.Seed) { s.NoPool = true })
	task := f.wait(t, f.do(t, http.MethodPost, "vms", machine("x")))
	if task["status"] != "FAILED" || !strings.Contains(text(task, "error_detail"), "No DHCP pool is defined") {
		t.Errorf("without an address: %v", task)
	}
	nic := object{"subnet_reference": object{"kind": "subnet", "uuid": subnetID}, "ip_endpoint_list": []any{object{"ip": "192.0.2.77"}}}
	if task := f.wait(t, f.do(t, http.MethodPost, "vms", with(machine("y"), "spec.resources.nic_list", []any{nic}))); task["status"] != "SUCCEEDED" {
		t.Errorf("with an address: %v", task)
	}
}

// TestUnmanagedSubnetsShowWhatTheyLearn: addresses appear with the guest, and those that it
// shares with others too.
func TestUnmanagedSubnetsShowWhatTheyLearn(t *testing.T) {
	f := start(t, func(s *nutanix.Seed) { s.Unmanaged = true })
	vm := f.create(t, machine("a"))
	id := text(vm, "metadata.uuid")
	if text(vm, "spec.resources.nic_list.0.ip_endpoint_list") != "[]" {
		t.Errorf("spec: %v", at(vm, "spec.resources.nic_list"))
	}
	m := f.booted(t, "a")
	m.Hold(m.Address.Addr().Next(), true)
	eventually(t, "both addresses are shown", func() bool {
		vm = f.do(t, http.MethodGet, "vms/"+id, nil)
		list := "status.resources.nic_list.0.ip_endpoint_list"
		return text(vm, list+".0.type") == "LEARNED" && text(vm, list+".0.ip") == "192.0.2.10" && text(vm, list+".1.ip") == "192.0.2.11"
	})
	asked := with(machine("b"), "spec.resources.nic_list", []any{object{"subnet_reference": object{"kind": "subnet", "uuid": subnetID}, "ip_endpoint_list": []any{object{"ip": "192.0.2.99"}}}})
	if task := f.wait(t, f.do(t, http.MethodPost, "vms", asked)); !strings.Contains(text(task, "error_detail"), "which is not managed") {
		t.Errorf("an address of an unmanaged subnet: %v", task)
	}
}

func TestNewVMsAreListedLate(t *testing.T) {
	f := start(t, func(s *nutanix.Seed) { s.Lag.Duration = 300 * time.Millisecond })
	vm := f.create(t, machine("a"))
	if got := f.names(t); len(got) != 0 {
		t.Errorf("at once: %v", got)
	}
	if text(vm, "status.state") != "COMPLETE" {
		t.Errorf("by its UUID: %v", vm)
	}
	eventually(t, "the VM is listed", func() bool { return slices.Equal(f.names(t), []string{"a"}) })
}

func TestListsHavePagesAndFilters(t *testing.T) {
	f := start(t)
	for _, name := range []string{"a", "b", "b", "c.d"} { // names are not unique
		f.create(t, with(machine(name), "spec.resources.power_state", "OFF"))
	}
	for filter, want := range map[string]int{"": 4, "vm_name==b": 2, "vm_name!=b": 2, "vm_name==a,vm_name==b": 3, "vm_name==.*": 4, "vm_name==c.d;power_state==OFF": 1, "vm_name==b;power_state==ON": 0} {
		body := object{"kind": "vm"}
		if filter != "" {
			body["filter"] = filter
		}
		list := f.do(t, http.MethodPost, "vms/list", body)
		if got := len(list["entities"].([]any)); got != want || text(list, "metadata.total_matches") != text(object{"n": want}, "n") {
			t.Errorf("%q: %d of %v, want %d", filter, got, at(list, "metadata.total_matches"), want)
		}
	}
	list := f.do(t, http.MethodPost, "vms/list", object{"kind": "vm", "length": 2, "offset": 3, "sort_attribute": "name", "sort_order": "DESCENDING"})
	if got := list["entities"].([]any); len(got) != 1 || text(got[0], "status.name") != "a" || text(list, "metadata.offset") != "3" || text(list, "metadata.length") != "1" {
		t.Errorf("the last page: %v", list["metadata"])
	}
}

// TestRestartsContinue: VMs that were on are on again, at the same address, and sessions
// have ended.
func TestRestartsContinue(t *testing.T) {
	dir := t.TempDir()
	f := startIn(t, dir)
	id := text(f.create(t, machine("a")), "metadata.uuid")
	f.do(t, http.MethodPut, "categories/mine", object{"name": "mine"})
	f.stop(t)
	f = startIn(t, dir)
	if m := f.booted(t, "a"); m.ID != id || m.Address.Addr().String() != "192.0.2.10" {
		t.Errorf("the machine is %+v", m.Spec)
	}
	if vm := f.do(t, http.MethodGet, "vms/"+id, nil); text(vm, "status.resources.power_state") != "ON" {
		t.Errorf("the VM is %v", vm)
	}
	f.do(t, http.MethodGet, "categories/mine", nil)
}
