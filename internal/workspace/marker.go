// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/lock"
)

// marker is the file that butleradm leaves in a directory that it has created, or
// has taken over empty. Only what is beside a marker is ever removed.
const marker = ".butleradm"

// mark is the content of a marker.
type mark struct {
	// Created says that the directory itself was created, too.
	Created bool `json:"created"`
	// Rehearsal is set on the plane of a cluster, and says of which kind it is.
	Rehearsal *bool `json:"rehearsal,omitempty"`
	// Plane is set on the plane of a cluster, unless that is embedded.
	Plane *Record `json:"plane,omitempty"`
}

// errForeign is what a directory is refused with that is not butleradm's.
var errForeign = errors.New("was not created by butleradm")

// claim creates a directory, or takes over one that is empty, and leaves a marker
// there. It reports whether it did: a directory that is ours already is left as it
// is, and one with anything else in it is refused.
func claim(dir string, ours func(string) bool, m mark) (claimed bool, err error) {
	err = os.Mkdir(dir, 0o700)
	m.Created = err == nil
	switch {
	case err == nil:
	case !errors.Is(err, os.ErrExist):
		return false, fmt.Errorf("create %s: %w; choose a directory that you may write to with --state-dir", dir, err)
	case ours(dir):
		return false, nil
	case !isEmpty(dir):
		return false, foreign(dir)
	}
	return true, m.write(dir)
}

// ClaimAlone is claim for a plane or a simulated platform that belongs to no cluster.
func ClaimAlone(dir string, ours func(string) bool) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("create %s: %w; choose a directory that you may write to with --state-dir", dir, err)
	}
	_, err := claim(dir, ours, mark{})
	return err
}

func foreign(dir string) error {
	return failure.Usagef("%s %w; move it elsewhere, or choose another --state-dir", dir, errForeign)
}

// refuseForeign refuses a directory that has something in it which is not ours.
func refuseForeign(dir string, ours func(string) bool) error {
	if !exists(dir) || ours(dir) || isEmpty(dir) {
		return nil
	}
	return foreign(dir)
}

func isEmpty(dir string) bool {
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	_, err = d.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

func (m mark) write(dir string) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, marker), append(data, '\n'), 0o600)
}

// readMark reads the marker of a directory, if it has one.
func readMark(dir string) (m mark, ok bool) {
	data, err := os.ReadFile(filepath.Join(dir, marker))
	return m, err == nil && json.Unmarshal(data, &m) == nil
}

// IsPlane reports whether a directory is that of a plane. Those of versions without
// markers are known by their lock and their PKI.
func IsPlane(dir string) bool {
	_, marked := readMark(dir)
	return marked || wasLocked(dir) && exists(filepath.Join(dir, "pki"))
}

// IsSim reports whether a directory is that of a simulated platform. Those of
// versions without markers are known by their lock, and before that is taken by
// what the process was started with.
func IsSim(dir string) bool {
	_, marked := readMark(dir)
	setup := exists(filepath.Join(dir, "setup.json"))
	return marked || wasLocked(dir) && (setup || exists(filepath.Join(dir, "proxy"))) || setup && exists(filepath.Join(dir, "sim.log"))
}

// wasLocked reports whether a process of ours has ever held a directory.
func wasLocked(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "lock"))
	var h lock.Holder
	return err == nil && json.Unmarshal(data, &h) == nil && h.PID > 0 && h.Name != ""
}

// remove removes a directory of ours, its marker last: an interrupted removal can be
// repeated. The directory itself stays if it was there before, and a link to another
// place stays with all that it points to.
func remove(dir string, ours func(string) bool) error {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || !ours(dir) {
		return ignoreMissing(err)
	}
	m, marked := readMark(dir)
	if !marked {
		return os.RemoveAll(dir)
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != marker {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return m.removeFrom(dir)
}

// removeFrom removes a marker and, if it was created with it, its directory, unless
// something else is there.
func (m mark) removeFrom(dir string) error {
	err := ignoreMissing(os.Remove(filepath.Join(dir, marker)))
	if err != nil || !m.Created || !isEmpty(dir) {
		return err
	}
	return ignoreMissing(os.Remove(dir))
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
