// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/provider/tag"
)

// owner is whom a VM belongs to: what its tags or its description say, or else whom it was
// cloned for.
func (g *guest) owner() tag.Set {
	if set := setOf(g.Config); set.OwnerID != "" {
		return set
	}
	return g.Owner
}

// auditGuest reports a VM to the auditor, and its disks.
func (p *PVE) auditGuest(g *guest) {
	set := g.owner()
	p.Options.Auditor.Seen(audit.Object{
		Resource: fault.Machine, ID: g.UUID, Name: g.name(), OwnerID: set.OwnerID, ClusterID: set.ClusterID, Cluster: set.Cluster, Copy: g.Copy,
	})
	for _, v := range p.disksOf(g, false) {
		if v.Owner.OwnerID == "" && set.OwnerID != "" && !g.Copy {
			v.Owner = set
			p.st.volumes.Put(v.key(), v)
			p.auditVolume(v)
		}
	}
}

// resource is what a volume is in the words of a fault plan: ISO images, those that the
// platform writes for cloud-init included, are no disks.
func (v *volume) resource() fault.Resource {
	if v.Content == "iso" || cloudinitVolume.MatchString(v.ID) {
		return fault.Image
	}
	return fault.Disk
}

// auditVolume reports a volume to the auditor. Volumes have no tags: they belong to whom
// their VM did.
func (p *PVE) auditVolume(v *volume) {
	p.Options.Auditor.Seen(audit.Object{
		Resource: v.resource(), ID: v.key(), Name: v.ID, OwnerID: v.Owner.OwnerID, ClusterID: v.Owner.ClusterID, Cluster: v.Owner.Cluster, Copy: v.Copy,
	})
}

// auditAll reports all objects, after a restart of the simulator.
func (p *PVE) auditAll() {
	for _, g := range p.st.guests.All() {
		p.auditGuest(g)
	}
	for _, v := range p.st.volumes.All() {
		p.auditVolume(v)
	}
}
