// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/nutanix"
)

// The shapes of requests follow what clients of others send: the modules of the collection
// nutanix.ncp for Ansible (2.5.0), the provider for Terraform (2.x, resources of v3), and the
// recordings in the tests of prism-go-client (0.8.1).

// TestRequestsOfAnsible: ntnx_vms finds what it needs by name, creates a VM, changes it by
// what it has read, switches it off and deletes it. ntnx_categories comes before.
func TestRequestsOfAnsible(t *testing.T) {
	f := start(t)
	f.do(t, http.MethodPut, "categories/Team", object{"api_version": "3.1.0", "name": "Team", "description": "who it is for"})
	f.do(t, http.MethodPut, "categories/Team/red", object{"api_version": "3.1.0", "value": "red"})
	values := f.do(t, http.MethodPost, "categories/Team/list", object{"kind": "category"})
	if text(values, "entities.0.value") != "red" {
		t.Errorf("values: %v", values)
	}
	cluster := ""
	for _, e := range f.do(t, http.MethodPost, "clusters/list", object{"kind": "cluster"})["entities"].([]any) {
		if text(e, "status.name") == "butler-ahv" {
			cluster = text(e, "metadata.uuid")
		}
	}
	subnet := f.do(t, http.MethodPost, "subnets/list", object{"filter": "name==vlan40", "length": 1})
	container := f.do(t, http.MethodPost, "groups", object{"entity_type": "storage_container", "filter_criteria": "container_name==butler"})
	image := f.do(t, http.MethodPost, "images/list", object{"filter": "name==talos-v1.9.2-openstack-amd64", "length": 1})
	accepted := f.do(t, http.MethodPost, "vms", object{
		"api_version": "3.1.0", "metadata": object{"kind": "vm", "use_categories_mapping": true, "categories_mapping": object{"Team": []any{"red"}}},
		"spec": object{
			"name": "ansible", "description": "by a playbook", "cluster_reference": object{"kind": "cluster", "uuid": cluster},
			"resources": object{
				"num_sockets": 1, "num_vcpus_per_socket": 1, "memory_size_mib": 4096, "power_state": "ON", "gpu_list": []any{}, "hardware_clock_timezone": "UTC",
				"boot_config": object{"boot_type": "LEGACY", "boot_device_order_list": []any{"CDROM", "DISK", "NETWORK"}},
				"nic_list": []any{object{
					"ip_endpoint_list": []any{}, "subnet_reference": object{"kind": "subnet", "uuid": text(subnet, "entities.0.metadata.uuid")}, "is_connected": true,
				}},
				"disk_list": []any{
					object{
						"device_properties":     object{"device_type": "DISK", "disk_address": object{"adapter_type": "SCSI", "device_index": 0}},
						"data_source_reference": object{"kind": "image", "uuid": text(image, "entities.0.metadata.uuid")}, "disk_size_bytes": 21474836480,
					},
					object{
						"device_properties": object{"device_type": "DISK", "disk_address": object{"adapter_type": "PCI", "device_index": 0}}, "disk_size_bytes": 1073741824,
						"storage_config": object{"storage_container_reference": object{"kind": "storage_container", "uuid": text(container, "group_results.0.entity_results.0.entity_id")}},
					},
					object{"device_properties": object{"device_type": "CDROM", "disk_address": object{"adapter_type": "SATA", "device_index": 0}}},
				},
			},
		},
	})
	if task := f.wait(t, accepted); task["status"] != "SUCCEEDED" {
		t.Fatalf("create: %v", task)
	}
	path := "vms/" + text(accepted, "metadata.uuid")
	for _, change := range []func(object) object{
		func(vm object) object { return with(vm, "spec.resources.num_sockets", 2) },
		func(vm object) object {
			return with(with(vm, "spec.resources.power_state", "OFF"), "spec.resources.power_state_mechanism.mechanism", "ACPI")
		},
	} {
		vm := f.do(t, http.MethodGet, path, nil) // with all that newer releases show
		delete(vm, "status")
		if task := f.wait(t, f.do(t, http.MethodPut, path, change(vm))); task["status"] != "SUCCEEDED" {
			t.Fatalf("change: %v", task)
		}
	}
	vm := f.do(t, http.MethodGet, path, nil)
	if text(vm, "status.resources.num_sockets") != "2" || text(vm, "status.resources.power_state") != "OFF" || text(vm, "metadata.spec_version") != "2" ||
		text(vm, "metadata.categories_mapping.Team.0") != "red" {
		t.Errorf("the VM is %v", vm)
	}
	if task := f.wait(t, f.do(t, http.MethodDelete, path, nil)); task["status"] != "SUCCEEDED" {
		t.Errorf("delete: %v", task)
	}
}

