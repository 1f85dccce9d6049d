// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"slices"
)

// Idle reports the faults of addons that will not happen, because no addon fits:
// addons has the keys of those that each kind can happen to.
func (p Plan) Idle(addons map[Kind][]string) (out []string) {
	for i, f := range p.Faults {
		if !f.affectsAddons() {
			continue
		}
		candidates := addons[f.Kind]
		if slices.ContainsFunc(candidates, func(key string) bool { return fits(f.Addon, key) }) {
			continue
		}
		said := fmt.Sprintf("faults[%d]: %s will not happen: ", i, f.Kind)
		switch {
		case len(candidates) == 0:
			said += "no addon of this cluster can have it"
		default:
			said += fmt.Sprintf("no addon that can have it fits %q; there are %s", f.Addon, words(candidates))
		}
		out = append(out, said)
	}
	return out
}

func (f Fault) affectsAddons() bool {
	switch f.Kind {
	case ChartUnavailable, ImageMissing, AddonNotReady, WebhookRefuses, HookFails:
		return true
	default:
		return false
	}
}
