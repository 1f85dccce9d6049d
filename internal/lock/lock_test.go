// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package lock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/lock"
)

func TestHolderIsNamedUntilItReleases(t *testing.T) {
	dir := t.TempDir()
	first, err := lock.Acquire(t.Context(), dir, "the first")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Acquire(t.Context(), dir, "the second"); !errors.Is(err, lock.ErrHeld) || !strings.Contains(err.Error(), "the first (pid ") {
		t.Errorf("second: %v", err)
	}
	if h, held := lock.Held(dir); !held || h.PID != os.Getpid() {
		t.Errorf("held by %v, %v", h, held)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if _, held := lock.Held(dir); held {
		t.Error("still held")
	}
}

func TestLockOfADeadHolderIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	// A child that inherited the lock outlives its parent, whose pid is gone.
	child, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := child.WriteString(`{"name":"dead","pid":999999999}`); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(child.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := lock.Acquire(ctx, dir, "next"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while the child lives: %v", err)
	}
	if err := child.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := lock.Acquire(t.Context(), dir, "next")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}
