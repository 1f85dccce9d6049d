// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

func vmLinks(_ *call, r *record) (out []link) {
	p := r.object.(*vm).Properties
	for _, n := range p.NetworkProfile.NetworkInterfaces {
		out = append(out, link{nicKind + "/join/action", n.ID})
	}
	if i := p.StorageProfile.ImageReference; i != nil && i.ID != "" {
		id, _ := parseID(i.ID)
		out = append(out, link{id.kind() + "/read", i.ID})
	}
	for _, d := range p.disks() {
		out = append(out, link{diskKind + "/write", d.ManagedDisk.ID})
	}
	return out
}

// disks are all disks of a machine, that of the system first.
func (p *vmProperties) disks() []vmDisk {
	return append([]vmDisk{*p.StorageProfile.OSDisk}, p.StorageProfile.DataDisks...)
}

// applyVM creates the disks of a machine and attaches its parts.
func applyVM(c *call, r, before *record) error {
	v := r.object.(*vm)
	if before == nil {
		r.Machine, r.Power = v.Properties.VMID, ""
	}
	attached := map[string]bool{}
	for i, d := range v.Properties.disks() {
		attached[keyOf(d.ManagedDisk.ID)] = true
		c.attach(v, d, i == 0)
	}
	each(c.st, func(held *record, d *disk) {
		if keyOf(d.ManagedBy) == keyOf(v.ID) && !attached[keyOf(d.ID)] {
			c.detach(held)
		}
	})
	nr, n := find[nic](c.st, v.Properties.NetworkProfile.NetworkInterfaces[0].ID)
	n.Properties.VirtualMachine, n.Properties.Primary, n.Properties.MACAddress = &ref{v.ID}, true, macAddress(n.ID)
	c.st.put(nr)
	c.st.put(r)
	c.associate(n)
	return c.applyAll()
}

// attach attaches a disk to a machine, and creates it where it does not exist.
func (c *call) attach(v *vm, d vmDisk, system bool) {
	r, there := find[disk](c.st, d.ManagedDisk.ID)
	if r == nil {
		there = &disk{head: head{
			ID: d.ManagedDisk.ID, Name: d.Name, Type: diskKind, Location: c.seed.Location, Tags: maps.Clone(v.Tags), Zones: v.Zones,
			SKU: &sku{Name: d.ManagedDisk.StorageAccountType},
		}}
		there.Properties = diskProperties{DiskSizeGB: d.DiskSizeGB, CreationData: creationData{CreateOption: d.CreateOption}}
		if system {
			there.Properties.OSType, there.Properties.HyperVGeneration = "Linux", "V2"
		}
		completeDisk(there, c.now)
		r = &record{object: there, hidden: hidden{Created: c.now, Visible: c.now.Add(c.lag())}}
	}
	there.ManagedBy, there.Properties.DiskState, there.Properties.ProvisioningState = v.ID, "Attached", succeeded
	c.st.put(r)
	c.auditResource(r)
}

func (a *Azure) detach(r *record) {
	d := r.object.(*disk)
	d.ManagedBy, d.Properties.DiskState = "", "Unattached"
	a.st.put(r)
}

// finishVM ends the creation of a machine, or its change.
func finishVM(a *Azure, r *record, o *operation) {
	if *r.state() == deleting {
		a.end(o, &failure{"OperationPreempted", "The operation has been preempted by a more recent operation."})
		return
	}
	if *r.state() == updating {
		a.settle(r)
		a.end(o, nil)
		return
	}
	if f := a.allocate(r); f != nil {
		a.failVM(r, f)
		a.end(o, f)
		return
	}
	a.boot(r)
	if *r.state() == failed {
		a.end(o, &failure{r.Code, r.Message})
		return
	}
	a.settle(r)
	a.end(o, nil)
}

// allocate reports why no host has room for a machine.
func (a *Azure) allocate(r *record) *failure {
	v := r.object.(*vm)
	_, full := a.Options.Faults.WithoutCapacity(v.Name)
	full = full || !a.Hosts || a.seed.FullLocation || slices.ContainsFunc(v.Zones, func(z string) bool { return slices.Contains(a.seed.FullZones, z) })
	switch {
	case !full:
		return nil
	case len(v.Zones) > 0:
		return &failure{"ZonalAllocationFailed", "Allocation failed. We do not have sufficient capacity for the requested VM size in this zone. Read more about improving likelihood of allocation success at http://aka.ms/allocation-guidance"}
	}
	return &failure{"AllocationFailed", "Allocation failed. We do not have sufficient capacity for the requested VM size in this region. Read more about improving likelihood of allocation success at http://aka.ms/allocation-guidance"}
}

