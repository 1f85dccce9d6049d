// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/ui"
)

const (
	// destroyed is how many machines a cluster has that is destroyed: a manifest has
	// ten workers at most. BenchmarkDestroy has more of them, without a plane.
	destroyed = 10
	// controlPlanes is the number of control planes in the manifest.
	controlPlanes = 3
)

// destruction measures the destroy of a cluster whose bootstrap is stopped as soon as
// all its machines run.
func destruction(ctx context.Context, l *lab) (values, error) {
	dir := filepath.Join(l.cli.Home(), "destroyed")
	path, err := grown(l)
	if err != nil {
		return nil, err
	}
	m, err := manifest.Load(path)
	if err != nil {
		return nil, err
	}
	if err := startMachines(ctx, l, "bootstrap", string(m.Provider.Spec.Provider), "-c", path, "--rehearse", "--state-dir", dir, "--output", "json"); err != nil {
		return nil, err
	}
	start := time.Now()
	err = l.quietly(ctx, "destroy", m.Cluster.Name, "--yes", "--state-dir", dir)
	took := time.Since(start)
	return values{"took": took.Seconds()}, errors.Join(err, l.quietly(ctx, "sim", "stop", "--state-dir", dir))
}

// grown is the manifest with as many machines as are destroyed.
func grown(l *lab) (path string, err error) {
	const workers = "    workers:\n      replicas: "
	data, err := os.ReadFile(l.manifest)
	if err != nil {
		return "", err
	}
	before, after, ok := strings.Cut(string(data), workers)
	if !ok {
		return "", fmt.Errorf("%s has no workers", l.manifest)
	}
	_, after, _ = strings.Cut(after, "\n")
	path = filepath.Join(l.cli.Home(), "destroyed.yaml")
	text := fmt.Sprintf("%s%s%d\n%s", before, workers, destroyed-controlPlanes, after)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// startMachines interrupts a bootstrap as soon as its machines run.
func startMachines(ctx context.Context, l *lab, args ...string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := l.cli.Command(ctx, args...)
	cmd.Stdout, cmd.Stderr = nil, nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	running := awaitRunning(out)
	stop()
	_, _ = io.Copy(io.Discard, out)
	err = cmd.Wait()
	if running < destroyed {
		return fmt.Errorf("butleradm bootstrap ended when %d of %d machines ran: %w", running, destroyed, err)
	}
	return nil
}

// awaitRunning reads events until all machines run, and returns how many do.
func awaitRunning(events io.Reader) int {
	running := map[string]bool{}
	for decoder := json.NewDecoder(events); len(running) < destroyed; {
		var e ui.Event
		if decoder.Decode(&e) != nil {
			break
		}
		if e.Machine != nil && e.Machine.Phase == v1alpha1.MachineRunning {
			running[e.Machine.Name] = true
		}
	}
	return len(running)
}
