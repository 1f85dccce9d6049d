// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/provider/tag"
)

// auditResource reports a resource to the auditor. Kinds without labels have no owner.
func (g *GCP) auditResource(r *resource) {
	k := kindOf(r.collection())
	if k.static || k.resource == "" {
		return
	}
	o := audit.Object{Resource: k.resource, ID: r.id(), Name: r.name(), Leaving: r.Deleting, Copy: r.Copy}
	g.options.Auditor.Seen(o.Tagged(tag.GCP(), r.Object.labels()))
}

// auditAll reports all resources, after a restart of the simulator.
func (g *GCP) auditAll() {
	for _, k := range kinds() {
		for _, r := range g.st.tables[k.collection].All() {
			g.auditResource(r)
		}
	}
}
