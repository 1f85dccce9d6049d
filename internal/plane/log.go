// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// logTail is how much of a log is read to explain a failure: the stacks of a process that crashed
// come after the cause.
const logTail = 1 << 20

// openLog opens a new log. The one before is kept beside it, and so is that of the last crash,
// however many starts there were since.
func openLog(dir, name string) (*os.File, error) {
	path := filepath.Join(dir, "logs", name+".log")
	kept := path + ".previous"
	if lines, err := tail(path); err == nil && crash(lines) != "" {
		kept = path + ".crash"
	}
	if err := os.Rename(path, kept); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

// LastLine returns the last line of a log; of a process that crashed, the line with the cause.
func LastLine(path string) string {
	lines, err := tail(path)
	if err != nil {
		return err.Error()
	}
	if cause := crash(lines); cause != "" {
		return cause
	}
	return lines[len(lines)-1]
}

// crash returns the line of a crash that has the cause; empty if there is none.
func crash(lines []string) string {
	for _, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
	}
	return ""
}

// tail returns the last lines of a file, at least one.
func tail(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > logTail {
		_, _ = f.Seek(-logTail, io.SeekEnd)
	}
	data, err := io.ReadAll(f)
	return strings.Split(strings.TrimSpace(string(data)), "\n"), err
}
