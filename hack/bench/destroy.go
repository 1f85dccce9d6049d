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
	"github.com/butlerdotdev/butler/hack/butleradm"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/ui"
)

// controlPlanes is the number of control planes in the manifest.
const controlPlanes = 3

// destruction measures the destroy of a cluster whose bootstrap is stopped as soon as
// all its machines run.
func destruction(ctx context.Context, cli *butleradm.CLI, file string) (time.Duration, error) {
	dir := filepath.Join(cli.Home(), "destroyed")
	path, err := grown(cli, file)
	if err != nil {
		return 0, err
	}
	m, err := manifest.Load(path)
	if err != nil {
		return 0, err
	}
	if err := machines(ctx, cli, "bootstrap", string(m.Provider.Spec.Provider), "-c", path, "--rehearse", "--state-dir", dir, "--output", "json"); err != nil {
		return 0, err
	}
	start := time.Now()
	err = cli.Run(ctx, "destroy", m.Cluster.Name, "--yes", "--state-dir", dir)
	took := time.Since(start)
	return took, errors.Join(err, cli.Run(ctx, "sim", "stop", "--state-dir", dir))
}

// grown is the manifest with as many machines as are destroyed.
func grown(cli *butleradm.CLI, file string) (path string, err error) {
	const workers = "    workers:\n      replicas: "
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	before, after, ok := strings.Cut(string(data), workers)
	if !ok {
		return "", fmt.Errorf("%s has no workers", file)
	}
	_, after, _ = strings.Cut(after, "\n")
	path = filepath.Join(cli.Home(), "destroyed.yaml")
	text := fmt.Sprintf("%s%s%d\n%s", before, workers, destroyed-controlPlanes, after)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// machines interrupts a bootstrap as soon as they run.
func machines(ctx context.Context, cli *butleradm.CLI, args ...string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := cli.Command(ctx, args...)
	cmd.Stdout = nil
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
