// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// openLog sends what the controllers log to a file: the terminal is for people.
func (o *Operation) openLog() (err error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return err
	}
	if err := shorten(o.LogFile(), longestLog); err != nil {
		return err
	}
	o.logFile, err = os.OpenFile(o.LogFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	handler := slog.NewTextHandler(o.logFile, nil)
	ctrllog.SetLogger(logr.FromSlogHandler(handler))
	klog.SetSlogLogger(slog.New(handler))
	slog.SetDefault(slog.New(handler)) // Helm has a few words to say, too
	return nil
}

// longestLog is how long the log of a cluster may be when a command begins.
const longestLog = 16 << 20

// shorten leaves the last eighth of a file that is longer than most, at most.
func shorten(path string, most int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() <= most {
		return err
	}
	tail := make([]byte, most/8)
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("shorten %s: %w", path, err)
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(tail, 0)
	return err
}
