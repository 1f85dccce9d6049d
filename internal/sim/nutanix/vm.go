// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// applyCreate creates a VM on its cluster, and powers it on if that is wanted. What could
// not be created stays as an intent in state ERROR.
func (p *Prism) applyCreate(t task) error {
	p.Lock()
	defer p.Unlock()
	e := p.st.get(kindVM, t.UUID)
	if e == nil {
		return failure("ENTITY_NOT_FOUND", "VM %s does not exist.", t.UUID)
	}
	if !e.Exists {
		if err := p.place(e); err != nil {
			return p.settle(e, err)
		}
	}
	return p.settle(e, p.bringPower(e))
}

// place creates a VM that is off.
func (p *Prism) place(e *entity) error {
	if p.Options.Faults.FailsAtStart(e.name()) {
		return failure("INTERNAL_ERROR", "Internal Server Error. Failed to create the VM on its cluster.")
	}
	if err := p.complete(e); err != nil {
		return err
	}
	e.Exists, e.Visible, e.Updated = true, time.Now().Add(p.lag()), time.Now()
	p.st.put(e)
	p.auditVM(e)
	return nil
}

// lag is how long a new VM is not listed.
func (p *Prism) lag() time.Duration { return max(p.Options.Create/2, p.seed.Lag.Duration) }

// settle records how a task on an entity has ended, and returns its error.
func (p *Prism) settle(e *entity, err error) error {
	e.State, e.Messages = stateComplete, nil
	if err != nil {
		var f *datacenter.OperationError
		if !errors.As(err, &f) {
			f = &datacenter.OperationError{Code: "INTERNAL_ERROR", Message: err.Error()}
		}
		e.State, e.Messages = stateError, []any{object{"reason": f.Code, "message": f.Message, "details": object{}}}
	}
	p.st.put(e)
	if e.Kind == kindVM && e.Exists {
		p.auditVM(e)
	}
	return err
}

// complete adds to the spec of a VM what the platform decides.
func (p *Prism) complete(e *entity) error {
	cluster := e.Spec.sub("cluster_reference")
	cluster["name"] = p.nameOf(kindCluster, cluster.str("uuid"))
	r := e.resources()
	r.fill(object{
		"num_sockets": 1, "num_vcpus_per_socket": 1, "num_threads_per_core": 1, "power_state": "OFF", "hardware_clock_timezone": "UTC", "machine_type": "PC",
		"is_agent_vm": false, "memory_overcommit_enabled": false, "is_vcpu_hard_pinned": false, "disable_branding": false, "enable_cpu_passthrough": false,
		"hardware_virtualization_enabled": false, "vga_console_enabled": true, "gpu_console_enabled": false, "vnuma_config": object{"num_vnuma_nodes": 0},
		"vtpm_config": object{"vtpm_enabled": false}, "apc_config": object{"enabled": false}, "gpu_list": []any{}, "serial_port_list": []any{},
		"power_state_mechanism": object{"mechanism": "HARD", "guest_transition_config": object{"enable_script_exec": false, "should_fail_on_script_failure": false}},
		"boot_config":           object{}, "disk_list": []any{}, "nic_list": []any{}, "cpu_hotplug_enabled": true, "scsi_controller_enabled": true,
	})
	r.sub("boot_config").fill(object{"boot_type": "LEGACY", "boot_device_order_list": []any{"CDROM", "DISK", "NETWORK"}})
	if err := p.completeDisks(e, cluster.str("uuid")); err != nil {
		return err
	}
	return p.completeNICs(e)
}

func (p *Prism) completeNICs(e *entity) error {
	for i, n := range e.resources().subs("nic_list") {
		subnet := p.st.get(kindSubnet, n.sub("subnet_reference").str("uuid"))
		if subnet == nil {
			return failure("INVALID_ARGUMENT", "Given input is invalid. Subnet %s does not exist.", n.sub("subnet_reference").str("uuid"))
		}
		if in := subnet.Spec.sub("cluster_reference").str("uuid"); in != e.Spec.sub("cluster_reference").str("uuid") {
			return failure("INVALID_ARGUMENT", "Given input is invalid. Subnet %s is not on the cluster of the VM.", subnet.UUID)
		}
		n["subnet_reference"] = reference(kindSubnet, subnet.UUID, subnet.name())
		id := newUUID()
		n.fill(object{
			"uuid": id, "nic_type": "NORMAL_NIC", "vlan_mode": "ACCESS", "trunked_vlan_list": []any{}, "num_queues": 1, "is_connected": true,
			"mac_address": mac(id), "ip_endpoint_list": []any{},
		})
		if i > 0 {
			continue // the simulated network has one interface for each machine
		}
		if err := p.assign(e, n, subnet); err != nil {
			return err
		}
	}
	return nil
}

// mac is an address of the range of Nutanix.
func mac(id string) string {
	raw, _ := uuid.Parse(id) // was created as one
	return fmt.Sprintf("50:6b:8d:%02x:%02x:%02x", raw[13], raw[14], raw[15])
}

