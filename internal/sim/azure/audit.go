// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/provider/tag"
)

// auditResource reports a resource to the auditor.
func (a *Azure) auditResource(r *record) {
	k, h := a.kinds[strings.ToLower(r.top().Type)], r.top()
	if k == nil || k.fault == "" {
		return
	}
	a.Options.Auditor.Seen(audit.Object{
		Resource: k.fault, ID: keyOf(h.ID), Name: h.Name, Leaving: *r.state() == deleting, Copy: r.Copy,
	}.Tagged(tag.Azure(), h.Tags))
}

// auditGone reports that a resource does not exist any more.
func (a *Azure) auditGone(r *record) {
	if k := a.kinds[strings.ToLower(r.top().Type)]; k != nil && k.fault != "" {
		a.Options.Auditor.Gone(k.fault, keyOf(r.top().ID))
	}
}
