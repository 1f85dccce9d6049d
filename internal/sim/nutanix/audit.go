// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"cmp"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/provider/tag"
)

// setOf is what a description says.
func setOf(description string) tag.Set { return tag.Nutanix().ReadText(description) }

// auditVM reports a VM to the auditor.
func (p *Prism) auditVM(e *entity) {
	is := setOf(e.Spec.str("description"))
	p.options.Auditor.Seen(audit.Object{
		Resource: fault.Machine, ID: e.UUID, Name: e.name(), OwnerID: is.OwnerID, ClusterID: is.ClusterID, Cluster: is.Cluster, Leaving: e.Deleting, Copy: e.Copy,
	})
}

func (p *Prism) auditGone(e *entity) {
	if e.Kind == kindVM {
		p.options.Auditor.Gone(fault.Machine, e.UUID)
	}
}

// auditCategory reports a category that belongs to a cluster, by its description or by that
// of a value.
func (p *Prism) auditCategory(k *category) {
	is := setOf(k.Description)
	for _, v := range k.Values {
		if of := setOf(v.Description); of.ClusterID != "" {
			is = of
		}
	}
	p.options.Auditor.Seen(audit.Object{
		Resource: fault.Category, ID: k.Name, Name: k.Name, OwnerID: cmp.Or(is.OwnerID, is.ClusterID), ClusterID: is.ClusterID, Cluster: is.Cluster,
	})
}
