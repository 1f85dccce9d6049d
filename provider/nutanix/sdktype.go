// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	v3 "github.com/nutanix-cloud-native/prism-go-client/v3"
	"github.com/nutanix-cloud-native/prism-go-client/v3/models"
)

// of returns the value of an optional field.
func of[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func uuidOf(m *v3.Metadata) string {
	if m == nil {
		return ""
	}
	return of(m.UUID)
}

func createdAt(m *v3.Metadata) time.Time {
	if m == nil {
		return time.Time{}
	}
	return of(m.CreationTime)
}

func refer(kind, uuid string) *v3.Reference {
	if uuid == "" {
		return nil
	}
	return &v3.Reference{Kind: &kind, UUID: &uuid}
}

// vmInput is the request that creates a VM: with UEFI, its disks on the SCSI bus in their
// order, one interface, and the power on.
func vmInput(o order) *v3.VMIntentInput {
	r := &v3.VMResources{
		PowerState: new(powerOn), HardwareClockTimezone: new("UTC"), BootConfig: &v3.VMBootConfig{BootType: new("UEFI")},
		NumSockets: &o.sockets, NumVcpusPerSocket: &o.cores, MemorySizeMib: &o.memoryMiB,
		NicList: []*v3.VMNic{{SubnetReference: refer("subnet", o.subnet), IsConnected: new(true)}},
	}
	if o.address != "" {
		r.NicList[0].IPEndpointList = []*v3.IPAddress{{IP: &o.address, Type: new("ASSIGNED")}}
	}
	for i, d := range o.disks {
		r.DiskList = append(r.DiskList, diskInput(d, int64(i)))
	}
	if o.userData != "" {
		r.GuestCustomization = &v3.GuestCustomization{CloudInit: &v3.GuestCustomizationCloudInit{UserData: &o.userData}}
	}
	return &v3.VMIntentInput{
		APIVersion: new("3.1.0"),
		Metadata:   &v3.Metadata{Kind: new("vm"), ProjectReference: refer("project", o.project), Categories: o.categories},
		Spec:       &v3.VM{Name: &o.name, Description: &o.description, ClusterReference: refer("cluster", o.cluster), Resources: r},
	}
}

func diskInput(d diskOrder, index int64) *v3.VMDisk {
	one := &v3.VMDisk{
		DiskSizeMib: &d.sizeMiB, DataSourceReference: refer("image", d.image),
		DeviceProperties: &v3.VMDiskDeviceProperties{DeviceType: new("DISK"), DiskAddress: &v3.DiskAddress{AdapterType: new(busSCSI), DeviceIndex: &index}},
	}
	if d.container != "" {
		one.StorageConfig = &v3.VMStorageConfig{StorageContainerReference: &v3.StorageContainerReference{Kind: "storage_container", UUID: d.container}}
	}
	return one
}

// busSCSI is the bus that disks are attached to.
const busSCSI = "SCSI"

// vmOf reads a VM. The specification has what was asked for, the status what there is.
func vmOf(m *v3.Metadata, spec *v3.VM, st *v3.VMDefStatus) vm {
	one := vm{uuid: uuidOf(m), created: createdAt(m)}
	if m != nil {
		one.categories = m.Categories
	}
	if spec != nil {
		one.name, one.description = of(spec.Name), of(spec.Description)
		if spec.Resources != nil {
			one.wanted = of(spec.Resources.PowerState)
		}
	}
	if st == nil {
		return one
	}
	one.state = of(st.State)
	for _, said := range st.MessageList {
		one.messages = append(one.messages, strings.TrimSpace(of(said.Message)))
	}
	if st.ClusterReference != nil {
		one.cluster = of(st.ClusterReference.UUID)
	}
	if st.ExecutionContext != nil {
		one.task = taskOf(st.ExecutionContext.TaskUUID)
	}
	one.resources(st.Resources)
	return one
}

// resources reads what a VM has.
func (v *vm) resources(r *v3.VMResourcesDefStatus) {
	if r == nil {
		return
	}
	v.power, v.cpu, v.memoryMiB = of(r.PowerState), of(r.NumSockets)*max(1, of(r.NumVcpusPerSocket)), of(r.MemorySizeMib)
	if from := r.ParentReference; from != nil && of(from.Kind) == "vm" { // else it was created from an image
		v.parent = of(from.UUID)
	}
	for _, n := range r.NicList {
		v.nics = append(v.nics, nicOf(n))
	}
	for _, d := range r.DiskList {
		if p := d.DeviceProperties; p != nil && p.DiskAddress != nil {
			v.disks = append(v.disks, disk{of(p.DiskAddress.AdapterType), int32(of(p.DiskAddress.DeviceIndex)), of(p.DeviceType) == "CDROM"})
		}
	}
}

// nicOf reads an interface. Addresses that were learned from the network may be those of
// others, such as a virtual IP: they come last. Prism Central names no order of them; here it
// is that of the addresses, so that it is the same each time.
func nicOf(n *v3.VMNicOutputStatus) nic {
	one := nic{mac: of(n.MacAddress)}
	if n.SubnetReference != nil {
		one.subnet = of(n.SubnetReference.UUID)
	}
	var learned []string
	for _, a := range n.IPEndpointList {
		if of(a.Type) == "LEARNED" {
			learned = append(learned, of(a.IP))
			continue
		}
		one.addresses = append(one.addresses, of(a.IP))
	}
	slices.SortFunc(learned, func(a, b string) int {
		x, _ := netip.ParseAddr(a) // what is no address comes first, and is left out later
		y, _ := netip.ParseAddr(b)
		return x.Compare(y)
	})
	one.addresses = append(one.addresses, learned...)
	return one
}

// taskOf reads the UUID of a task, which is a text or a list with the last one at its end.
func taskOf(field any) string {
	switch t := field.(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			return taskOf(t[len(t)-1])
		}
	}
	return ""
}

