// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package boot runs a machine as a command of the user's, for example real Talos
// in QEMU, instead of an emulated node. The page of a simulated platform in
// docs/contributing describes the environment of such a command.
package boot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// defaultGrace is how long a machine may take to power itself off.
const defaultGrace = 10 * time.Second

// Command is a shell command that is the machine: while it runs the machine is on,
// SIGTERM switches it off, and its end is the machine's death.
type Command struct {
	// Line is one program with its arguments, as a shell reads it. It takes the
	// shell's place, so that the signal reaches the program itself.
	Line string
	// Grace is how long the command may take after SIGTERM before it is killed with
	// all that it started; zero means 10 seconds.
	Grace time.Duration
}

// Boot runs a machine while it is powered on; it is a datacenter.Boot. Nothing in
// the command's process group outlives it, nor the process that called it.
func (c Command) Boot(ctx context.Context, m datacenter.Machine) error {
	if c.Grace == 0 {
		c.Grace = defaultGrace
	}
	// Held by the guard too: the machine of a simulator that was killed ends first.
	held, err := lock.Acquire(ctx, m.StateDir, "machine "+m.Name)
	if err == nil {
		err = errors.Join(c.boot(ctx, m, held), held.Release())
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("machine %s: %w; its console is %s", m.Name, err, console(m))
}

func (c Command) boot(ctx context.Context, m datacenter.Machine, held *lock.Lock) error {
	env, err := environment(m)
	if err != nil {
		return err
	}
	screen, err := os.OpenFile(console(m), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer screen.Close()
	p, err := c.start(env, screen, held.File())
	if err != nil {
		return fmt.Errorf("start its boot command: %w", err)
	}
	return p.live(ctx, c.Grace)
}

// environment prepares what the command finds, files included.
func environment(m datacenter.Machine) ([]string, error) {
	disk := filepath.Join(m.StateDir, "disk")
	userData, networkData := filepath.Join(m.StateDir, "user-data"), filepath.Join(m.StateDir, "network-data")
	err := errors.Join(
		os.MkdirAll(disk, 0o700),
		os.WriteFile(userData, m.UserData, 0o600),
		os.WriteFile(networkData, m.NetworkData, 0o600),
	)
	return append(os.Environ(),
		"MACHINE_NAME="+m.Name,
		"MACHINE_UUID="+m.ID,
		"MACHINE_ADDRESS="+text(m.Address),
		"MACHINE_GATEWAY="+text(m.Gateway),
		"MACHINE_MAC="+m.MAC,
		"MACHINE_CPU="+strconv.Itoa(m.CPU),
		"MACHINE_MEMORY_MB="+strconv.Itoa(m.MemoryMB),
		"MACHINE_STATE_DIR="+disk,
		"MACHINE_USER_DATA="+userData,
		"MACHINE_NETWORK_DATA="+networkData,
	), err
}

// text is empty where there is none.
func text(address interface {
	IsValid() bool
	String() string
}) string {
	if !address.IsValid() {
		return ""
	}
	return address.String()
}

// console is the file that gets all that the command prints.
func console(m datacenter.Machine) string { return filepath.Join(m.StateDir, "console.log") }
