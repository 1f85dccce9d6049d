// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"syscall"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/audit"
)

// Running returns how to reach the simulated platform in dir, and which process
// it is, if it runs and answers.
func Running(dir string) (Info, lock.Holder, bool) {
	holder, held := lock.Held(dir)
	data, err := os.ReadFile(infoPath(dir))
	var i Info
	if !held || err != nil || json.Unmarshal(data, &i) != nil || i.PID != holder.PID {
		return Info{}, holder, false
	}
	return i, holder, true
}

// settled waits until the platform in dir runs, or does not: one that starts or
// ends holds its lock, but does not answer.
func settled(ctx context.Context, dir string) (Info, bool, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		i, _, running := Running(dir)
		if _, held := lock.Held(dir); running || !held {
			return i, running, nil
		}
		select {
		case <-ctx.Done():
			return Info{}, false, fmt.Errorf("wait for the simulated platform in %s: %w", dir, ctx.Err())
		case <-tick.C:
		}
	}
}

// Ensure starts the platform in dir with this setup, as a process that
// outlives the caller. One that runs with another one is started again; what
// it holds stays. One that is to expect more machines, and nothing else, is not.
func Ensure(ctx context.Context, dir, executable string, p v1alpha1.ProviderType, s Setup) (Info, error) {
	i, running, err := settled(ctx, dir)
	if err != nil {
		return Info{}, err
	}
	known, err := lastSetup(dir)
	if err != nil {
		return Info{}, err
	}
	s.Seed.Desired = audit.Raised(known.Seed.Desired, s.Seed.Desired)
	if running {
		if i.Setup.Seed.Desired = known.Seed.Desired; i.Provider == p && reflect.DeepEqual(i.Setup, s) {
			return i, nil
		}
		if i.Provider == p && isLarger(i.Setup, s) {
			return i, expect(ctx, dir, s)
		}
		if err := Stop(ctx, dir); err != nil {
			return Info{}, err
		}
	}
	return launch(ctx, dir, executable, p, s)
}

// Resume starts the platform in dir with the setup that it was last started
// with.
func Resume(ctx context.Context, dir, executable string, p v1alpha1.ProviderType) (Info, error) {
	i, running, err := settled(ctx, dir)
	if err != nil || running {
		return i, err
	}
	if _, err := os.Stat(setupPath(dir)); err != nil {
		return Info{}, fmt.Errorf("find out what the simulated platform was started with: %w", err)
	}
	s, err := lastSetup(dir)
	if err != nil {
		return Info{}, err
	}
	return launch(ctx, dir, executable, p, s)
}

// lastSetup is what the platform in dir was last started with; nothing, if it never was.
func lastSetup(dir string) (s Setup, err error) {
	data, err := os.ReadFile(setupPath(dir))
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return s, fmt.Errorf("find out what the simulated platform was started with: %w", err)
	}
	return s, nil
}

// isLarger reports whether two setups differ in the number of machines alone.
func isLarger(known, s Setup) bool {
	known.Seed.Desired = s.Seed.Desired
	return reflect.DeepEqual(known, s)
}

// expect makes the platform that runs in dir expect as many machines as a setup has, also
// when it is started again.
func expect(ctx context.Context, dir string, s Setup) error {
	desired, err := json.Marshal(s.Seed.Desired)
	if err != nil {
		return err
	}
	if _, err := ask(ctx, dir, http.MethodPut, "/desired", desired); err != nil {
		return err
	}
	return writeSetup(dir, s)
}

func writeSetup(dir string, s Setup) error {
	setup, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return plane.WriteFile(setupPath(dir), setup)
}

func setupPath(dir string) string { return filepath.Join(dir, "setup.json") }

func launch(ctx context.Context, dir, executable string, p v1alpha1.ProviderType, s Setup) (Info, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Info{}, err
	}
	if err := writeSetup(dir, s); err != nil {
		return Info{}, err
	}
	log, err := os.OpenFile(filepath.Join(dir, "sim.log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return Info{}, err
	}
	defer log.Close()
	cmd := exec.Command(executable, "sim", string(p), "--state-dir", dir, "--setup", setupPath(dir))
	cmd.Stdout, cmd.Stderr = log, log
	// A session of its own: neither Ctrl-C nor the end of a terminal reaches it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return Info{}, err
	}
	return await(ctx, dir, cmd, log.Name())
}

// await waits until the new process answers.
func await(ctx context.Context, dir string, cmd *exec.Cmd, log string) (Info, error) {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if i, h, ok := Running(dir); ok && h.PID == cmd.Process.Pid {
			return i, nil
		}
		select {
		case <-ended:
			return Info{}, fmt.Errorf("the simulated platform did not start: %s; its log is %s", plane.LastLine(log), log)
		case <-ctx.Done():
			return Info{}, ctx.Err()
		case <-tick.C:
		}
	}
}

// Stop ends the platform in dir, if it runs. Its state stays.
func Stop(ctx context.Context, dir string) error {
	h, held := lock.Held(dir)
	if !held {
		return nil
	}
	if err := syscall.Kill(h.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop %s: %w", h, err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for held {
		select {
		case <-ctx.Done():
			return fmt.Errorf("stop %s: %w", h, ctx.Err())
		case <-tick.C:
			_, held = lock.Held(dir)
		}
	}
	return nil
}
