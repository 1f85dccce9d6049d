// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter_test

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// answering is a machine that listens as long as it is on.
func answering(ctx context.Context, m datacenter.Machine) error {
	if _, err := m.Host.Listen(50000); err != nil {
		return err
	}
	return untilOff(ctx, m)
}

// recording is such a machine that others get to know.
func recording(booted chan<- datacenter.Machine) datacenter.Boot {
	return func(ctx context.Context, m datacenter.Machine) error {
		booted <- m
		return answering(ctx, m)
	}
}

func TestAddressComesAfterTheBoot(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		n := network.New()
		d := open(t, datacenter.Options{Dir: dir, Network: n, Boot: answering, Profile: datacenter.Profile{Boot: 25 * time.Second}})
		m := powerOn(t, d, spec("a"))
		if m.Address.IsValid() || m.Host != nil {
			t.Errorf("address %v before the boot", m.Address)
		}
		if on, ok := d.Running("a"); !ok || on.Address.IsValid() {
			t.Errorf("running %v with address %v", ok, on.Address)
		}
		if _, err := n.Dial(t.Context(), "tcp", "10.40.0.10:50000"); !errors.Is(err, syscall.EHOSTUNREACH) {
			t.Errorf("dial: %v", err)
		}
		if other := powerOn(t, d, spec("b")); other.Address.IsValid() {
			t.Errorf("the second has %v", other.Address)
		}
		start := time.Now()
		<-m.Addressed()
		if id := <-d.Addressed(); id != "a" && id != "b" {
			t.Errorf("addressed: %q", id)
		}
		if took := time.Since(start); took != 25*time.Second {
			t.Errorf("after %v", took)
		}
		on, _ := d.Running("a")
		if on.Address.String() != "10.40.0.10/24" {
			t.Errorf("address %v", on.Address)
		}
		if err := n.Await(t.Context(), "10.40.0.10:50000"); err != nil {
			t.Error(err)
		}
		<-d.Addressed()
	})
}

func TestInstantAddressIsNotAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, datacenter.Options{Dir: t.TempDir()})
		m := powerOn(t, d, spec("a"))
		select {
		case <-m.Addressed():
		default:
			t.Error("not addressed")
		}
		synctest.Wait()
		select {
		case id := <-d.Addressed():
			t.Errorf("announced %s", id)
		default:
		}
	})
}

func TestHeldMachineHasNoAddress(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		faults := fault.NewInjector(fault.Plan{Faults: []fault.Fault{{Kind: fault.NoAddress, Machine: "machine-[ab]"}}})
		d := open(t, datacenter.Options{Dir: dir, Faults: faults})
		if m := powerOn(t, d, spec("free")); !m.Address.IsValid() {
			t.Error("a machine that is not held waits")
		}
		powerOn(t, d, spec("a"))
		powerOn(t, d, spec("b"))
		time.Sleep(time.Hour)
		if m, on := d.Running("a"); !on || m.Address.IsValid() {
			t.Errorf("on: %v, address %v", on, m.Address)
		}
		d.PowerOff("b")
		faults.Replace(fault.Plan{})
		if id := <-d.Addressed(); id != "a" {
			t.Errorf("addressed %s", id)
		}
		if m, _ := d.Running("a"); !m.Address.IsValid() {
			t.Error("no address after the hold")
		}
	})
}

func TestFixedAddress(t *testing.T) {
	subnets := map[string]datacenter.Subnet{"": {
		Prefix:   netip.MustParsePrefix("10.40.0.0/24"),
		Reserved: []datacenter.Range{{From: netip.MustParseAddr("10.40.0.100"), To: netip.MustParseAddr("10.40.0.200")}},
	}}
	fixed := func(id, address string) datacenter.Spec {
		s := spec(id)
		s.Address = netip.MustParseAddr(address)
		return s
	}
	n := network.New()
	d := open(t, datacenter.Options{Dir: t.TempDir(), Network: n, Subnets: subnets})
	if m := powerOn(t, d, fixed("a", "10.40.0.150")); m.Address.String() != "10.40.0.150/24" {
		t.Errorf("address %v", m.Address)
	}
	leased := powerOn(t, d, spec("leased"))
	d.PowerOff("a")
	for reason, address := range map[string]string{
		"lease of a machine that is off": "10.40.0.150",
		"lease of a machine that is on":  leased.Address.Addr().String(),
		"other network":                  "10.41.0.7",
		"the gateway":                    "10.40.0.1",
		"broadcast":                      "10.40.0.255",
	} {
		if m, err := d.PowerOn(fixed("late", address)); err == nil || !strings.Contains(err.Error(), address) {
			t.Errorf("%s: %v, %v", reason, m.Address, err)
		}
	}
	if err := d.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if m := powerOn(t, d, fixed("late", "10.40.0.150")); m.Address.String() != "10.40.0.150/24" {
		t.Errorf("address %v", m.Address)
	}
}

func TestKilledMachineIsReportedDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, datacenter.Options{Dir: t.TempDir(), Profile: datacenter.Profile{Boot: time.Hour}})
		d.Kill("unknown")
		powerOn(t, d, spec("a"))
		d.Kill("a") // before it has an address
		if _, on := d.Running("a"); on {
			t.Error("killed and on")
		}
		if id := <-d.Died(); id != "a" {
			t.Errorf("died: %s", id)
		}
		powerOn(t, d, spec("a"))
		d.PowerOff("a")
		synctest.Wait()
		select {
		case id := <-d.Died():
			t.Errorf("%s was switched off, not killed", id)
		default:
		}
	})
}

func TestBootLearnsWhyItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		causes := make(chan error, 1)
		d := open(t, datacenter.Options{Dir: t.TempDir(), Boot: func(ctx context.Context, _ datacenter.Machine) error {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return ctx.Err()
		}})
		powerOn(t, d, spec("a"))
		d.PowerOff("a")
		if cause := <-causes; errors.Is(cause, datacenter.ErrPowerLoss) {
			t.Error("switched off, and a power loss is reported")
		}
		powerOn(t, d, spec("a"))
		d.Kill("a")
		if cause := <-causes; !errors.Is(cause, datacenter.ErrPowerLoss) {
			t.Errorf("killed because of %v", cause)
		}
		<-d.Died()
	})
}

func TestRemovalIsReported(t *testing.T) {
	var removed []string
	dir := t.TempDir()
	d := open(t, datacenter.Options{Dir: dir, Removed: func(id string) {
		if _, err := os.Stat(filepath.Join(dir, "machines", id)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the disk of %s: %v", id, err)
		}
		removed = append(removed, id)
	}})
	powerOn(t, d, spec("a"))
	if err := d.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if len(removed) != 1 || removed[0] != "a" {
		t.Errorf("reported %v", removed)
	}
}

func TestProfiles(t *testing.T) {
	instant, err := datacenter.ProfileNamed("")
	if err != nil || instant != (datacenter.Profile{}) {
		t.Errorf("instant: %+v, %v", instant, err)
	}
	if p, err := datacenter.ProfileNamed(datacenter.Realistic); err != nil || p.Boot != 25*time.Second || p.NodeReady != 15*time.Second {
		t.Errorf("realistic: %+v, %v", p, err)
	}
	if _, err := datacenter.ProfileNamed("slow"); err == nil || !strings.Contains(err.Error(), datacenter.Realistic) {
		t.Errorf("unknown: %v", err)
	}
}