func imageOf(e *v3.ImageIntentResponse) image {
	one := image{uuid: uuidOf(e.Metadata), created: createdAt(e.Metadata)}
	if s := e.Status; s != nil {
		one.name, one.description, one.state = of(s.Name), of(s.Description), of(s.State)
		one.kind, one.sizeBytes = of(s.Resources.ImageType), of(s.Resources.SizeBytes)
		for _, said := range s.MessageList {
			one.messages = append(one.messages, of(said.Message))
		}
	}
	return one
}

func subnetOf(e *v3.SubnetIntentResponse) subnet {
	one := subnet{uuid: uuidOf(e.Metadata)}
	if s := e.Status; s != nil {
		one.name = of(s.Name)
		if s.ClusterReference != nil {
			one.cluster = of(s.ClusterReference.UUID)
		}
		if s.Resources != nil {
			one.overlay, one.vlan = s.Resources.SubnetType == "OVERLAY", s.Resources.VlanID
			one.addresses = addressesOf(s.Resources.IPConfig)
		}
	}
	return one
}

// addressesOf reads what AHV assigns on a subnet. A range is written "10.0.0.9 10.0.0.19".
func addressesOf(c *models.IPConfig) (a addressPlan) {
	if c == nil {
		return a
	}
	first, err := netip.ParseAddr(c.SubnetIP)
	if err != nil {
		return a
	}
	a.network = netip.PrefixFrom(first, int(c.PrefixLength))
	a.gateway, _ = netip.ParseAddr(c.DefaultGatewayIP) // a subnet may have none
	for _, pool := range c.PoolList {
		from, to, _ := strings.Cut(pool.Range, " ")
		start, err := netip.ParseAddr(from)
		end, err2 := netip.ParseAddr(to)
		if err == nil && err2 == nil {
			a.pools = append(a.pools, [2]netip.Addr{start, end})
		}
	}
	return a
}

// containerOf reads a storage container, whose attributes are lists of values over time.
func containerOf(e *v3.GroupsEntity) container {
	one := container{uuid: e.EntityID}
	for _, d := range e.Data {
		if len(d.Values) == 0 || len(d.Values[len(d.Values)-1].Values) == 0 {
			continue
		}
		text := d.Values[len(d.Values)-1].Values[0]
		var free int64
		switch d.Name {
		case "container_name":
			one.name = text
		case "cluster":
			one.cluster = text
		case "storage.user_free_bytes", "storage.user_unreserved_free_bytes":
			if _, err := fmt.Sscan(text, &free); err == nil && one.freeBytes == nil {
				one.freeBytes = &free
			}
		}
	}
	return one
}
