// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/provider/tag"
)

// pretend answers a call as if it had been accepted: its operation fails.
func (a *Azure) pretend(w http.ResponseWriter, r *http.Request) {
	a.Lock()
	defer a.Unlock()
	c := a.read(r, a.st)
	who, err := a.authenticate(c)
	found := a.st.resources.ByID[c.id.key()]
	if err != nil || found == nil {
		a.respond(w, r, a.st)
		return
	}
	c.who = who
	got := answer{header: http.Header{}}
	o := c.newOperation(found, true, got.header)
	a.Later(a.Options.Create, func() {
		a.end(o, &failure{"InternalExecutionError", "An internal execution error occurred. Please retry later."})
	})
	maps.Copy(w.Header(), got.header)
	writeJSON(w, http.StatusAccepted, nil)
}

// running returns the machines that run.
func (a *Azure) running() (out []cloud.Machine) {
	for _, r := range a.st.resources.Where(a.runs) {
		out = append(out, a.machine(r))
	}
	return out
}

// runs reports whether a resource is a machine that is to run.
func (a *Azure) runs(r *record) bool {
	return r.Power == powerRunning && *r.state() != deleting && a.st.exists(r)
}

// machine is that of a virtual machine.
func (a *Azure) machine(r *record) cloud.Machine {
	return cloud.Machine{
		ID: r.Machine, Name: r.top().Name, Copy: r.Copy, Runs: func() bool { return a.runs(r) },
		Clone: func() { a.copyVM(r, r.top().Name+"-clone") }, PowerOn: func() error { return a.powerOn(r) },
	}
}

// copyVM creates a stopped copy with disks and an interface of its own.
func (a *Azure) copyVM(r *record, name string) {
	v := r.object.(*vm)
	copied := duplicate(v)
	c := &call{Azure: a, st: a.st, now: time.Now()}
	rename := func(id string) string { return strings.TrimSuffix(id, lastName(id)) + name + "-" + digest(id)[:8] }
	copied.ID, copied.Name = strings.TrimSuffix(v.ID, lastName(v.ID))+name, name
	copied.Properties.VMID, copied.Properties.ProvisioningState = newUUID(), succeeded
	of := &record{object: copied, hidden: hidden{Created: c.now, Copy: true, Power: powerDeallocated, CustomData: r.CustomData, UserData: r.UserData}}
	a.st.put(of)
	a.auditResource(of)
	for _, d := range append([]*vmDisk{copied.Properties.StorageProfile.OSDisk}, pointers(copied.Properties.StorageProfile.DataDisks)...) {
		d.ManagedDisk.ID = rename(d.ManagedDisk.ID)
		d.Name = lastName(d.ManagedDisk.ID)
		c.attach(copied, *d, false)
		held, _ := find[disk](a.st, d.ManagedDisk.ID)
		held.Copy = true
		a.st.put(held)
		a.auditResource(held)
	}
	a.copyInterface(c, copied, rename)
	a.st.put(of)
}

func (a *Azure) copyInterface(c *call, copied *vm, rename func(string) string) {
	to := &copied.Properties.NetworkProfile.NetworkInterfaces[0]
	_, from := find[nic](a.st, to.ID)
	if from == nil {
		return
	}
	n := duplicate(from)
	n.ID = rename(n.ID)
	n.Name = lastName(n.ID)
	n.Properties.VirtualMachine = &ref{copied.ID}
	held := &record{object: n, hidden: hidden{Created: c.now, Copy: true}}
	for i := range n.Properties.IPConfigurations {
		ip := &n.Properties.IPConfigurations[i]
		ip.ID = n.ID + "/ipConfigurations/" + ip.Name
		ip.Properties.PublicIPAddress, ip.Properties.LoadBalancerBackendAddressPools = nil, nil
		if subnet := a.st.subnet(ip.Properties.Subnet.ID); subnet != nil {
			ip.Properties.PrivateIPAddress, _ = a.st.allocate(held, subnet, "", "Dynamic", nil)
		}
	}
	a.st.put(held)
	a.auditResource(held)
	to.ID = n.ID
}

func pointers[T any](all []T) (out []*T) {
	for i := range all {
		out = append(out, &all[i])
	}
	return out
}

// duplicate returns a deep copy.
func duplicate[T any](o *T) *T {
	out := new(T)
	raw, err := json.Marshal(o)
	if err == nil {
		_ = json.Unmarshal(raw, out) // what was marshalled can be read
	}
	return out
}

// createConflict creates a stopped machine of a name, without an owner.
func (a *Azure) createConflict(name string) (remove func(), err error) {
	group := resourceID{subscription: a.seed.Subscription, group: a.seed.Group}
	id := resourceID{group.subscription, group.group, "Microsoft.Compute", []string{"virtualMachines"}, []string{name}}
	subnet := a.st.subnet(a.subnetOfSeed())
	if a.st.resources.ByID[id.key()] != nil || subnet == nil {
		return nil, nil
	}
	part := func(kind string) resourceID {
		provider, kind, _ := strings.Cut(kind, "/")
		return resourceID{group.subscription, group.group, provider, []string{kind}, []string{name + "-conflict"}}
	}
	c := &call{Azure: a, st: a.st, now: time.Now()}
	n := &nic{head: head{ID: part(nicKind).String(), Name: name + "-conflict", Type: nicKind, Location: a.seed.Location}}
	held := &record{object: n, hidden: hidden{Created: c.now}}
	address, err := a.st.allocate(held, subnet, "", "Dynamic", nil)
	if err != nil {
		return nil, err
	}
	n.Properties.IPConfigurations = []partOfIP{{ID: n.ID + "/ipConfigurations/primary", Name: "primary", Properties: ipProperties{
		PrivateIPAddress: address, PrivateIPAllocationMethod: "Dynamic", PrivateIPAddressVersion: "IPv4", Primary: true, Subnet: &ref{subnet.ID},
	}}}
	n.Properties.VirtualMachine, n.Properties.ProvisioningState = &ref{id.String()}, succeeded
	a.st.put(held)
	v := &vm{head: head{ID: id.String(), Name: name, Type: vmKind, Location: a.seed.Location, ETag: `"1"`}}
	v.Properties = vmProperties{
		status: status{succeeded}, VMID: newUUID(), HardwareProfile: &hardwareProfile{"Standard_D2s_v5"},
		StorageProfile: &storageProfile{OSDisk: &vmDisk{
			Name: name + "-conflict", OSType: "Linux", CreateOption: "FromImage", DiskSizeGB: 30, DeleteOption: "Delete", ManagedDisk: &managedDisk{part(diskKind).String(), "Standard_LRS"},
		}, DataDisks: []vmDisk{}},
		NetworkProfile: &networkProfile{[]interfaceRef{{ID: n.ID, Properties: &interfaceRefProperties{DeleteOption: "Delete"}}}},
	}
	r := &record{object: v, hidden: hidden{Created: c.now, Power: powerDeallocated, Copy: tag.Azure().Read(v.Tags).OwnerID != ""}}
	c.attach(v, *v.Properties.StorageProfile.OSDisk, true)
	a.st.put(r)
	return func() {
		if a.st.exists(r) {
			a.endVM(r)
		}
	}, nil
}

type partOfIP = part[ipProperties]
