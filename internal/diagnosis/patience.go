// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// patience is how long a state may last that every bootstrap passes through, such as a
// service that starts, before it is a cause.
const patience = 2 * time.Minute

// proceeds reports whether a bootstrap has come a step further within that time.
func (w *walk) proceeds() bool {
	b := w.Bootstrap
	return b != nil && b.Phase != string(v1alpha1.BootstrapReady) && w.Plane.Silent == "" && w.Time.Sub(b.changed()) < patience
}

// changed is when an object last changed; the zero time if that is not known.
func (o Object) changed() time.Time {
	if o.Changed == nil {
		return time.Time{}
	}
	return o.Changed.Time
}

// endUnless ends the chain with a cause, unless what it is about may still pass by itself.
func (w *walk) endUnless(passes bool, c Cause, summary string, more ...Remedy) bool {
	if !passes {
		return w.end(c, summary, more...)
	}
	return w.atControllers() || w.end(InProgress, "nothing is wrong so far; it takes its time: "+summary, Remedy{"watch it", w.Commands.Status + " --watch"})
}
