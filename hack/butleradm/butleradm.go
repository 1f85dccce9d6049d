// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package butleradm runs the built butleradm as a user would, with a private
// $BUTLER_HOME.
package butleradm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// grace is how long a command may take to end after it was interrupted.
const grace = 20 * time.Second

// CLI is a butleradm executable with its own home.
type CLI struct {
	path, home string
}

// New gives the executable at path an empty home of its own.
func New(path string) (*CLI, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "butler-")
	if err != nil {
		return nil, err
	}
	return &CLI{path: path, home: home}, nil
}

// Home is the private $BUTLER_HOME.
func (c *CLI) Home() string { return c.home }

// Command prepares butleradm with args; the end of ctx interrupts it, as
// Ctrl-C would.
func (c *CLI) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.path, args...)
	cmd.Env = append(os.Environ(), "BUTLER_HOME="+c.home)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	return cmd
}

// Run shows the command line and runs it, with its output on the terminal.
func (c *CLI) Run(ctx context.Context, args ...string) error {
	fmt.Printf("\n$ butleradm %s\n", strings.Join(args, " "))
	if err := c.Command(ctx, args...).Run(); err != nil {
		return fmt.Errorf("butleradm %s: %w", args[0], err)
	}
	return nil
}

// Output runs the command and returns what it wrote to standard output.
func (c *CLI) Output(ctx context.Context, args ...string) ([]byte, error) {
	cmd := c.Command(ctx, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("butleradm %s: %w", args[0], err)
	}
	return out.Bytes(), nil
}

// Close ends all simulators of the home and removes it.
func (c *CLI) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err := c.Output(ctx, "sim", "stop")
	return errors.Join(err, os.RemoveAll(c.home))
}