// TestRequestsOfTerraform: nutanix_virtual_machine waits for the address, reads the VM, and
// changes it with the metadata that it has read.
func TestRequestsOfTerraform(t *testing.T) {
	f := start(t, func(s *nutanix.Seed) { s.Permissions = []string{"*"} })
	list := f.do(t, http.MethodPost, "subnets/list", object{"filter": "", "kind": "subnet", "length": 100, "offset": 0})
	if text(list, "metadata.total_matches") != "1" {
		t.Errorf("subnets: %v", list["metadata"])
	}
	accepted := f.do(t, http.MethodPost, "vms", object{
		"metadata": object{"kind": "vm", "categories": object{"AppType": "Default"}},
		"spec": object{
			"name": "terraform", "cluster_reference": object{"kind": "cluster", "uuid": clusterID},
			"resources": object{
				"boot_config": object{}, "memory_size_mib": 2048, "num_sockets": 1, "num_vcpus_per_socket": 2, "power_state": "ON", "guest_customization": object{},
				"disk_list": []any{object{"data_source_reference": object{"kind": "image", "uuid": imageID}, "device_properties": object{
					"device_type": "DISK", "disk_address": object{"adapter_type": "SCSI", "device_index": 0},
				}}},
				"nic_list": []any{object{"is_connected": true, "subnet_reference": object{"kind": "subnet", "uuid": subnetID}}},
			},
		},
	})
	f.wait(t, accepted)
	path := "vms/" + text(accepted, "metadata.uuid")
	vm := f.do(t, http.MethodGet, path, nil)
	if text(vm, "status.resources.nic_list.0.ip_endpoint_list.0.ip") != "192.0.2.10" {
		t.Errorf("no address: %v", at(vm, "status.resources.nic_list"))
	}
	metadata := vm["metadata"].(object)
	metadata["categories"] = object{}
	delete(metadata, "categories_mapping")
	change := object{"metadata": metadata, "spec": with(vm, "spec.name", "renamed")["spec"]}
	if task := f.wait(t, f.do(t, http.MethodPut, path, change)); task["status"] != "SUCCEEDED" {
		t.Fatalf("change: %v", task)
	}
	if vm := f.do(t, http.MethodGet, path, nil); text(vm, "spec.name") != "renamed" || text(vm, "metadata.categories") != "map[]" {
		t.Errorf("the VM is %v", vm)
	}
}

// recordedVM is the body of a create call in the recordings of prism-go-client.
const recordedVM = `{"metadata":{"kind":"vm","spec_version":1},"spec":{"cluster_reference":{"kind":"cluster","uuid":"%s"},"description":"test-vm-description","name":"test-vm",
"resources":{"boot_config":{"boot_type":"UEFI"},"disk_list":[{"data_source_reference":{"kind":"image","uuid":"%s"},"disk_size_mib":8192}],"memory_size_mib":1024,
"nic_list":[{"subnet_reference":{"kind":"subnet","uuid":"%s"}}],"num_threads_per_core":1,"num_sockets":1}}}`

// TestRecordedRequestsOfTheSDK: the answers have the fields of the recorded ones.
func TestRecordedRequestsOfTheSDK(t *testing.T) {
	f := start(t)
	accepted := f.do(t, http.MethodPost, "vms", fmt.Sprintf(recordedVM, clusterID, imageID, subnetID))
	f.wait(t, accepted)
	vm := f.do(t, http.MethodGet, "vms/"+text(accepted, "metadata.uuid"), nil)
	for part, fields := range map[string]string{
		"metadata": "kind uuid spec_version categories categories_mapping creation_time last_update_time owner_reference entity_version",
		"spec":     "name description resources cluster_reference",
		"spec.resources": "apc_config num_sockets num_vcpus_per_socket num_threads_per_core memory_size_mib memory_overcommit_enabled gpu_console_enabled is_vcpu_hard_pinned power_state power_state_mechanism hardware_clock_timezone is_agent_vm " +
			"disable_branding enable_cpu_passthrough machine_type hardware_virtualization_enabled vtpm_config disk_list nic_list gpu_list boot_config vga_console_enabled vnuma_config serial_port_list cpu_hotplug_enabled scsi_controller_enabled",
		"status":                        "name description state resources cluster_reference execution_context",
		"status.resources":              "generation_uuid bios_uuid hypervisor_type power_state protection_type",
		"spec.resources.disk_list.0":    "uuid device_properties disk_size_mib disk_size_bytes data_source_reference storage_config",
		"spec.resources.nic_list.0":     "uuid nic_type vlan_mode trunked_vlan_list num_queues mac_address ip_endpoint_list subnet_reference is_connected",
		"status.resources.disk_list.0":  "uuid is_migration_in_progress",
		"spec.resources.boot_config":    "boot_device_order_list boot_type",
		"status.resources.vnuma_config": "num_vnuma_nodes",
		"spec.resources.disk_list.0.storage_config.storage_container_reference": "kind uuid name",
	} {
		o, _ := at(vm, part).(object)
		for field := range strings.FieldsSeq(fields) {
			if _, there := o[field]; !there {
				t.Errorf("%s has no %s", part, field)
			}
		}
	}
	if text(vm, "status.resources.power_state") != "OFF" {
		t.Error("a VM that does not say so is on")
	}
	list := f.do(t, http.MethodPost, "vms/list", object{"filter": "vm_name==test-vm", "sort_attribute": "name", "sort_order": "ASCENDING"})
	if text(list, "metadata.filter") != "vm_name==test-vm" || text(list, "metadata.kind") != "vm" || text(list, "entities.0.status.name") != "test-vm" {
		t.Errorf("list: %v", list)
	}
	central := f.do(t, http.MethodGet, "prism_central", object{"resources": nil})
	if text(central, "resources.version") != "pc.2024.3.0.1" || text(central, "resources.type") != "PC" {
		t.Errorf("Prism Central: %v", central)
	}
}
