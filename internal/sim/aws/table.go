// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// table keeps objects of one kind, each in a file, so that they survive a restart. It is
// guarded by the lock of the platform.
type table[T any] struct {
	dir  string // empty: nothing is kept
	log  *slog.Logger
	byID map[string]*T
}

func openTable[T any](dir string, log *slog.Logger) (*table[T], error) {
	t := &table[T]{dir: dir, log: log, byID: map[string]*T{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		o := new(T)
		if err := json.Unmarshal(raw, o); err != nil {
			return nil, err
		}
		t.byID[strings.TrimSuffix(filepath.Base(file), ".json")] = o
	}
	return t, nil
}

// put adds an object, or keeps the changes of one.
func (t *table[T]) put(id string, o *T) {
	t.byID[id] = o
	if t.dir == "" {
		return
	}
	raw, err := json.Marshal(o)
	if err == nil {
		file := filepath.Join(t.dir, id+".json")
		err = errors.Join(os.WriteFile(file+".new", raw, 0o600), os.Rename(file+".new", file))
	}
	if err != nil {
		t.log.Error("keep an object of the simulated AWS", "id", id, "err", err)
	}
}

func (t *table[T]) remove(id string) {
	delete(t.byID, id)
	if t.dir == "" {
		return
	}
	if err := os.Remove(filepath.Join(t.dir, id+".json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.log.Error("remove an object of the simulated AWS", "id", id, "err", err)
	}
}

// all returns the objects in the order of their IDs.
func (t *table[T]) all() []*T {
	out := make([]*T, 0, len(t.byID))
	for _, id := range slices.Sorted(maps.Keys(t.byID)) {
		out = append(out, t.byID[id])
	}
	return out
}

// where returns the objects that fit, in the order of their IDs.
func (t *table[T]) where(fits func(*T) bool) (out []*T) {
	var ids []string
	for id, o := range t.byID {
		if fits(o) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		out = append(out, t.byID[id])
	}
	return out
}

// snapshot returns a copy that is not kept.
func (t *table[T]) snapshot() *table[T] {
	out := &table[T]{log: t.log, byID: map[string]*T{}}
	for id, o := range t.byID {
		raw, err := json.Marshal(o)
		c := new(T)
		if err == nil && json.Unmarshal(raw, c) == nil {
			out.byID[id] = c
		}
	}
	return out
}
