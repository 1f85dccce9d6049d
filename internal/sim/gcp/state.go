// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/butlerdotdev/butler/internal/sim/table"
)

// state is everything that exists in the project, by collection.
type state struct {
	tables map[string]*table.Table[resource]
	// principals are service accounts, sessions the access tokens that were given out.
	principals *table.Table[principal]
	sessions   *table.Table[session]
}

func openState(dir string, log *slog.Logger) (s *state, err error) {
	s = &state{tables: map[string]*table.Table[resource]{}}
	for _, k := range kinds() {
		if s.tables[k.collection], err = table.Open[resource](filepath.Join(dir, k.collection), log); err != nil {
			return nil, err
		}
	}
	if s.principals, err = table.Open[principal](filepath.Join(dir, "principals"), log); err != nil {
		return nil, err
	}
	s.sessions, err = table.Open[session](filepath.Join(dir, "sessions"), log)
	return s, err
}

// snapshot returns a copy for reads of the past. Callers are the present ones.
func (s *state) snapshot() *state {
	out := &state{tables: map[string]*table.Table[resource]{}, principals: s.principals, sessions: s.sessions}
	for collection, t := range s.tables {
		out.tables[collection] = t.Snapshot()
	}
	return out
}

// get returns the resource of a path, also one that is being created.
func (s *state) get(path string) *resource {
	t := s.tables[collectionOf(path)]
	if t == nil {
		return nil
	}
	return t.ByID[path]
}

// ready returns the resource of a path that has been created.
func (s *state) ready(path string) *resource {
	if r := s.get(path); r != nil && !r.Pending {
		return r
	}
	return nil
}

func (s *state) put(r *resource) { s.tables[r.collection()].Put(r.Path, r) }

func (s *state) remove(path string) { s.tables[collectionOf(path)].Remove(path) }

// all returns the resources of a collection that have been created, in the order of their
// paths.
func (s *state) all(collection string) []*resource {
	return s.tables[collection].Where(func(r *resource) bool { return !r.Pending })
}

// users returns the paths of the resources of some collections that refer to a link.
func (s *state) users(link string, collections ...string) (out []string) {
	for _, collection := range collections {
		for _, r := range s.tables[collection].ByID {
			if refers(map[string]any(r.Object), link) {
				out = append(out, r.Path)
			}
		}
	}
	slices.Sort(out)
	return out
}

func refers(value any, link string) bool {
	switch v := value.(type) {
	case string:
		return v == link
	case object:
		return refers(map[string]any(v), link)
	case map[string]any:
		for key, one := range v {
			if key != "selfLink" && refers(one, link) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(one any) bool { return refers(one, link) })
	}
	return false
}
