// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command record runs a rehearsal on a terminal, and writes what a person sees as a moving
// picture, and its timeline as another one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/butlerdotdev/butler/hack/butleradm"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/pty"
)

const (
	// often is how often the picture changes at the most.
	often = 250 * time.Millisecond
	// reading is how long a finished command stays before the next one begins.
	reading = 2500 * time.Millisecond
)

func main() {
	path := flag.String("butleradm", "bin/butleradm", "the executable")
	file := flag.String("manifest", "", "`FILE` with the cluster")
	to := flag.String("to", "docs/images", "`DIR` for the pictures")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := record(ctx, *path, *file, *to); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func record(ctx context.Context, path, file, to string) (err error) {
	m, err := manifest.Load(file)
	if err != nil {
		return err
	}
	cli, err := butleradm.New(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cli.Close()) }()
	cluster := m.Cluster.Spec.Cluster.Name
	t := &tape{cli: cli}
	if err := t.runAll(ctx, []string{"bootstrap", string(m.Provider.Spec.Provider), "-c", file, "--rehearse"}, []string{"status", cluster}); err != nil {
		return err
	}
	timeline, err := cli.Output(ctx, "timeline", cluster, "-o", "svg")
	if err != nil {
		return err
	}
	if err := t.runAll(ctx, []string{"destroy", cluster, "--yes"}); err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil { //nolint:gosec // of the repository
		return err
	}
	return errors.Join(write(filepath.Join(to, "timeline.svg"), timeline), write(filepath.Join(to, "session.svg"), []byte(film(t.frames))))
}

func write(path string, data []byte) error {
	fmt.Printf("%s: %d KB\n", path, len(data)/1000)
	return os.WriteFile(path, data, 0o644) //nolint:gosec // of the repository
}

// tape records what a terminal shows.
type tape struct {
	cli    *butleradm.CLI
	screen screen
	frames []frame
	since  time.Time
}

func (t *tape) runAll(ctx context.Context, commands ...[]string) error {
	for _, args := range commands {
		if err := t.run(ctx, args); err != nil {
			return fmt.Errorf("butleradm %s: %w", args[0], err)
		}
	}
	return nil
}

// run shows a command line, and what the command shows.
func (t *tape) run(ctx context.Context, args []string) error {
	fmt.Fprintf(&t.screen, "\x1b[1m$ butleradm %s\x1b[0m\r\n", strings.Join(args, " "))
	t.take()
	cmd := t.cli.Command(ctx, args...)
	cmd.Env = append(cmd.Env, "TERM=xterm")
	master, err := pty.Start(cmd, pty.Size{Rows: rows, Columns: columns})
	if err != nil {
		return err
	}
	err = errors.Join(t.follow(master), cmd.Wait())
	t.take()
	t.frames[len(t.frames)-1].shown = reading
	t.since = time.Now()
	return errors.Join(err, master.Close())
}

// follow shows what is read, until the command has ended: Linux then refuses to read.
func (t *tape) follow(master io.Reader) error {
	buffer := make([]byte, 64<<10)
	for {
		n, err := master.Read(buffer)
		_, _ = t.screen.Write(buffer[:n])
		if time.Since(t.since) >= often {
			t.take()
		}
		switch {
		case errors.Is(err, syscall.EIO), errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// take adds a frame if the screen has changed. What was shown before it was shown until now.
func (t *tape) take() {
	f, n := t.screen.frame(), len(t.frames)
	if n > 0 && t.frames[n-1].text == f.text {
		return
	}
	if n > 0 && t.frames[n-1].shown == 0 {
		t.frames[n-1].shown = max(time.Since(t.since), often)
	}
	t.frames, t.since = append(t.frames, f), time.Now()
}
