// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/cloud"
)

// pretend answers a call as if it had been carried out: instances end, and do not.
func (a *AWS) pretend(w http.ResponseWriter, r *http.Request) {
	q := read(r)
	result := fields{"return", true}
	if q.operation == "TerminateInstances" {
		var changes items
		for _, id := range q.params.List("InstanceId") {
			changes = append(changes, fields{"instanceId", id, "currentState", showState(shuttingDown), "previousState", showState(running)})
		}
		result = fields{"instancesSet", changes}
	}
	q.answer(w, result)
}

// running returns the machines that run.
func (a *AWS) running() (out []cloud.Machine) {
	for _, i := range a.st.instances.Where(func(i *instance) bool { return i.State == running }) {
		out = append(out, a.machine(i))
	}
	return out
}

// machine is that of an instance.
func (a *AWS) machine(i *instance) cloud.Machine {
	return cloud.Machine{
		ID: i.ID, Name: i.machineName(), Copy: i.Copy, Runs: func() bool { return i.State == running },
		Clone: func() { a.clone(i) }, PowerOn: func() error { return a.powerOn(i) },
	}
}

// clone copies an instance with all tags but its name, and switched off.
func (a *AWS) clone(i *instance) {
	a.copyInstance(i, func(t tags) tags {
		out := maps.Clone(t)
		if rest, found := strings.CutPrefix(t["Name"], i.machineName()); found {
			out["Name"] = i.machineName() + "-clone" + rest
		}
		return out
	})
}

// copyInstance creates a stopped copy with volumes and an interface of its own, whose tags
// are those of the original after a change.
func (a *AWS) copyInstance(i *instance, change func(tags) tags) {
	c := &call{AWS: a, st: a.st, now: time.Now()}
	copied := *i
	copied.ID, copied.Reservation, copied.State, copied.Copy, copied.Token, copied.Tags = newID("i"), newID("r"), stopped, true, "", change(i.Tags)
	copied.Launched, copied.Transition = c.now, ""
	a.st.instances.Put(copied.ID, &copied) // its parts are known as copies by it
	for _, v := range c.disks(i.ID) {
		c.attachVolume(&copied, *v, change(v.Tags))
	}
	from := c.primary(i)
	n := c.newInterface(a.st.subnets.ByID[i.Subnet], from.Groups)
	n.Instance, n.DeleteOnTermination, n.Tags = copied.ID, true, change(from.Tags)
	a.st.interfaces.Put(n.ID, n)
	copied.Interfaces = []string{n.ID}
	a.st.instances.Put(copied.ID, &copied)
	a.auditInterface(n)
}

// createConflict creates a stopped instance of a name, without an owner.
func (a *AWS) createConflict(name string) (remove func(), err error) {
	c := &call{AWS: a, st: a.st, now: time.Now()}
	images, subnets := a.st.images.Where(c.visible), a.st.subnets.Where(func(s *subnet) bool { return s.VPC == a.seed.VPC })
	taken := a.st.instances.Where(func(i *instance) bool { return i.name() == name && i.State != terminated })
	if len(images) == 0 || len(subnets) == 0 || len(taken) > 0 {
		return nil, nil
	}
	i := &instance{
		ID: newID("i"), Reservation: newID("r"), Type: "m5.large", Image: images[0].ID, State: stopped, Launched: c.now, Subnet: subnets[0].ID,
		Zone: subnets[0].Zone, VPC: subnets[0].VPC, RootDevice: images[0].RootDevice, Shutdown: "stop",
		Metadata: metadataOptions{"optional", "enabled", "disabled", "disabled", 1}, Tags: tags{"Name": name},
	}
	n := c.newInterface(subnets[0], nil)
	n.Instance, n.DeleteOnTermination = i.ID, true
	a.st.interfaces.Put(n.ID, n)
	i.Interfaces = []string{n.ID}
	a.st.instances.Put(i.ID, i)
	return func() { a.terminate(i, userInitiated, userInitiated+": User initiated shutdown", "User initiated") }, nil
}
