// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

func TestMachineThatDiesLosesItsPower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faults := fault.NewCourse(fault.Plan{Faults: []fault.Fault{
			{Kind: fault.MachineDies, Machine: "a", After: metav1.Duration{Duration: time.Hour}},
		}})
		var cause error
		boot := mortal(faults, func(ctx context.Context, _ datacenter.Machine) error {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return ctx.Err()
		})
		if err := boot(t.Context(), datacenter.Machine{Spec: datacenter.Spec{Name: "a"}}); err == nil || !errors.Is(cause, datacenter.ErrPowerLoss) {
			t.Errorf("the machine ended with %v, by %v; want a loss of power", err, cause)
		}
		off, cancel := context.WithCancel(t.Context())
		cancel()
		_ = boot(off, datacenter.Machine{Spec: datacenter.Spec{Name: "a"}})
		if errors.Is(cause, datacenter.ErrPowerLoss) {
			t.Error("the machine is switched off, and loses its power again")
		}
	})
}
