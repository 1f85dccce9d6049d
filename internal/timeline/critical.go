// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import "time"

// markCritical marks the critical path: from the end of the run back to its beginning, each
// time the work that ended last before what was marked began. Nothing else can have been
// waited for.
func (t Timeline) markCritical() {
	for at := t.End; at.After(t.Begin); {
		s := t.lastBefore(at)
		if s == nil {
			return
		}
		s.Critical = true
		at = s.Begin
	}
}

// lastBefore returns the work that ended last, but not after a time, and of several the one
// that began first. What still ran at the end of the run counts as ended then.
func (t Timeline) lastBefore(at time.Time) (found *Span) {
	for i := range t.Rows {
		for j := range t.Rows[i].Spans {
			s := &t.Rows[i].Spans[j]
			if !works(t.Rows[i].Kind, s.State) || s.End.After(at) || s.Critical {
				continue
			}
			if found == nil || s.End.After(found.End) || s.End.Equal(found.End) && s.Begin.Before(found.Begin) {
				found = s
			}
		}
	}
	return found
}
