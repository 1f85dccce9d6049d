// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

func TestLastRunCountsFailedStarts(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		lives := make(chan time.Duration, 1)
		d := open(t, datacenter.Options{Dir: dir, Boot: func(ctx context.Context, _ datacenter.Machine) error {
			select {
			case <-time.After(<-lives):
				return datacenter.ErrShutdown
			case <-ctx.Done():
				return nil
			}
		}})
		run := func(life time.Duration, end func()) datacenter.Run {
			lives <- life
			s := spec("a")
			s.Ref, s.Instance = "default/a", life.String()
			powerOn(t, d, s)
			end()
			last, _ := d.LastRun("a")
			if last.Spec.Ref != "default/a" || last.Spec.Instance != life.String() {
				t.Errorf("the run belongs to %s of %s", last.Spec.Instance, last.Spec.Ref)
			}
			return last
		}
		died := func() { <-d.Died() }
		kill := func() { go d.Kill("a"); died() }
		for range 2 {
			if last := run(time.Hour, kill); !last.Died || last.Clean {
				t.Errorf("killed: %+v", last)
			}
		}
		off := run(time.Hour, func() { d.PowerOff("a") })
		if off.Died || off.FailedStarts != 2 || off.LastFailure.IsZero() {
			t.Errorf("powered off: %+v", off)
		}
		if last := run(time.Minute, died); !last.Died || !last.Clean || last.FailedStarts != 0 {
			t.Errorf("shut down: %+v", last)
		}
		if err := d.Remove("a"); err != nil {
			t.Fatal(err)
		}
		if _, known := d.LastRun("a"); known {
			t.Error("a removed machine has a last run")
		}
	})
}

func TestMachineThatIsOnTakesTheNamesOfItsPlatform(t *testing.T) {
	d := open(t, datacenter.Options{Dir: t.TempDir()})
	powerOn(t, d, spec("a"))
	s := spec("a")
	s.Instance = "second"
	if m := powerOn(t, d, s); m.Instance != "second" {
		t.Errorf("it is called %q", m.Instance)
	}
	if last, _ := d.LastRun("a"); last.Spec.Instance != "second" {
		t.Errorf("its run is called %q", last.Spec.Instance)
	}
}
