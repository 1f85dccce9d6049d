// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter_test

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
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		faults := fault.NewInjector(fault.Plan{Faults: []fault.Fault{
			{Kind: fault.MachineDies, Machine: "machine-a", After: metav1.Duration{Duration: time.Hour}},
		}})
		causes := make(chan error, 2)
		d := open(t, datacenter.Options{Dir: dir, Faults: faults, Boot: func(ctx context.Context, _ datacenter.Machine) error {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return ctx.Err()
		}})
		powerOn(t, d, spec("a"))
		if cause := <-causes; !errors.Is(cause, datacenter.ErrPowerLoss) {
			t.Errorf("the machine ended by %v; want a loss of power", cause)
		}
		if id := <-d.Died(); id != "a" {
			t.Errorf("machine %s died", id)
		}
		powerOn(t, d, spec("a"))
		d.PowerOff("a")
		if cause := <-causes; errors.Is(cause, datacenter.ErrPowerLoss) {
			t.Error("the machine is powered off, and loses its power again")
		}
	})
}

func TestMachineFailsAtItsStart(t *testing.T) {
	faults := fault.NewInjector(fault.Plan{Faults: []fault.Fault{{Kind: fault.FailedTask, Verb: fault.Create, Machine: "machine-a", Times: 1}}})
	d := open(t, datacenter.Options{Dir: t.TempDir(), Faults: faults})
	powerOn(t, d, spec("a"))
	if id := <-d.Died(); id != "a" {
		t.Errorf("machine %s died", id)
	}
	powerOn(t, d, spec("a"))
	d.PowerOff("a") // the second start does not fail: Died would have to be read
}
