// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/provider/tag"
)

// record reports an object to the auditor.
func (a *AWS) record(o audit.Object, t tags) { a.Options.Auditor.Seen(o.Tagged(tag.AWS(), t)) }

func (a *AWS) auditInstance(i *instance) {
	if i.State == terminated {
		a.Options.Auditor.Gone(fault.Machine, i.ID)
		return
	}
	a.record(audit.Object{Resource: fault.Machine, ID: i.ID, Name: i.machineName(), Leaving: i.State == shuttingDown, Copy: i.Copy}, i.Tags)
}

func (a *AWS) auditVolume(v *volume) {
	a.record(audit.Object{Resource: fault.Disk, ID: v.ID, Name: v.ID, Copy: a.isCopy(v.Instance)}, v.Tags)
}

func (a *AWS) auditInterface(n *networkInterface) {
	a.record(audit.Object{Resource: fault.Network, ID: n.ID, Name: n.ID, Copy: a.isCopy(n.Instance)}, n.Tags)
}

func (a *AWS) auditGroup(g *group) {
	a.record(audit.Object{Resource: fault.Network, ID: g.ID, Name: g.Name}, g.Tags)
}

func (a *AWS) isCopy(instance string) bool {
	i := a.st.instances.ByID[instance]
	return i != nil && i.Copy
}

// auditGone reports that a part does not exist any more.
func (a *AWS) auditGone(id string) {
	r := fault.Network
	switch {
	case strings.HasPrefix(id, "vol-"):
		r = fault.Disk
	case strings.Contains(id, ":loadbalancer/"):
		r = fault.LoadBalancer
	}
	a.Options.Auditor.Gone(r, id)
}

// auditTagged reports the objects whose tags a call has changed.
func (c *call) auditTagged() {
	for _, id := range c.params.List("ResourceId") {
		switch {
		case c.st.instances.ByID[id] != nil:
			c.auditInstance(c.st.instances.ByID[id])
		case c.st.volumes.ByID[id] != nil:
			c.auditVolume(c.st.volumes.ByID[id])
		case c.st.interfaces.ByID[id] != nil:
			c.auditInterface(c.st.interfaces.ByID[id])
		case c.st.groups.ByID[id] != nil:
			c.auditGroup(c.st.groups.ByID[id])
		}
	}
}

// auditAll reports all parts, after a restart of the simulator.
func (a *AWS) auditAll() {
	for _, v := range a.st.volumes.All() {
		a.auditVolume(v)
	}
	for _, n := range a.st.interfaces.All() {
		a.auditInterface(n)
	}
	for _, g := range a.st.groups.All() {
		a.auditGroup(g)
	}
	a.auditBalancers()
}
