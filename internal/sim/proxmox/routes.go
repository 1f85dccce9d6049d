// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// The parameters of calls, in the words of parseSchema.
const (
	atNode    = "node! node\n"
	atGuest   = atNode + "vmid! guest-id\n"
	atStorage = atNode + "storage! storage-id\n"

	locking     = "skiplock boolean\n"
	digestParam = "digest string max=40\n"

	ticketParams = "username! string max=64\nrealm string\npassword! string\notp string\npath string max=64 needs=privs\nprivs string max=64 needs=path\nnew-format boolean\ntfa-challenge string\n"

	taskFilter = "start integer:0..\nlimit integer:0..\nuserfilter string\ntypefilter string\nvmid guest-id\nerrors boolean\nsource enum:archive|active|all\nsince integer\nuntil integer\nstatusfilter status-type-list\n"

	cloneParams = atGuest + `newid! guest-id
name dns-name
description string
pool poolid
snapname configid
storage storage-id
format enum:raw|qcow2|vmdk
full boolean
target node
bwlimit integer:0..
`
	updateParams = atGuest + locking + digestParam + `delete configid-list
revert configid-list
force boolean needs=delete
`
	createParams = atGuest + `archive string max=255
storage storage-id
force boolean needs=archive
unique boolean needs=archive
live-restore boolean
pool poolid
bwlimit integer:0..
start boolean
ha-managed boolean
import-working-storage storage-id
`
	startParams = atGuest + locking + `stateuri string max=128
migratedfrom node
migration_type enum:secure|insecure
migration_network string
machine machine-type
force-cpu string
targetstorage string
timeout integer:0..
with-conntrack-state boolean
nets-host-mtu string
`
	migrateParams = atGuest + `target! node
online boolean
force boolean
migration_type enum:secure|insecure
migration_network string
with-local-disks boolean
targetstorage string
bwlimit integer:0..
with-conntrack-state boolean
`
	uploadParams = atStorage + `content! content-type enum:iso|vztmpl|import
filename! string max=255
checksum string needs=checksum-algorithm
checksum-algorithm enum:md5|sha1|sha224|sha256|sha384|sha512 needs=checksum
tmpfilename re:/var/tmp/pveupload-[0-9a-f]+
`
)

// on needs a privilege on a path, in which names in braces are parameters.
func on(path string, privileges ...string) allow {
	return func(c *call) error { return c.need(c.expand(path), privileges...) }
}

// anyOn needs one of some privileges on a path.
func anyOn(path string, privileges ...string) allow {
	return func(c *call) error { return c.needAny(c.expand(path), privileges...) }
}

func (c *call) expand(path string) string {
	for name, value := range c.params {
		path = strings.ReplaceAll(path, "{"+name+"}", value)
	}
	return path
}

// configures needs any of the privileges to change a configuration: which one depends on
// the options.
func configures(c *call) error {
	return c.needAny("/vms/"+c.params["vmid"], "VM.Config.Disk", "VM.Config.CDROM", "VM.Config.CPU", "VM.Config.Memory", "VM.Config.Network", "VM.Config.HWType",
		"VM.Config.Options", "VM.Config.Cloudinit")
}

// Paths of VMs, storages and tasks.
const (
	guestPath   = "/nodes/{node}/qemu/{vmid}"
	storagePath = "/nodes/{node}/storage/{storage}"
	tasksPath   = "/nodes/{node}/tasks"
)

// routes are all calls that the API has.
func routes() []route {
	out := slices.Concat(clusterRoutes(), guestRoutes(), storageRoutes())
	ticket := newRoute("POST", fault.Get, "", "/access/ticket", ticketParams, nil, createTicket)
	ticket.public = true
	out = append(out, ticket)
	for i := range out {
		t := &out[i]
		t.upload = t.words[len(t.words)-1] == "upload"
		t.proxied = t.words[0] == "nodes" && !t.upload
		if path := strings.Join(t.words, "/"); t.method != "GET" && (strings.HasSuffix(path, "{vmid}/config") || strings.HasSuffix(path, "{node}/qemu")) {
			t.params = t.params.with(settingSchema())
		}
	}
	return out
}

func clusterRoutes() []route {
	return []route{
		get("", "/version", "", nil, getVersion),
		get("", "/access/permissions", "userid string\npath string\n", nil, getPermissions),
		list(fault.Machine, "/cluster/resources", "type enum:vm|storage|node|sdn\n", nil, listResources),
		get("", "/cluster/nextid", "vmid guest-id\n", nil, nextID),
		get("", "/cluster/status", "", on("/", "Sys.Audit"), clusterStatus),
		list("", "/cluster/tasks", "", nil, listClusterTasks),
		list("", "/nodes", "", nil, listNodes),
		get("", "/nodes/{node}/status", atNode, on("/nodes/{node}", "Sys.Audit"), nodeStatus),
		get("", "/nodes/{node}/version", atNode, nil, getVersion),
		list("", "/nodes/{node}/certificates/info", atNode, nil, listCertificates),
		list(fault.Network, "/nodes/{node}/network", atNode+"type enum:"+networkTypes+"\n", nil, listNetworks),
		list("", tasksPath, atNode+taskFilter, nil, listTasks),
		get("", tasksPath+"/{upid}/status", atNode+"upid! string\n", nil, getTaskStatus),
		get("", tasksPath+"/{upid}/log", atNode+"upid! string\nstart integer:0..\nlimit integer:0..\ndownload boolean\n", nil, getTaskLog),
		newRoute("DELETE", fault.Update, "", tasksPath+"/{upid}", atNode+"upid! string\n", nil, stopTask),
	}
}

