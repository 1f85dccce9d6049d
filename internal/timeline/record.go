// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package timeline records what happens in a bootstrap as it happens, and turns the record
// into a picture of it: phases, machines, addons and waits over time, with the critical path.
package timeline

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Kind is what an entry is about.
type Kind string

// The kinds of entries.
const (
	KindPhase   Kind = "phase"
	KindMachine Kind = "machine"
	KindAddon   Kind = "addon"
	KindWait    Kind = "wait"
)

// Entry is a line of the record: something is in a state from this time on. It has no
// credentials: its texts are those of conditions.
type Entry struct {
	Time  time.Time `json:"time"`
	Kind  Kind      `json:"kind"`
	Name  string    `json:"name,omitempty"`
	State string    `json:"state"`
}

// Recorder appends to the record of a cluster.
type Recorder struct {
	path string
	last map[string]string
}

// NewRecorder continues the record in a file.
func NewRecorder(path string) (*Recorder, error) {
	known, err := Read(path)
	r := &Recorder{path: path, last: map[string]string{}}
	for _, e := range known {
		r.last[string(e.Kind)+"/"+e.Name] = e.State
	}
	return r, err
}

// Remove removes the record of a cluster that is to be created again, if there is one.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the record of the run before: %w", err)
	}
	return nil
}

// See records what has changed in a ClusterBootstrap since the last call.
func (r *Recorder) See(cb *v1alpha1.ClusterBootstrap, now time.Time) error {
	var news []Entry
	for _, e := range entriesOf(cb) {
		key := string(e.Kind) + "/" + e.Name
		if known, is := r.last[key]; is && known == e.State || !is && e.State == "" {
			continue
		}
		r.last[key] = e.State
		e.Time = now.UTC()
		news = append(news, e)
	}
	return r.write(news)
}

func (r *Recorder) write(all []Entry) (err error) {
	if len(all) == 0 {
		return nil
	}
	f, err := os.OpenFile(r.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("record the run: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	encoder := json.NewEncoder(f)
	for _, e := range all {
		if err := encoder.Encode(e); err != nil {
			return err
		}
	}
	return nil
}

// Read returns the entries of a record, none if there is no record. A line that a killed
// process has written half is left out.
func Read(path string) (out []Entry, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var e Entry
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			out = append(out, e)
		}
	}
	return out, lines.Err()
}
