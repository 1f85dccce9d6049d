// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"log/slog"
	"path/filepath"

	"github.com/butlerdotdev/butler/internal/sim/table"
)

// state is everything that exists, by kind.
type state struct {
	entities   map[string]*table.Table[entity]
	categories *table.Table[category] // by key
	principals *table.Table[principal]
}

func openState(dir string, log *slog.Logger) (s *state, err error) {
	s = &state{entities: map[string]*table.Table[entity]{}}
	for _, kind := range kinds() {
		if s.entities[kind], err = table.Open[entity](filepath.Join(dir, kind), log); err != nil {
			return nil, err
		}
	}
	if s.categories, err = table.Open[category](filepath.Join(dir, kindCategory), log); err != nil {
		return nil, err
	}
	s.principals, err = table.Open[principal](filepath.Join(dir, "principals"), log)
	return s, err
}

// snapshot returns a copy for reads of the past. Callers are the present ones.
func (s *state) snapshot() *state {
	out := &state{entities: map[string]*table.Table[entity]{}, categories: s.categories.Snapshot(), principals: s.principals}
	for kind, t := range s.entities {
		out.entities[kind] = t.Snapshot()
	}
	return out
}

// get returns an entity, also one that does not exist yet or failed to.
func (s *state) get(kind, uuid string) *entity {
	t := s.entities[kind]
	if t == nil {
		return nil
	}
	return t.ByID[uuid]
}

func (s *state) put(e *entity) { s.entities[e.Kind].Put(e.UUID, e) }

func (s *state) remove(e *entity) { s.entities[e.Kind].Remove(e.UUID) }

// all returns the entities of a kind that exist, in the order of their UUIDs.
func (s *state) all(kind string) []*entity {
	return s.entities[kind].Where(func(e *entity) bool { return e.Exists })
}
