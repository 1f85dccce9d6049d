// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"encoding/base64"
	"net/netip"
	"strings"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// vdisk is the name of the vDisk behind a disk of a VM, after the number of the vendor.
func vdisk(disk string) string {
	const digits = 25
	return strings.ReplaceAll(uuid.NewSHA1(uuid.NameSpaceOID, []byte(disk)).String(), "-", "")[:digits]
}

// bringPower switches a VM on or off, as its spec says. The lock is not held while it goes
// off.
func (p *Prism) bringPower(e *entity) error {
	switch {
	case e.wants() && !e.On:
		return p.powerOn(e)
	case !e.wants() && e.On:
		p.Unlock()
		p.Options.Datacenter.PowerOff(e.UUID)
		p.Lock()
		p.off(e)
	}
	return nil
}

func (p *Prism) off(e *entity) {
	e.On = false
	delete(e.Status, "host_reference")
	p.st.put(e)
}

// powerOn finds a host for a VM and starts its machine.
func (p *Prism) powerOn(e *entity) error {
	host := p.hostFor(e)
	if host == nil {
		return failure("RESOURCE_SHORTAGE", "InsufficientResources: No host has enough available memory for VM %s, which uses %d MiB.", e.UUID, e.resources().num("memory_size_mib"))
	}
	if err := p.run(e); err != nil {
		return failure("INTERNAL_ERROR", "Internal Server Error. %v", err)
	}
	e.On = true
	if e.Status == nil {
		e.Status = object{}
	}
	e.Status["host_reference"] = reference(kindHost, host.UUID, host.name())
	p.st.put(e)
	p.Started(p.machine(e))
	return nil
}

// hostFor returns the host of the VM's cluster with the most free memory that has room for
// it; nil: none has.
func (p *Prism) hostFor(e *entity) (best *entity) {
	if _, full := p.Options.Faults.WithoutCapacity(e.name()); full || !p.Hosts || e.Copy {
		return nil
	}
	most := e.resources().num("memory_size_mib") - 1
	for _, host := range p.st.all(kindHost) {
		if host.Status.sub("cluster_reference").str("uuid") != e.Spec.sub("cluster_reference").str("uuid") {
			continue
		}
		if free := host.Status.num("memory_capacity_mib") - p.used(host); free > most {
			best, most = host, free
		}
	}
	return best
}

// used is the memory of a host that VMs have, in MiB.
func (p *Prism) used(host *entity) (mib int) {
	for _, e := range p.st.all(kindVM) {
		if e.On && e.Status.sub("host_reference").str("uuid") == host.UUID {
			mib += e.resources().num("memory_size_mib")
		}
	}
	return mib
}

// run starts the machine of a VM. Without a system on its disk, or a connected interface,
// the VM is on and nothing answers.
func (p *Prism) run(e *entity) error {
	r := e.resources()
	image, _ := p.bootImage(e)
	nics := r.subs("nic_list")
	if image == nil || len(nics) == 0 || !nics[0].bool("is_connected") {
		return nil
	}
	_, err := p.Options.Datacenter.PowerOn(datacenter.Spec{
		ID: e.UUID, Name: e.name(), Ref: e.UUID, Instance: e.UUID, MAC: strings.ToLower(nics[0].str("mac_address")),
		Network: nics[0].sub("subnet_reference").str("uuid"), Address: p.fixed(e),
		CPU: r.num("num_sockets") * r.num("num_vcpus_per_socket"), MemoryMB: r.num("memory_size_mib"),
		Image: image.name() + " " + image.Spec.str("description"), Disks: p.guestDisks(e), UserData: userData(r, image), ImagePlatform: platformOf(image),
	})
	return err
}

// fixed is the address that a VM was assigned; zero: its guest asks for a lease.
func (p *Prism) fixed(e *entity) netip.Addr {
	for _, one := range e.resources().subs("nic_list")[0].subs("ip_endpoint_list") {
		if a, err := netip.ParseAddr(one.str("ip")); err == nil && one.str("type") == "ASSIGNED" {
			return a
		}
	}
	return netip.Addr{}
}

// platformOf is what an image was built for, as its name says.
func platformOf(image *entity) string {
	for _, platform := range []string{"nocloud", "metal"} {
		if strings.Contains(image.name()+image.resources().str("source_uri"), platform) {
			return strings.TrimPrefix(platform, "metal")
		}
	}
	return "openstack"
}

// userData is what the guest reads from the configuration drive. An image for NoCloud looks
// for a drive with another label, and finds nothing.
func userData(r object, image *entity) []byte {
	if platformOf(image) == "nocloud" {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(r.sub("guest_customization").sub("cloud_init").str("user_data"))
	if err != nil {
		return nil // was checked before
	}
	return data
}
