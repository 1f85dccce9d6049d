// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/selfhosted"
)

// reclaimPlane moves the management of a cluster that manages itself back to this
// machine: nothing can be deleted by controllers that run on it.
func reclaimPlane(m selfhosted.Mover) error {
	cb, err := m.FindCluster(m.Context(), m.Local)
	if err != nil || !selfhosted.MovedAway(cb) {
		return err
	}
	if _, err := m.UseInCharge(cb); err != nil || m.InCharge() == operation.LocalPlane {
		return err
	}
	if err := refuseOthersInCharge(m.Operation); err != nil {
		return err
	}
	m.Progress.Step("moving its plane back to " + m.Operation.Plane().String())
	_, err = m.MoveBack(cb)
	return err
}
