// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pty_test

import (
	"bufio"
	"errors"
	"os/exec"
	"syscall"
	"testing"

	"github.com/butlerdotdev/butler/internal/pty"
)

func TestCommandKnowsTheSizeOfItsTerminal(t *testing.T) {
	cmd := exec.Command("sh", "-c", "trap 'stty size; exit' WINCH; stty size; while :; do sleep 0.05; done")
	screen, err := pty.Start(cmd, pty.Size{Rows: 24, Columns: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	lines := bufio.NewScanner(screen)
	for _, want := range []string{"24 80", "10 40"} {
		if !lines.Scan() || lines.Text() != want {
			t.Errorf("got %q, want %q: %v", lines.Text(), want, lines.Err())
		}
		if err := pty.Resize(screen, pty.Size{Rows: 10, Columns: 40}); err != nil {
			t.Error(err)
		}
	}
	if lines.Scan() || !errors.Is(lines.Err(), syscall.EIO) {
		t.Errorf("the terminal outlives its command: %q, %v", lines.Text(), lines.Err())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestCommandThatIsMissingIsAnError(t *testing.T) {
	if screen, err := pty.Start(exec.Command("/nowhere"), pty.Size{}); err == nil {
		t.Errorf("started on %s", screen.Name())
	}
}
