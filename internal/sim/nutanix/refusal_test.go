// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

// TestRequestsAreCheckedBeforeTheyAreAccepted: in the words of the validation against the
// description of the API.
func TestRequestsAreCheckedBeforeTheyAreAccepted(t *testing.T) {
	f := start(t)
	disk := func(d object) object { return with(machine("x"), "spec.resources.disk_list", []any{d}) }
	nic := func(n object) object { return with(machine("x"), "spec.resources.nic_list", []any{n}) }
	custom := func(o object) object { return with(machine("x"), "spec.resources.guest_customization", o) }
	long := base64.StdEncoding.EncodeToString(make([]byte, 128000))
	for name, c := range map[string]struct {
		body any
		want string
	}{
		"no JSON":             {"{", "400 INVALID_DATA_FORMAT"},
		"unknown field":       {with(machine("x"), "spec.resources.colour", "red"), `422 INVALID_REQUEST: Request could not be processed. {"spec.resources":["Additional properties are not allowed ('colour' was unexpected)"]}`},
		"no name":             {object{"metadata": object{"kind": "vm"}, "spec": object{"resources": object{}}}, `422 INVALID_REQUEST: Request could not be processed. {"spec":["'name' is a required property"]}`},
		"no metadata":         {object{"spec": object{"name": "x", "resources": object{}}}, `422 INVALID_REQUEST: Request could not be processed. {"":["'metadata' is a required property"]}`},
		"another kind":        {with(machine("x"), "metadata.kind", "image"), `422 INVALID_REQUEST: Request could not be processed. {"metadata.kind":["'image' is not one of ['vm']"]}`},
		"own UUID":            {with(machine("x"), "metadata.uuid", imageID), "422 INVALID_REQUEST: Request could not be processed. {\"metadata.uuid\":"},
		"text for a number":   {with(machine("x"), "spec.resources.num_sockets", "2"), `422 INVALID_REQUEST: Request could not be processed. {"spec.resources.num_sockets":["'2' is not of type 'integer'"]}`},
		"a fraction":          {with(machine("x"), "spec.resources.num_sockets", 1.5), "is not of type 'integer'"},
		"too few":             {with(machine("x"), "spec.resources.memory_size_mib", 0), "0 is less than the minimum of 1"},
		"null":                {with(machine("x"), "spec.description", nil), "None is not of type 'string'"},
		"a long description":  {with(machine("x"), "spec.description", strings.Repeat("x", 1001)), "is too long"},
		"a long name":         {with(machine("x"), "spec.name", strings.Repeat("x", 257)), "is too long"},
		"no UUID":             {with(machine("x"), "spec.cluster_reference.uuid", "0006"), "'0006' does not match"},
		"unknown cluster":     {with(machine("x"), "spec.cluster_reference.uuid", imageID), "cluster : " + imageID + " does not exist."},
		"no list":             {with(machine("x"), "spec.resources.disk_list", object{}), "is not of type 'array'"},
		"no object":           {with(machine("x"), "spec.resources.boot_config", "UEFI"), "'UEFI' is not of type 'object'"},
		"unknown boot":        {with(machine("x"), "spec.resources.boot_config.boot_type", "BIOS"), "'BIOS' is not one of ['UEFI', 'LEGACY', 'SECURE_BOOT']"},
		"secure boot on PC":   {with(machine("x"), "spec.resources.boot_config.boot_type", "SECURE_BOOT"), "Secure boot needs machine type Q35"},
		"other version":       {with(machine("x"), "api_version", "4.0"), "'4.0' is not supported"},
		"no size":             {disk(object{"device_properties": object{"device_type": "DISK"}}), "Either the size or the data source of a disk is required"},
		"two sizes":           {disk(object{"disk_size_mib": 10, "disk_size_bytes": 5 << 20}), "disk_size_mib 10 and disk_size_bytes 5242880 differ"},
		"a volume group":      {disk(object{"device_properties": object{"device_type": "VOLUME_GROUP"}}), "The simulated platform does not have the field"},
		"no index":            {disk(object{"disk_size_mib": 1, "device_properties": object{"disk_address": object{"adapter_type": "SCSI"}}}), "'device_index' is a required property"},
		"no subnet":           {nic(object{"is_connected": true}), "'subnet_reference' is a required property"},
		"no address":          {nic(object{"subnet_reference": object{"kind": "subnet", "uuid": subnetID}, "ip_endpoint_list": []any{object{"ip": "192.0.2"}}}), "'192.0.2' does not match"},
		"no hardware address": {nic(object{"subnet_reference": object{"kind": "subnet", "uuid": subnetID}, "mac_address": "x"}), "'x' does not match"},
		"plain user data":     {custom(object{"cloud_init": object{"user_data": "#cloud-config\n"}}), "The value is not base64 encoded"},
		"no user data":        {custom(object{"cloud_init": object{"meta_data": ""}}), "'user_data' is a required property"},
		"long user data":      {custom(object{"cloud_init": object{"user_data": long}}), "is too long"},
		"sysprep":             {custom(object{"sysprep": object{"unattend_xml": "x"}}), "The simulated platform does not have the field"},
		"unknown category":    {with(machine("x"), "metadata.categories", object{"AppType": "none"}), "422 CATEGORY_NAME_VALUE_MISMATCH: Category AppType with value none does not exist."},
		"unknown project":     {with(machine("x"), "metadata.project_reference", object{"kind": "project", "uuid": imageID}), "project : " + imageID + " does not exist."},
		"another owner":       {with(machine("x"), "metadata.owner_reference", object{"kind": "user", "uuid": imageID}), "422 INVALID_OWNER_REFERENCE"},
		"a GPU":               {with(machine("x"), "spec.resources.gpu_list", []any{object{"vendor": "NVIDIA"}}), "The simulated platform does not have the field 'spec.resources.gpu_list'"},
	} {
		if got := f.call(t, http.MethodPost, "vms", c.body).reason(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := f.names(t); len(got) != 0 {
		t.Errorf("there are VMs: %v", got)
	}
}

func TestReadsAreChecked(t *testing.T) {
	f := start(t)
	for name, c := range map[string]struct {
		method, path string
		body         any
		want         string
	}{
		"unknown path":      {http.MethodGet, "things", nil, "404 {\"message\":\"The requested URL was not found on the server."},
		"unknown method":    {http.MethodPatch, "vms/" + imageID, object{}, "404 "},
		"unknown VM":        {http.MethodGet, "vms/" + imageID, nil, "404 ENTITY_NOT_FOUND: vm : " + imageID + " does not exist."},
		"no UUID":           {http.MethodGet, "vms/web", nil, "422 INVALID_REQUEST"},
		"unknown task":      {http.MethodGet, "tasks/" + imageID, nil, "404 ENTITY_NOT_FOUND: task : "},
		"another kind":      {http.MethodPost, "vms/list", object{"kind": "image"}, `422 INVALID_REQUEST: Request could not be processed. {"kind":["'image' is not one of ['vm']"]}`},
		"long page":         {http.MethodPost, "vms/list", object{"length": 501}, "501 is greater than the maximum of 500"},
		"empty page":        {http.MethodPost, "vms/list", object{"length": 0}, "0 is less than the minimum of 1"},
		"negative":          {http.MethodPost, "vms/list", object{"offset": -1}, "-1 is less than the minimum of 0"},
		"wrong order":       {http.MethodPost, "vms/list", object{"sort_order": "UP"}, "'UP' is not one of"},
		"wrong attribute":   {http.MethodPost, "vms/list", object{"sort_attribute": "colour"}, "Sorting by 'colour' is not supported"},
		"no filter":         {http.MethodPost, "vms/list", object{"filter": "name"}, "Invalid filter expression: 'name'"},
		"name of a VM":      {http.MethodPost, "vms/list", object{"filter": "name==a"}, "Filtering by attribute 'name' is not supported for kind 'vm'"},
		"no body":           {http.MethodPost, "vms/list", "", "400 INVALID_DATA_FORMAT"},
		"unknown group":     {http.MethodPost, "groups", object{"entity_type": "colour"}, "422 INVALID_REQUEST: The simulated platform has no entities of type colour"},
		"no group":          {http.MethodPost, "groups", object{}, "'entity_type' is a required property"},
		"delete of no VM":   {http.MethodDelete, "vms/" + imageID, nil, "404 ENTITY_NOT_FOUND"},
		"change of no VM":   {http.MethodPut, "vms/" + imageID, machine("x"), "404 ENTITY_NOT_FOUND"},
		"unknown category":  {http.MethodGet, "categories/none", nil, "404 ENTITY_NOT_FOUND: category : none does not exist."},
		"unknown value":     {http.MethodGet, "categories/AppType/none", nil, "404 CATEGORY_NAME_VALUE_MISMATCH"},
		"value of no key":   {http.MethodPut, "categories/none/x", object{"value": "x"}, "404 ENTITY_NOT_FOUND"},
		"other name":        {http.MethodPut, "categories/a", object{"name": "b"}, "422 ENTITY_NAME_UUID_MISMATCH"},
		"long category":     {http.MethodPut, "categories/" + strings.Repeat("k", 65), object{"name": strings.Repeat("k", 65)}, "is too long"},
		"system category":   {http.MethodDelete, "categories/AppType", nil, "403 ENTITY_IS_READONLY"},
		"other media":       {http.MethodPost, "vms", nil, "400 INVALID_DATA_FORMAT"},
		"delete of no path": {http.MethodDelete, "vms", nil, "404 "},
	} {
		if got := f.call(t, c.method, c.path, c.body).reason(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestTasksFailLate: what the cluster finds out. Nothing is created, and the intent is read
// by its UUID in state ERROR.
func TestTasksFailLate(t *testing.T) {
	f := start(t)
	other := "0e09cf83-ac68-4f28-af70-6df9a43df4f0"
	for name, c := range map[string]struct {
		vm   object
		want string
	}{
		"unknown image":          {with(machine("x"), "spec.resources.disk_list", []any{object{"data_source_reference": object{"kind": "image", "uuid": other}}}), "INVALID_ARGUMENT: Given input is invalid. Image " + other + " does not exist."},
		"small disk":             {with(machine("x"), "spec.resources.disk_list", []any{object{"data_source_reference": object{"kind": "image", "uuid": imageID}, "disk_size_mib": 100}}), "is less than that of image"},
		"unknown subnet":         {with(machine("x"), "spec.resources.nic_list", []any{object{"subnet_reference": object{"kind": "subnet", "uuid": other}}}), "Subnet " + other + " does not exist."},
		"unknown container":      {with(machine("x"), "spec.resources.disk_list", []any{object{"disk_size_mib": 1, "storage_config": object{"storage_container_reference": object{"kind": "storage_container", "uuid": other}}}}), "Storage container " + other + " does not exist"},
		"foreign address":        {with(machine("x"), "spec.resources.nic_list", []any{object{"subnet_reference": object{"kind": "subnet", "uuid": subnetID}, "ip_endpoint_list": []any{object{"ip": "198.51.100.7"}}}}), "IP address 198.51.100.7 is not in subnet"},
		"address of the gateway": {with(machine("x"), "spec.resources.nic_list", []any{object{"subnet_reference": object{"kind": "subnet", "uuid": subnetID}, "ip_endpoint_list": []any{object{"ip": "192.0.2.1"}}}}), "IP address 192.0.2.1 is not in subnet"},
		"broadcast address":      {with(machine("x"), "spec.resources.nic_list", []any{object{"subnet_reference": object{"kind": "subnet", "uuid": subnetID}, "ip_endpoint_list": []any{object{"ip": "192.0.2.255"}}}}), "IP address 192.0.2.255 is not in subnet"},
	} {
		accepted := f.do(t, http.MethodPost, "vms", c.vm)
		task := f.wait(t, accepted)
		if task["status"] != "FAILED" || !strings.Contains(text(task, "error_detail"), c.want) {
			t.Errorf("%s: %v", name, task)
		}
		path := "vms/" + text(accepted, "metadata.uuid")
		vm := f.do(t, http.MethodGet, path, nil)
		if text(vm, "status.state") != "ERROR" || text(vm, "status.message_list.0.reason") != "INVALID_ARGUMENT" {
			t.Errorf("%s: %v", name, vm["status"])
		}
		if got := f.names(t); len(got) != 0 {
			t.Errorf("%s: listed: %v", name, got)
		}
		if task := f.wait(t, f.do(t, http.MethodDelete, path, nil)); task["status"] != "SUCCEEDED" {
			t.Errorf("%s: delete: %v", name, task)
		}
	}
}

// TestAVMWithoutAHostIsCreatedAndOff: as the platform does it, in two steps.
func TestAVMWithoutAHostIsCreatedAndOff(t *testing.T) {
	f := start(t)
	accepted := f.do(t, http.MethodPost, "vms", with(machine("x"), "spec.resources.memory_size_mib", 4<<20))
	if task := f.wait(t, accepted); !strings.HasPrefix(text(task, "error_detail"), "RESOURCE_SHORTAGE: InsufficientResources: ") {
		t.Errorf("task: %v", task)
	}
	vm := f.do(t, http.MethodGet, "vms/"+text(accepted, "metadata.uuid"), nil)
	if text(vm, "status.state") != "ERROR" || text(vm, "status.resources.power_state") != "OFF" || len(f.names(t)) != 1 {
		t.Errorf("the VM is %v", vm["status"])
	}
}

func TestAChangeIsRefusedWhileAnotherIsCarriedOut(t *testing.T) {
	f := start(t)
	vm := f.create(t, machine("a"))
	path := "vms/" + text(vm, "metadata.uuid")
	for name, c := range map[string]struct {
		change object
		want   string
	}{
		"another cluster": {with(vm, "spec.cluster_reference.uuid", imageID), "cluster : " + imageID + " does not exist."},
		"no interface":    {with(vm, "spec.resources.nic_list", []any{}), "The simulated platform does not have the field 'spec.resources.nic_list'"},
		"user data":       {with(vm, "spec.resources.guest_customization", object{"cloud_init": object{"user_data": "eA=="}}), "Guest customization can be set only when a VM is created"},
		"another UUID":    {with(vm, "metadata.uuid", imageID), "422 ENTITY_NAME_UUID_MISMATCH"},
	} {
		if got := f.call(t, http.MethodPut, path, object{"metadata": c.change["metadata"], "spec": c.change["spec"]}).reason(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	shrunk := with(vm, "spec.resources.memory_size_mib", 1024)
	if task := f.wait(t, f.do(t, http.MethodPut, path, object{"metadata": vm["metadata"], "spec": shrunk["spec"]})); !strings.Contains(text(task, "error_detail"), "The VM must be powered off") {
		t.Errorf("less memory: %v", task)
	}
}