func (a *Azure) failVM(r *record, f *failure) {
	*r.state(), r.Code, r.Message = failed, f.Code, f.Message
	a.st.put(r)
}

// boot powers the machine on.
func (a *Azure) boot(r *record) {
	if err := a.powerOn(r); err != nil {
		a.Options.Log.Error("power on a virtual machine", "machine", r.top().Name, "err", err)
		a.failVM(r, &failure{"InternalExecutionError", "An internal execution error occurred. Please retry later."})
		return
	}
	r.Power, r.Code, r.Message = powerRunning, "", ""
	a.st.put(r)
	a.Started(a.machine(r))
}

func (a *Azure) powerOn(r *record) error {
	v := r.object.(*vm)
	_, n := find[nic](a.st, v.Properties.NetworkProfile.NetworkInterfaces[0].ID)
	if n == nil {
		return fmt.Errorf("machine %s has no interface", v.Name)
	}
	ip := n.Properties.IPConfigurations[0].Properties
	address, err := netip.ParseAddr(ip.PrivateIPAddress)
	if err != nil {
		return err
	}
	s, _ := a.sizeNamed(v.Properties.HardwareProfile.VMSize)
	zone := ""
	if len(v.Zones) > 0 {
		zone = a.seed.Location + "-" + v.Zones[0]
	}
	_, err = a.Options.Datacenter.PowerOn(datacenter.Spec{
		ID: r.Machine, Name: v.Name, Ref: v.ID, Instance: r.Machine, MAC: strings.ToLower(strings.ReplaceAll(n.Properties.MACAddress, "-", ":")),
		Network: subnetID(ip.Subnet.ID), Zone: zone, Address: address, CPU: s.cpus, MemoryMB: s.memoryMB, Image: v.Properties.StorageProfile.ImageReference.name(),
		UserData: r.CustomData, Disks: a.guestDisks(v, s), Metadata: a.metadata(v),
	})
	return err
}

// removeVM deletes a machine, and then the parts that say so.
func (a *Azure) removeVM(r *record, o *operation) {
	a.Remove(r.Machine, a.Options.Create, func() {
		if a.st.exists(r) {
			a.endVM(r)
		}
		if o != nil {
			a.end(o, nil)
		}
	})
}

func (a *Azure) endVM(r *record) {
	v := r.object.(*vm)
	a.st.remove(r)
	a.auditGone(r)
	for _, d := range v.Properties.disks() {
		if held, there := find[disk](a.st, d.ManagedDisk.ID); held != nil && keyOf(there.ManagedBy) == keyOf(v.ID) {
			a.detach(held)
			if d.DeleteOption == "Delete" {
				a.drop(a.kinds[strings.ToLower(diskKind)], held)
			}
		}
	}
	for _, to := range v.Properties.NetworkProfile.NetworkInterfaces {
		a.endInterfaceOf(v, to)
	}
	if err := a.applyAll(); err != nil {
		a.Options.Log.Error("apply load balancers", "err", err)
	}
}

// endInterfaceOf detaches or deletes the interface of a machine, with its public addresses.
func (a *Azure) endInterfaceOf(v *vm, to interfaceRef) {
	r, n := find[nic](a.st, to.ID)
	if r == nil || n.Properties.VirtualMachine.key() != keyOf(v.ID) {
		return
	}
	n.Properties.VirtualMachine, n.Properties.Primary = nil, false
	a.st.put(r)
	var addresses []*record
	for _, ip := range n.Properties.IPConfigurations {
		if held, p := find[publicAddress](a.st, ip.Properties.PublicIPAddress.id()); held != nil && p.Properties.DeleteOption == "Delete" {
			addresses = append(addresses, held)
		}
	}
	if to.Properties.DeleteOption != "Delete" {
		return
	}
	a.drop(a.kinds[strings.ToLower(nicKind)], r)
	for _, held := range addresses {
		a.drop(a.kinds[strings.ToLower(addressKind)], held)
	}
}
