// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/butlerdotdev/butler/internal/cli"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// What can happen at a boundary.
const (
	kill   = "kill"   // this process is killed
	etcd   = "etcd"   // the store of the local plane is killed
	clock  = "clock"  // the clock of the controllers jumps by the value
	faults = "faults" // the simulated platform gets the fault plan in the file
	hold   = "hold"   // this process makes the file and waits until it is gone
	fill   = "fill"   // the store of the local plane has this many bytes, and they are used up
	played = "kind"   // KIND clusters are played by the cluster in this directory
)

// hooks carry out what happens at boundaries.
func (o orders) hooks(m *memory) cli.Hooks {
	var jump atomic.Int64
	h := cli.Hooks{Quota: o.number(fill)}
	if dir := o.value(played); dir != "" {
		h.Engine, h.PodsReachSimulator = engine{dir}, true
	}
	h.Clock = func() time.Time { return time.Now().Add(time.Duration(jump.Load())) }
	// A boundary may be reached again because of the fault itself: a cluster whose API
	// server dies falls back a phase.
	struck := make([]atomic.Bool, len(o))
	h.At = func(boundary string) {
		for i, one := range o {
			if one.boundary != boundary || struck[i].Swap(true) {
				continue
			}
			if one.what == clock {
				d, _ := time.ParseDuration(one.value) // checked
				jump.Add(int64(d))
			}
			one.carryOut()
		}
		if o.has(restless) && boundary == "pivot/retire" {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			m.writeOn(ctx)
			cancel()
		}
		if o.has(bootstrapTwice) && boundary == "bootstrap/BootstrappingCluster" {
			bootstrapAll()
		}
	}
	return h
}

// cannot is the exit code of a process whose orders could not be carried out.
const cannot = 70

// carryOut executes the order, and then prints it; before a kill it prints first.
func (o order) carryOut() {
	if o.what == kill {
		fmt.Fprintln(os.Stderr, "faulty:", o.text)
	}
	if err := o.strike(); err != nil {
		fmt.Fprintln(os.Stderr, "faulty:", err)
		os.Exit(cannot)
	}
	fmt.Fprintln(os.Stderr, "faulty:", o.text)
}

// strike is all that reaches beyond this process.
func (o order) strike() error {
	switch o.what {
	case kill:
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case etcd:
		return killChild("etcd")
	case fill:
		return fillStore(context.Background())
	case faults:
		plan, err := fault.Load(o.value)
		if err != nil {
			return err
		}
		return sim.SetFaults(context.Background(), filepath.Join(rehearsal(), "sim"), plan)
	case hold:
		return holdUntilGone(o.value)
	}
	return nil
}

// rehearsal is the directory of the only cluster that is rehearsed.
func rehearsal() string {
	all, _ := filepath.Glob(filepath.Join(os.Getenv("BUTLER_HOME"), "rehearsals", "*"))
	if len(all) != 1 {
		return "" // what is looked for there is not found
	}
	return all[0]
}

func holdUntilGone(path string) error {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for exists(path) {
		<-tick.C
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
