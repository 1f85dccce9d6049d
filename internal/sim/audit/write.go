// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"slices"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// Write is a call that changes the platform, or would, by a caller who is neither
// its administrator nor a part of it.
type Write struct {
	// Agent is who calls: one process, by its own account.
	Agent string
	fault.Call
	// ClusterID is that of the object that the call brings; without one it is that
	// of the object that the call names, if that is known.
	ClusterID string
	// Content is what the call brings, as it came over the wire.
	Content []byte
}

// Wrote records each write when it arrives, whatever its answer will be.
func (a *Auditor) Wrote(w Write) {
	if a == nil || !w.Writes() {
		return
	}
	secrets := secretsIn(w.Content)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range secrets {
		a.report(NoSecret, "%s of %s %q brings %s", w.Verb, w.Resource, w.Name, s)
	}
	if w.ClusterID == "" {
		w.ClusterID = a.names[key(w.Resource, w.Name)]
	} else if w.Name != "" {
		a.names[key(w.Resource, w.Name)] = w.ClusterID
	}
	if w.ClusterID != "" {
		a.checkWriter(w)
	}
}

// checkWriter complains of a writer whom another has followed.
func (a *Auditor) checkWriter(w Write) {
	writers := a.kept.Writers[w.ClusterID]
	i := slices.Index(writers, w.Agent)
	switch {
	case i < 0:
		a.kept.Writers[w.ClusterID] = append(writers, w.Agent)
		a.keep()
	case i < len(writers)-1:
		a.report(OneWriter, "%s writes again to cluster %s (%s of %s %q), although %s has written since",
			w.Agent, w.ClusterID, w.Verb, w.Resource, w.Name, writers[i+1])
	}
}
