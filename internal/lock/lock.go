// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package lock lets one process at a time hold a directory, and reports the holder
// to others.
package lock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrHeld is the error of Acquire while a live process has the lock.
var ErrHeld = errors.New("in use")

// Holder describes the process that has a lock.
type Holder struct {
	Name  string    `json:"name"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// String names the holder to people.
func (h Holder) String() string {
	return fmt.Sprintf("%s (pid %d, since %s)", h.Name, h.PID, h.Since.Format(time.DateTime))
}

// Lock is held until it is released, or until the process and all children
// that inherited its file are gone.
type Lock struct{ file *os.File }

// Acquire acquires the lock of a directory; name describes the holder. Children of a
// holder that was killed keep it for the moment that they need to end; those
// are waited for.
func Acquire(ctx context.Context, dir, name string) (*Lock, error) {
	file, err := os.OpenFile(path(dir), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			l := &Lock{file}
			if err := l.write(Holder{Name: name, PID: os.Getpid(), Since: time.Now()}); err != nil {
				return nil, errors.Join(err, l.Release())
			}
			return l, nil
		}
		if h, ok := holder(file); ok {
			return nil, errors.Join(fmt.Errorf("%s is %w by %s; stop that first", dir, ErrHeld, h), file.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("wait for the last user of %s to end: %w", dir, ctx.Err()), file.Close())
		case <-tick.C:
		}
	}
}

// Held returns the holder of the lock of dir, if a live process has it.
func Held(dir string) (Holder, bool) {
	file, err := os.Open(path(dir))
	if err != nil {
		return Holder{}, false
	}
	defer file.Close()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err == nil {
		return Holder{}, false
	}
	return holder(file)
}

// File returns the file that a child inherits to keep the lock held.
func (l *Lock) File() *os.File { return l.file }

// Release releases the lock, once no child holds it any more.
func (l *Lock) Release() error { return l.file.Close() }

func path(dir string) string { return filepath.Join(dir, "lock") }

// holder reads who wrote the lock, if that process is alive.
func holder(file *os.File) (h Holder, ok bool) {
	data, err := io.ReadAll(io.NewSectionReader(file, 0, 4096))
	if err != nil || json.Unmarshal(data, &h) != nil {
		return h, false
	}
	err = syscall.Kill(h.PID, 0)
	return h, err == nil || errors.Is(err, syscall.EPERM)
}

func (l *Lock) write(h Holder) error {
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err = l.file.WriteAt(data, 0)
	return err
}
