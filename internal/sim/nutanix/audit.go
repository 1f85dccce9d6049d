// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"cmp"
	"slices"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/provider/tag"
)

// setOf is what a description says.
func setOf(description string) tag.Set { return tag.Nutanix().ReadText(description) }

// auditVM reports a VM and its disks to the auditor.
func (p *Prism) auditVM(e *entity) {
	is := setOf(e.Spec.str("description"))
	o := audit.Object{Name: e.name(), OwnerID: is.OwnerID, ClusterID: is.ClusterID, Cluster: is.Cluster, Leaving: e.Deleting, Copy: e.Copy}
	o.Resource, o.ID = fault.Machine, e.UUID
	p.Options.Auditor.Seen(o)
	for _, id := range disksOf(e) {
		o.Resource, o.ID = fault.Disk, id
		p.Options.Auditor.Seen(o)
	}
}

// disksOf are the UUIDs of the disks of a VM.
func disksOf(e *entity) (out []string) {
	for _, d := range e.resources().subs("disk_list") {
		if d.sub("device_properties").str("device_type") == "DISK" {
			out = append(out, d.str("uuid"))
		}
	}
	return out
}

func (p *Prism) auditGone(e *entity) {
	if e.Kind != kindVM {
		return
	}
	p.Options.Auditor.Gone(fault.Machine, e.UUID)
	for _, id := range disksOf(e) {
		p.Options.Auditor.Gone(fault.Disk, id)
	}
}

// auditCategory reports a category that belongs to a cluster, by its description or by that
// of a value. One that copies alone have left belongs to them: it cannot be deleted.
func (p *Prism) auditCategory(k *category) {
	is, copies := setOf(k.Description), 0
	for _, v := range k.Values {
		if of := setOf(v.Description); of.ClusterID != "" {
			is = of
		}
	}
	all := slices.DeleteFunc(p.st.all(kindVM), func(e *entity) bool { return len(e.Categories[k.Name]) == 0 })
	for _, e := range all {
		if e.Copy {
			copies++
		}
	}
	p.Options.Auditor.Seen(audit.Object{
		Resource: fault.Category, ID: k.Name, Name: k.Name, OwnerID: cmp.Or(is.OwnerID, is.ClusterID), ClusterID: is.ClusterID, Cluster: is.Cluster,
		Copy: copies > 0 && copies == len(all),
	})
}

// auditCategoriesOf reports the categories of a VM that is gone.
func (p *Prism) auditCategoriesOf(e *entity) {
	for key := range e.Categories {
		if k := p.st.categories.ByID[key]; k != nil {
			p.auditCategory(k)
		}
	}
}
