// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

func TestHostsByScheme(t *testing.T) {
	secure, plain := cloud.Hosts("https://a.example:8443/x", "", "http://b.example", "no URL at all\x7f", "c.example")
	if !slices.Equal(secure, []string{"a.example:8443"}) || !slices.Equal(plain, []string{"b.example"}) {
		t.Errorf("with TLS %v, without %v", secure, plain)
	}
}

// broken is a platform that cannot be opened.
type broken struct {
	*cloud.Base
	stopped *bool
}

func (broken) Credentials() map[string]string { return nil }
func (broken) Admin() string                  { return "" }
func (broken) Open(context.Context) error     { return errors.New("no port") }
func (b broken) Stop() error                  { *b.stopped = true; return nil }

type seed struct {
	Region string `json:"region"`
}

func TestAPlatformThatCannotBeOpenedIsStopped(t *testing.T) {
	stopped, region := false, ""
	start := cloud.Start("Example", func(o facade.Options, s seed) (broken, error) {
		region = s.Region
		base, err := cloud.New(o, true, cloud.Behaviour{})
		return broken{base, &stopped}, err
	})
	for raw, want := range map[string]string{`{"region":"a"}`: "start simulated Example: no port", "[": "seed of simulated Example: "} {
		_, err := start(t.Context(), facade.Options{Dir: t.TempDir(), Seed: []byte(raw)})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
	if !stopped || region != "a" {
		t.Errorf("stopped %t, seed %q", stopped, region)
	}
}

// TestNothingHappensAfterStop: what a platform has planned ends with it.
func TestNothingHappensAfterStop(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b, err := cloud.New(facade.Options{Dir: dir}, true, cloud.Behaviour{})
		if err != nil {
			t.Fatal(err)
		}
		var done []string
		note := func(what string) func() { return func() { done = append(done, what) } }
		b.Later(time.Second, note("soon"))
		b.Later(time.Hour, note("late"))
		time.Sleep(time.Minute)
		if err := errors.Join(b.Stop(), b.Stop(), b.Wait()); err != nil {
			t.Error(err)
		}
		b.Do(note("after"))
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if !slices.Equal(done, []string{"soon"}) {
			t.Errorf("done: %v", done)
		}
	})
}

// TestFaultsHappenToMachinesThatStart: a copy is not copied again, and a machine that was
// stopped before its drain stays so.
func TestFaultsHappenToMachinesThatStart(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		plan, err := fault.Parse([]byte("faults:\n- {kind: clone, machine: m}\n- {kind: drain, machine: m, after: 1m}"))
		if err != nil {
			t.Fatal(err)
		}
		faults := fault.NewInjector(plan)
		faults.Begin()
		b, err := cloud.New(facade.Options{Dir: dir, Faults: faults}, true, cloud.Behaviour{})
		if err != nil {
			t.Fatal(err)
		}
		var cloned []string
		asked := 0
		machine := func(id string) cloud.Machine {
			return cloud.Machine{ID: id, Name: "m", Copy: id == "copy", Clone: func() { cloned = append(cloned, id) }, Runs: func() bool { asked++; return false }}
		}
		b.Do(func() { b.Started(machine("copy")) })
		b.Do(func() { b.Started(machine("original")) })
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if !slices.Equal(cloned, []string{"original"}) || asked != 1 {
			t.Errorf("copied %v, asked %d times whether it runs", cloned, asked)
		}
		_ = b.Stop()
	})
}
