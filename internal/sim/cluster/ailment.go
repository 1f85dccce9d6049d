// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/standin"
)

// faultPeriod is how soon a fault that begins is noticed: a plan does not report
// beforehand.
const faultPeriod = 250 * time.Millisecond

// watchFaults looks at the pods of addons whenever something begins or ceases to be
// wrong with them.
func (s *session) watchFaults(ctx context.Context) {
	tick := time.NewTicker(faultPeriod)
	defer tick.Stop()
	ailing := map[string]bool{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.noticeFaults(ailing)
		}
	}
}

func (s *session) noticeFaults(ailing map[string]bool) {
	changed := map[string]bool{}
	for _, object := range s.pods.List() {
		pod := object.(*corev1.Pod)
		addon, ok := pod.Annotations[standin.Addon]
		if !ok {
			continue
		}
		if _, seen := changed[addon]; !seen {
			_, ails := s.Faults.AddonFails(fault.AddonNotReady, addon)
			changed[addon] = ails != ailing[addon]
			ailing[addon] = ails
		}
		if changed[addon] {
			s.queue.Add(keyOf(pod))
		}
	}
}