const networkTypes = "bridge|bond|eth|alias|vlan|fabric|OVSBridge|OVSBond|OVSPort|OVSIntPort|vnet|any_bridge|any_local_bridge|include_sdn"

func guestRoutes() []route {
	audit, power := on("/vms/{vmid}", "VM.Audit"), on("/vms/{vmid}", "VM.PowerMgmt")
	agent := anyOn("/vms/{vmid}", "VM.GuestAgent.Audit", "VM.GuestAgent.Unrestricted")
	return []route{
		list(fault.Machine, "/nodes/{node}/qemu", atNode+"full boolean\n", nil, listGuests),
		create(fault.Machine, "/nodes/{node}/qemu", createParams, nil, createGuest),
		get(fault.Machine, guestPath+"/status/current", atGuest, audit, currentStatus),
		get(fault.Machine, guestPath+"/config", atGuest+"current boolean\nsnapshot configid\n", audit, getConfig),
		get(fault.Machine, guestPath+"/pending", atGuest, audit, getPending),
		get(fault.Machine, guestPath+"/feature", atGuest+"feature! enum:snapshot|clone|copy\nsnapname configid\n", audit, hasFeature),
		change("PUT", "/config", updateParams, configures, updateConfig),
		change("POST", "/config", updateParams+"background_delay integer:1..30\nimport-working-storage storage-id\n", configures, updateConfigLater),
		change("PUT", "/resize", atGuest+locking+digestParam+"disk! string\nsize! re:\\+?\\d+(\\.\\d+)?[KMGT]?\n", on("/vms/{vmid}", "VM.Config.Disk"), resizeDisk),
		create(fault.Machine, guestPath+"/clone", cloneParams, allowClone, cloneGuest),
		change("POST", "/template", atGuest+"disk string\n", on("/vms/{vmid}", "VM.Allocate"), makeTemplate),
		change("POST", "/migrate", migrateParams, on("/vms/{vmid}", "VM.Migrate"), migrateGuest),
		change("POST", "/status/start", startParams, power, startGuest),
		change("POST", "/status/stop", atGuest+locking+"migratedfrom node\ntimeout integer:0..\nkeepActive boolean\noverrule-shutdown boolean\n", power, stopGuest),
		change("POST", "/status/shutdown", atGuest+locking+"timeout integer:0..\nforceStop boolean\nkeepActive boolean\n", power, shutdownGuest),
		change("POST", "/status/reboot", atGuest+"timeout integer:0..\n", power, rebootGuest),
		get(fault.Machine, guestPath+"/agent/network-get-interfaces", atGuest, agent, getInterfaces),
		remove(fault.Machine, guestPath, atGuest+locking+"purge boolean\ndestroy-unreferenced-disks boolean\n", on("/vms/{vmid}", "VM.Allocate"), destroyGuest),
	}
}

func storageRoutes() []route {
	return []route{
		list(fault.Storage, "/storage", "type string\n", nil, listStorages),
		get(fault.Storage, "/storage/{storage}", "storage! storage-id\n", on("/storage/{storage}", "Datastore.Allocate"), getStorage),
		list(fault.Storage, "/nodes/{node}/storage", atNode+"storage storage-id\ncontent content-list\nenabled boolean\ntarget node\nformat boolean\n", nil, listNodeStorages),
		get(fault.Storage, storagePath+"/status", atStorage, seesStorage, getStorageStatus),
		list(fault.Disk, storagePath+"/content", atStorage+"content content-type\nvmid guest-id\n", seesStorage, listVolumes),
		create(fault.Disk, storagePath+"/content", atStorage+"filename! string\nvmid! guest-id\nsize! re:\\d+[MG]?\nformat enum:raw|qcow2|vmdk\n", on("/storage/{storage}", "Datastore.AllocateSpace"), allocVolume),
		get(fault.Disk, storagePath+"/content/{volume}", atStorage+"volume! string\n", nil, getVolume),
		remove(fault.Disk, storagePath+"/content/{volume}", atStorage+"volume! string\ndelay integer:1..30\n", nil, removeVolume),
		create(fault.Disk, storagePath+"/upload", uploadParams, on("/storage/{storage}", "Datastore.AllocateTemplate"), uploadFile),
	}
}

// allow refuses callers; carry carries a call out.
type (
	allow func(*call) error
	carry func(*call) (any, error)
)

func get(resource fault.Resource, path, params string, may allow, handle carry) route {
	return newRoute("GET", fault.Get, resource, path, params, may, handle)
}

func list(resource fault.Resource, path, params string, may allow, handle carry) route {
	return newRoute("GET", fault.List, resource, path, params, may, handle)
}

func create(resource fault.Resource, path, params string, may allow, handle carry) route {
	return newRoute("POST", fault.Create, resource, path, params, may, handle)
}

func remove(resource fault.Resource, path, params string, may allow, handle carry) route {
	return newRoute("DELETE", fault.Delete, resource, path, params, may, handle)
}

// change is a call that changes a VM.
func change(method, path, params string, may allow, handle carry) route {
	return newRoute(method, fault.Update, fault.Machine, guestPath+path, params, may, handle)
}

func newRoute(method string, verb fault.Verb, resource fault.Resource, path, params string, may allow, handle carry) route {
	return route{method: method, words: strings.Split(strings.Trim(path, "/"), "/"), verb: verb, resource: resource, params: parseSchema(params), allow: may, handle: handle}
}
