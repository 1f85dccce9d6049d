// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package table keeps the objects of a simulated platform, so that they survive a restart
// of the simulator.
package table

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Table keeps objects of one kind, each in a file. It is guarded by the lock of its
// platform.
type Table[T any] struct {
	// ByID has the objects. Changes of one are kept with Put.
	ByID map[string]*T

	dir string // empty: nothing is kept
	log *slog.Logger
}

// Open returns the table in a directory with the objects that it has.
func Open[T any](dir string, log *slog.Logger) (*Table[T], error) {
	t := &Table[T]{dir: dir, log: log, ByID: map[string]*T{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := t.read(file); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *Table[T]) read(file string) error {
	id, err := url.PathUnescape(strings.TrimSuffix(filepath.Base(file), ".json"))
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	o := new(T)
	if err := json.Unmarshal(raw, o); err != nil {
		return err
	}
	t.ByID[id] = o
	return nil
}

func (t *Table[T]) file(id string) string {
	return filepath.Join(t.dir, url.PathEscape(id)+".json")
}

// Put adds an object, or keeps the changes of one.
func (t *Table[T]) Put(id string, o *T) {
	t.ByID[id] = o
	if t.dir == "" {
		return
	}
	raw, err := json.Marshal(o)
	if err == nil {
		file := t.file(id)
		err = errors.Join(os.WriteFile(file+".new", raw, 0o600), os.Rename(file+".new", file))
	}
	if err != nil {
		t.log.Error("keep an object of the simulated platform", "id", id, "err", err)
	}
}

// Ensure adds an object unless there is one.
func (t *Table[T]) Ensure(id string, o *T) {
	if t.ByID[id] == nil {
		t.Put(id, o)
	}
}

// Remove removes an object. One that does not exist is no error.
func (t *Table[T]) Remove(id string) {
	delete(t.ByID, id)
	if t.dir == "" {
		return
	}
	if err := os.Remove(t.file(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.log.Error("remove an object of the simulated platform", "id", id, "err", err)
	}
}

// All returns the objects in the order of their IDs.
func (t *Table[T]) All() []*T { return t.Where(func(*T) bool { return true }) }

// Where returns the objects that fit, in the order of their IDs.
func (t *Table[T]) Where(fits func(*T) bool) []*T {
	ids := slices.DeleteFunc(slices.Collect(maps.Keys(t.ByID)), func(id string) bool { return !fits(t.ByID[id]) })
	slices.Sort(ids)
	out := make([]*T, 0, len(ids))
	for _, id := range ids {
		out = append(out, t.ByID[id])
	}
	return out
}

// Snapshot returns a copy that is not kept.
func (t *Table[T]) Snapshot() *Table[T] {
	out := &Table[T]{log: t.log, ByID: map[string]*T{}}
	for id, o := range t.ByID {
		raw, err := json.Marshal(o)
		c := new(T)
		if err == nil && json.Unmarshal(raw, c) == nil {
			out.ByID[id] = c
		}
	}
	return out
}
