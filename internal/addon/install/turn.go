// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// courtesy is how long an addon that no other one needs lets others go first.
const courtesy = 10 * time.Second

// awaitTurn lets those go first that other addons wait for: their pods start meanwhile. An
// addon that is needed itself does not wait, and none waits for long. It returns false when the
// addon is wanted differently by then.
func (w *worker) awaitTurn(ctx context.Context, t task) bool {
	timer := time.NewTimer(courtesy)
	defer timer.Stop()
	for !w.outdated(t) {
		first := w.cluster.before(w)
		if len(first) == 0 {
			return true
		}
		w.set(v1alpha1.AddonPending, "is applied after "+strings.Join(first, ", "))
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		case <-w.wake:
		}
	}
	return false
}

// before are the addons that others need and that are about to be applied; none for an addon
// that is needed itself.
func (c *cluster) before(w *worker) (keys []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.yields = false
	if c.needed(w.key) {
		return nil
	}
	for key, other := range c.workers {
		if c.needed(key) && other.applies() {
			keys = append(keys, key)
		}
	}
	w.yields = len(keys) > 0
	slices.Sort(keys)
	return keys
}

// needed reports whether another addon needs this one. The caller holds the lock.
func (c *cluster) needed(key string) bool {
	for _, w := range c.workers {
		if slices.Contains(w.wanted.Needs, key) {
			return true
		}
	}
	return false
}

// applies reports whether an addon has all that it needs and is not applied yet. The caller
// holds the lock.
func (w *worker) applies() bool {
	switch w.state.Phase {
	case "", v1alpha1.AddonPending, v1alpha1.AddonInstalling:
	default:
		return false
	}
	return !slices.ContainsFunc(w.wanted.Needs, func(key string) bool {
		other := w.cluster.workers[key]
		return other == nil || other.state.Phase != v1alpha1.AddonReady
	})
}

// nextTurn wakes the addons that let others go first. The caller holds the lock.
func (c *cluster) nextTurn() {
	for _, w := range c.workers {
		if w.yields {
			w.nudge()
		}
	}
}
