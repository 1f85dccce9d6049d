// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func TestWhatIsUpIsAskedWhenItsPatienceIsOver(t *testing.T) {
	p := &Pass[*v1alpha1.MachineRequest, v1alpha1.MachinePhase, provider.Machine]{
		r: &Reconciler[*v1alpha1.MachineRequest, v1alpha1.MachinePhase, provider.Machine]{},
	}
	p.Facts.Failing = Patience - 3*time.Second
	if got := p.outlook(Decision[v1alpha1.MachinePhase]{Keep: true}).Within; got != 3*time.Second {
		t.Errorf("asked again within %v", got)
	}
}
