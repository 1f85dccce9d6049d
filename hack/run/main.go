// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command run starts the given executables and keeps them running together:
// when one ends, or on Ctrl-C, all are asked to stop.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const grace = 15 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := runAll(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}

// runAll returns nil when the context ended the programs, and otherwise an
// error that names the one that ended first.
func runAll(ctx context.Context, paths []string) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for _, path := range paths {
		running.Go(func() {
			err := cmp.Or(runOne(inner, path), errors.New("exit status 0"))
			cancel(fmt.Errorf("%s ended: %w", filepath.Base(path), err))
		})
	}
	running.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(inner)
}

func runOne(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, path)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	cmd.Stdout = os.Stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	name := filepath.Base(path)
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, lines.Text())
	}
	return cmd.Wait()
}
