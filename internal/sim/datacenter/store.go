// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// store keeps objects on disk, one file each, so that the cost of one does not grow with
// their number. It is not safe for concurrent use.
type store[T any] struct {
	dir  string
	byID map[string]T
}

func openStore[T any](dir string) (*store[T], error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	s := &store[T]{dir: dir, byID: map[string]T{}}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var found T
		if err := json.Unmarshal(raw, &found); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		s.byID[strings.TrimSuffix(filepath.Base(file), ".json")] = found
	}
	return s, nil
}

func (s *store[T]) get(id string) (T, bool) {
	found, ok := s.byID[id]
	return found, ok
}

// put has the object on disk when it returns.
func (s *store[T]) put(id string, object T) error {
	if err := checkID(id); err != nil {
		return err
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return err
	}
	if err := writeDurably(s.file(id), raw); err != nil {
		return err
	}
	s.byID[id] = object
	return nil
}

// remove removes an object. One that does not exist is no error.
func (s *store[T]) remove(id string) error {
	if err := os.Remove(s.file(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	delete(s.byID, id)
	return nil
}

func (s *store[T]) ids() []string { return slices.Sorted(maps.Keys(s.byID)) }

// all returns the objects in the order of their IDs.
func (s *store[T]) all() (out []T) {
	for _, id := range s.ids() {
		out = append(out, s.byID[id])
	}
	return out
}

func (s *store[T]) file(id string) string { return filepath.Join(s.dir, id+".json") }
