// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/butlerdotdev/butler/internal/failure"
)

// FindRehearsals returns the rehearsals that the arguments of a command name; all of
// them without arguments.
func (c Choice) FindRehearsals(verb string, args []string) ([]Workspace, error) {
	switch {
	case len(args) == 0 && c.StateDir != "":
		dir, err := filepath.Abs(c.StateDir)
		w := Workspace{Name: filepath.Base(dir), Dir: dir, Rehearsal: true}
		return []Workspace{w}, errors.Join(err, w.refuseForeign())
	case len(args) == 0:
		return Rehearsals()
	case len(args) == 1:
		c.Rehearse = true
		w, err := c.Find(args[0])
		return []Workspace{w}, err
	}
	return nil, failure.Usagef("sim %s takes the name of one cluster, or none", verb)
}

// Rehearsals returns the rehearsed clusters below $BUTLER_HOME.
func Rehearsals() (out []Workspace, err error) {
	all, err := All()
	for _, w := range all {
		if w.Rehearsal {
			out = append(out, w)
		}
	}
	return out, err
}

// All returns all clusters below $BUTLER_HOME.
func All() (out []Workspace, err error) {
	h, err := Home()
	if err != nil {
		return nil, err
	}
	for _, rehearsal := range []bool{false, true} {
		entries, err := os.ReadDir(filepath.Join(h, folder(rehearsal)))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		for _, e := range entries {
			w := Workspace{Name: e.Name(), Dir: resolve(filepath.Join(h, folder(rehearsal), e.Name())), Rehearsal: rehearsal}
			if IsPlane(w.PlaneDir()) {
				out = append(out, w)
			}
		}
	}
	return out, nil
}