// assign gives an interface its address, on a subnet whose addresses the platform manages.
func (p *Prism) assign(e *entity, n object, subnet *entity) error {
	asked := ""
	for _, one := range n.subs("ip_endpoint_list") {
		asked = one.str("ip")
	}
	config := subnet.resources().sub("ip_config")
	switch {
	case len(config) == 0 && asked != "":
		return failure("INVALID_ARGUMENT", "Given input is invalid. IP address %s cannot be assigned on subnet %s, which is not managed.", asked, subnet.name())
	case len(config) == 0 || !p.Hosts:
		return nil
	case asked != "":
		return p.checkAddress(e, asked, subnet)
	}
	if len(config.subs("pool_list")) == 0 {
		return failure("INVALID_ARGUMENT", "Cannot allocate address! No DHCP pool is defined or the DHCP pool is exhausted.")
	}
	address, err := p.Options.Datacenter.Lease(e.UUID, subnet.UUID)
	if errors.Is(err, datacenter.ErrExhausted) {
		return failure("RESOURCE_SHORTAGE", "No free IP address is available in subnet %s.", subnet.name())
	}
	if err != nil {
		return err
	}
	n["ip_endpoint_list"] = []any{object{"type": "ASSIGNED", "ip": address.String()}}
	return nil
}

// checkAddress refuses an address that is not in the subnet, or belongs to another VM.
func (p *Prism) checkAddress(e *entity, asked string, subnet *entity) error {
	address, err := netip.ParseAddr(asked)
	prefix := subnet.prefix()
	if err != nil || !prefix.Contains(address) || isReserved(subnet, address) {
		return failure("INVALID_ARGUMENT", "Given input is invalid. IP address %s is not in subnet %s, or not one of a VM.", asked, subnet.name())
	}
	for _, other := range p.st.all(kindVM) {
		for _, n := range other.resources().subs("nic_list") {
			for _, one := range n.subs("ip_endpoint_list") {
				if other.UUID != e.UUID && one.str("ip") == asked {
					return failure("INVALID_ARGUMENT", "Given input is invalid. IP address %s is in use.", asked)
				}
			}
		}
	}
	n := e.resources().subs("nic_list")[0]
	n["ip_endpoint_list"] = []any{object{"type": "ASSIGNED", "ip": asked}}
	return nil
}

// isReserved reports whether an address of a subnet is its own, that of all, or the gateway's.
func isReserved(subnet *entity, a netip.Addr) bool {
	prefix := subnet.prefix()
	gateway := subnet.resources().sub("ip_config").str("default_gateway_ip")
	return a == prefix.Addr() || !prefix.Contains(a.Next()) || a.String() == gateway
}

// vmStatus returns the resources in the status of a VM.
func (p *Prism) vmStatus(e *entity) object {
	out := e.resources().copied()
	if !e.Exists {
		return out
	}
	out.fill(object{
		"generation_uuid": uuid.NewSHA1(uuid.NameSpaceOID, []byte(e.UUID)).String(), "bios_uuid": e.UUID, "hypervisor_type": "AHV", "protection_type": "UNPROTECTED",
	})
	out["power_state"] = "OFF"
	for _, d := range out.subs("disk_list") {
		d["is_migration_in_progress"] = false
	}
	if !e.On {
		return out
	}
	out["power_state"], out["host_reference"] = "ON", e.Status["host_reference"]
	p.learned(e, out)
	return out
}

// learned adds the addresses that the platform sees in the traffic of a guest: all on a
// subnet that it does not manage, and further ones of the guest.
func (p *Prism) learned(e *entity, out object) {
	m, on := p.Options.Datacenter.Running(e.UUID)
	nics := out.subs("nic_list")
	if !on || len(nics) == 0 || !m.Address.IsValid() {
		return
	}
	list := nics[0]["ip_endpoint_list"].([]any)
	if len(list) == 0 {
		list = append(list, object{"type": "LEARNED", "ip": m.Address.Addr().String()})
	}
	for _, shared := range m.Others() {
		list = append(list, object{"type": "LEARNED", "ip": shared.String()})
	}
	nics[0]["ip_endpoint_list"] = list
}

// deleteVM begins to delete a VM.
func deleteVM(c *call) (any, error) {
	e := c.st.get(kindVM, c.params[0])
	switch {
	case e == nil:
		return nil, notFound(kindVM, c.params[0])
	case c.pending(e) && !e.Deleting:
		return nil, editConflict(kindVM)
	}
	e.Deleting = true
	return c.acceptDelete(e, taskDelete)
}

func (c *call) acceptDelete(e *entity, operation string) (any, error) {
	id, err := c.begin(operation, e, nil)
	if err != nil {
		return nil, err
	}
	e.Tasks = append(e.Tasks, id)
	c.st.put(e)
	if e.Kind == kindVM && e.Exists {
		c.auditVM(e)
	}
	return deletion(e.Kind, id), nil
}

// deletion is the answer to a call that deletes.
func deletion(kind, id string) object {
	return object{
		"api_version": apiVersion, "metadata": object{"kind": kind, "categories": object{}}, "spec": "",
		"status": object{"state": stateDeleting, "execution_context": object{"task_uuid": id}},
	}
}

// applyDelete ends the machine of a VM, and then the VM.
func (p *Prism) applyDelete(t task) error {
	p.Lock()
	e := p.st.get(kindVM, t.UUID)
	p.Unlock()
	if e == nil {
		return failure("ENTITY_NOT_FOUND", "vm : %s does not exist.", t.UUID)
	}
	if p.Hosts && !e.Copy {
		if err := p.Options.Datacenter.Remove(e.UUID); err != nil {
			return err
		}
	}
	p.Lock()
	defer p.Unlock()
	p.drop(e)
	return nil
}

func (p *Prism) drop(e *entity) {
	p.st.remove(e)
	p.auditGone(e)
	p.auditCategoriesOf(e)
}
