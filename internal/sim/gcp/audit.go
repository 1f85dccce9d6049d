// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/provider/tag"
)

// auditResource reports a resource to the auditor.
func (g *GCP) auditResource(r *resource) {
	k := kindOf(r.collection())
	if k.static || k.resource == "" {
		return
	}
	o := audit.Object{Resource: k.resource, ID: r.id(), Name: r.name(), Leaving: r.Deleting, Copy: r.Copy}
	is := setOf(r.Object)
	o.OwnerID, o.ClusterID, o.Cluster = is.OwnerID, is.ClusterID, is.Cluster
	g.Options.Auditor.Seen(o)
}

// setOf is what the labels of an object say, or its description: kinds of parts of load
// balancers have no labels.
func setOf(o object) tag.Set {
	if labels := o.labels(); len(labels) > 0 {
		return tag.GCP().Read(labels)
	}
	return tag.GCP().ReadText(o.str("description"))
}

// auditAll reports all resources, after a restart of the simulator.
func (g *GCP) auditAll() {
	for _, k := range kinds() {
		for _, r := range g.st.tables[k.collection].All() {
			g.auditResource(r)
		}
	}
}
