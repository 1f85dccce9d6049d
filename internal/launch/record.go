// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"log/slog"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/history"
	"github.com/butlerdotdev/butler/internal/version"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// record keeps how long the phases of this run took, for the plans of later ones. A run that
// is not recorded is none that failed.
func (l *Launch) record(cb *v1alpha1.ClusterBootstrap) {
	home, err := workspace.Home()
	if err == nil {
		err = history.Append(home, history.Run{
			Ended: time.Now().UTC().Truncate(time.Second), Version: version.Version, Kind: l.kind(),
			Machines: len(cb.Status.Machines), Addons: len(cb.Status.Addons), Phases: l.phases.Phases(),
		})
	}
	if err != nil {
		slog.Warn("record the run", "error", err)
	}
}
