// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
)

const (
	planeRuns = 5
	// planeRest is how long after its start the memory of a plane is looked at: it returns what only
	// the start needed after a few seconds.
	planeRest = 7 * time.Second
)

// planes starts planes in empty directories, one after the other.
func planes(ctx context.Context, l *lab) (values, error) {
	taken := map[string][]float64{}
	for i := range planeRuns {
		one, err := plane(ctx, l, filepath.Join(l.cli.Home(), fmt.Sprintf("plane-%d", i)))
		if err != nil {
			return nil, err
		}
		for key, value := range one {
			taken[key] = append(taken[key], value)
		}
	}
	out := values{}
	for key, all := range taken {
		out[key] = median(all)
	}
	return out, nil
}

// plane starts a plane and stops it when it is at rest.
func plane(ctx context.Context, l *lab, dir string) (values, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := l.cli.Command(ctx, "plane", "--state-dir", dir)
	cmd.Stdout, cmd.Stderr = nil, nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ready := sawKubeconfig(out)
	v := values{"ready": time.Since(start).Seconds(), "cpu": usageOf(l.cli.Home()).cpu}
	if ready {
		pause(ctx, planeRest)
		u := usageOf(l.cli.Home())
		v["memory"], v["anonymous"] = u.memory, u.anonymous
	}
	stop()
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); !ready {
		return nil, fmt.Errorf("butleradm plane ended before it was ready: %w", err)
	}
	return v, nil
}

func sawKubeconfig(out io.Reader) bool {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "kubeconfig: ") {
			return true
		}
	}
	return false
}

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
