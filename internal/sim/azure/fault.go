// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/provider/tag"
)

// pretend answers a call as if it had been accepted: its operation fails.
func (a *Azure) pretend(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
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
	a.later(a.options.Create, func() {
		a.end(o, &failure{"InternalExecutionError", "An internal execution error occurred. Please retry later."})
	})
	maps.Copy(w.Header(), got.header)
	writeJSON(w, http.StatusAccepted, nil)
}

// Note implements fault.Past.
func (a *Azure) Note(moment time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.past[moment] == nil {
		a.past[moment] = a.st.snapshot()
	}
}

// Answer implements fault.Past.
func (a *Azure) Answer(w http.ResponseWriter, r *http.Request, moment time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	then := a.past[moment]
	if then == nil {
		then = a.st
	}
	a.respond(w, r, then)
}

// Prepare implements facade.API. The second platform is another subscription of the same
// name, with what the seed names and the same credentials, in which nothing can run.
func (a *Azure) Prepare(_ context.Context, p fault.Plan) error {
	if !p.Has(fault.SecondPlatform) {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.second != nil {
		return nil
	}
	o := a.options
	o.Dir, o.Faults, o.Auditor, o.Network = filepath.Join(o.Dir, "second"), nil, nil, nil
	second, err := newAzure(o, a.seed, false)
	if err != nil {
		return fmt.Errorf("start the second platform: %w", err)
	}
	second.actors, second.key, second.mu, second.front, second.admin = a.actors, a.key, a.mu, a.front, a.admin
	second.home = derivedUUID("second tenant")
	a.second = second
	return nil
}

func (a *Azure) serveSecond(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	second := a.second
	a.mu.Unlock()
	if second == nil {
		http.Error(w, "the second platform does not run", http.StatusServiceUnavailable)
		return
	}
	second.ServeHTTP(w, r)
}

// clone copies a machine that runs, if the fault plan says so, as a restore from a backup
// does: with all tags, and switched off.
func (a *Azure) clone(r *record) {
	if r.Copy || !a.options.Faults.Cloned(r.top().Name) {
		return
	}
	a.copyVM(r, r.top().Name+"-clone")
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

// drainLater restarts a machine when the fault plan drains its host.
func (a *Azure) drainLater(r *record) {
	after, hit := a.options.Faults.DrainedAfter(r.top().Name)
	if !hit {
		return
	}
	a.later(after, func() {
		if r.Power == powerRunning {
			a.restart(r)
		}
	})
}

// followPlans has the faults of a new plan happen to the machines that run.
func (a *Azure) followPlans() {
	replaced := a.options.Faults.Replaced()
	for {
		select {
		case <-a.ctx.Done():
			return
		case <-replaced:
		}
		replaced = a.options.Faults.Replaced()
		a.mu.Lock()
		for _, r := range a.st.resources.Where(func(r *record) bool { return r.Power == powerRunning && *r.state() != deleting }) {
			a.clone(r)
			a.drainLater(r)
		}
		a.mu.Unlock()
	}
}

// createConflict creates a stopped machine of a name, without an owner.
func (a *Azure) createConflict(_ context.Context, name string) (func(context.Context) error, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
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
	return func(context.Context) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.st.exists(r) {
			a.endVM(r)
		}
		return nil
	}, nil
}

type partOfIP = part[ipProperties]
