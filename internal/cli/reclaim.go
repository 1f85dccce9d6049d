// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/butlerdotdev/butler/internal/operation"
)

// reclaimPlane moves the management of a cluster that manages itself back to this
// machine: nothing can be deleted by controllers that run on it.
func reclaimPlane(m mover) error {
	cb, err := m.FindCluster(m.Context(), m.Local)
	if err != nil || !movedAway(cb) {
		return err
	}
	if _, err := m.settle(cb); err != nil || m.InCharge() == operation.LocalPlane {
		return err
	}
	if err := refuseOthersInCharge(m.Operation); err != nil {
		return err
	}
	m.progress.Step("its plane comes back to this machine")
	_, err = m.moveBack(cb)
	return err
}
