// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"maps"
	"net/netip"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// launch creates an instance with its volumes and its interface. It is pending until its
// machine has been powered on.
func (c *call) launch(o order, reservation string, index int) *instance {
	i := &instance{
		ID: newID("i"), Reservation: reservation, Type: o.kind.Name, Image: o.image.ID, State: pending, Launched: c.now,
		Visible: c.now.Add(c.lag()), Subnet: o.subnet.ID, Zone: o.subnet.Zone, VPC: o.subnet.VPC, RootDevice: o.image.RootDevice,
		UserData: o.userData, Profile: o.profile, KeyName: o.keyName, Token: o.token, Shutdown: o.shutdown, Protected: o.protected,
		Stubborn: o.unstop, Metadata: o.metadata, EBSOptimized: c.params.Bool("EbsOptimized", false),
		Monitored: c.params.Bool("Monitoring.Enabled", false), Index: index, Tags: maps.Clone(o.tags["instance"]),
	}
	for _, v := range o.disks {
		c.attachVolume(i, v, o.tags["volume"])
	}
	n := c.newInterface(o.subnet, o.groups)
	if o.address != "" {
		n.Address = netip.MustParseAddr(o.address) // was checked
	}
	n.Instance, n.DeleteOnTermination, n.SourceDestCheck = i.ID, o.interfaceDeleted, o.sourceDest
	n.Description, n.Tags = o.interfaceText, maps.Clone(o.tags["network-interface"])
	if o.public {
		n.Public = c.publicAddress(i.ID)
	}
	c.st.interfaces.Put(n.ID, n)
	i.Interfaces = []string{n.ID}
	c.st.instances.Put(i.ID, i)
	c.auditInterface(n)
	c.auditInstance(i)
	c.Later(2*c.Options.Create, func() { c.boot(i) })
	return i
}

func (c *call) attachVolume(i *instance, v volume, t tags) {
	v.ID, v.Zone, v.Instance, v.Created, v.Tags = newID("vol"), i.Zone, i.ID, c.now, maps.Clone(t)
	c.st.volumes.Put(v.ID, &v)
	c.auditVolume(&v)
}

// newInterface is one with an address of the subnet.
func (c *call) newInterface(s *subnet, groups []string) *networkInterface {
	address, _ := c.st.address(s) // there is one, as was checked
	n := &networkInterface{
		ID: newID("eni"), Subnet: s.ID, VPC: s.VPC, Zone: s.Zone, MAC: newMAC(), Address: address, Groups: groups,
		SourceDestCheck: true, Attached: c.now,
	}
	if s.IPv6.IsValid() {
		n.IPv6 = sixth(s.IPv6, address)
	}
	return n
}

// sixth is the IPv6 address of an interface: the prefix and its IPv4 address.
func sixth(prefix netip.Prefix, address netip.Addr) netip.Addr {
	raw, low := prefix.Masked().Addr().As16(), address.As4()
	copy(raw[12:], low[:])
	return netip.AddrFrom16(raw)
}

// lag is how long a new instance is not described.
func (a *AWS) lag() time.Duration { return max(a.Options.Create/2, a.seed.Lag.Duration) }

// boot powers the machine of an instance on.
func (a *AWS) boot(i *instance) {
	if i.State != pending || a.st.instances.ByID[i.ID] != i {
		return
	}
	if err := a.powerOn(i); err != nil {
		a.Options.Log.Error("power on an instance", "instance", i.ID, "err", err)
		a.fail(i)
		return
	}
	i.State = running
	i.Reason, i.ReasonText, i.Transition = "", "", ""
	a.st.instances.Put(i.ID, i)
	a.Started(a.machine(i))
}

func (a *AWS) powerOn(i *instance) error {
	n := a.st.interfaces.ByID[i.Interfaces[0]]
	t, _ := a.typeNamed(i.Type)
	name := ""
	if image := a.st.images.ByID[i.Image]; image != nil {
		name = image.Name
	}
	_, err := a.Options.Datacenter.PowerOn(datacenter.Spec{
		ID: i.ID, Name: i.machineName(), Ref: i.ID, Instance: i.ID, MAC: n.MAC, Network: i.Subnet, Address: n.Address,
		CPU: t.CPU, MemoryMB: t.MemoryMB, Image: name, UserData: i.userData(), Disks: a.guestDisks(i, t), Metadata: a.metadata(i, n),
	})
	return err
}

// machineName is the name that faults know the machine by.
func (i *instance) machineName() string {
	if name := i.name(); name != "" {
		return name
	}
	return i.ID
}
