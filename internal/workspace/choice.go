// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/butlerdotdev/butler/internal/failure"
)

// Choice is what a user says about which cluster is meant.
type Choice struct {
	StateDir string
	Rehearse bool
	Real     bool
}

// Find returns the workspace of a cluster that exists.
func (c Choice) Find(name string) (Workspace, error) {
	if c.Rehearse && c.Real {
		return Workspace{}, failure.Usagef("--real and --rehearse are mutually exclusive")
	}
	if err := CheckName(name); err != nil {
		return Workspace{}, err
	}
	if c.StateDir != "" {
		return c.findIn(name)
	}
	h, err := Home()
	if err != nil {
		return Workspace{}, err
	}
	var found []Workspace
	for _, rehearsal := range []bool{true, false} {
		w := Workspace{Name: name, Dir: resolve(filepath.Join(h, folder(rehearsal), name)), Rehearsal: rehearsal}
		if IsPlane(w.PlaneDir()) && c.fits(w) {
			found = append(found, w)
		}
	}
	switch len(found) {
	case 0:
		return Workspace{}, fmt.Errorf("there is no cluster %q in %s%s; set --state-dir if its state is elsewhere", name, h, others())
	case 1:
		return found[0], found[0].refuseForeign()
	}
	return Workspace{}, failure.Usagef("there is a real and a rehearsed cluster %q; select one with --real or --rehearse", name)
}

// CheckName refuses what cannot be the name of a cluster.
func CheckName(name string) error {
	if !regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`).MatchString(name) {
		return failure.Usagef("%q is not the name of a cluster: that has lower case letters, digits and -", name)
	}
	return nil
}

// others says which clusters there are.
func others() string {
	all, err := All()
	if err != nil || len(all) == 0 {
		return ""
	}
	var names []string
	for _, w := range all {
		names = append(names, w.Name)
	}
	return ", but " + strings.Join(names, ", ")
}

// fits reports whether a workspace is of the kind that was asked for.
func (c Choice) fits(w Workspace) bool {
	return c.Rehearse == c.Real || c.Rehearse == w.Rehearsal
}

func (c Choice) findIn(name string) (Workspace, error) {
	dir, err := filepath.Abs(c.StateDir)
	if err != nil {
		return Workspace{}, err
	}
	w := Workspace{Name: name, Dir: dir, Rehearsal: isRehearsal(dir)}
	if err := w.refuseForeign(); err != nil {
		return w, err
	}
	if !IsPlane(w.PlaneDir()) || !c.fits(w) {
		return w, fmt.Errorf("there is no cluster %q in %s", name, dir)
	}
	return w, nil
}

// isRehearsal reports of which kind the cluster in a directory is. One of a version
// without markers is a rehearsal if its simulated platform is beside it.
func isRehearsal(dir string) bool {
	if m, ok := readMark(filepath.Join(dir, "plane")); ok && m.Rehearsal != nil {
		return *m.Rehearsal
	}
	return IsSim(filepath.Join(dir, "sim"))
}

// Place returns where the state of a cluster would be; nothing need be there.
func (c Choice) Place(name string) (Workspace, error) {
	if c.Rehearse && c.Real {
		return Workspace{}, failure.Usagef("--real and --rehearse are mutually exclusive")
	}
	w := Workspace{Name: name, Rehearsal: c.Rehearse}
	usual, err := w.usual()
	if err != nil {
		return w, err
	}
	if w.Dir = resolve(usual); c.StateDir != "" {
		w.Dir, err = filepath.Abs(c.StateDir)
	}
	return w, errors.Join(err, w.refuseForeign())
}

// Locate finds the workspace of a cluster, also where only the log or the simulated
// platform is left of it.
func (c Choice) Locate(name string) (Workspace, error) {
	w, err := c.Find(name)
	if err == nil || failure.KindOf(err) == failure.Usage {
		return w, err
	}
	for _, rehearsal := range []bool{true, false} {
		rest, problem := Choice{StateDir: c.StateDir, Rehearse: rehearsal}.Place(name)
		if problem == nil && c.fits(rest) && (IsSim(rest.SimDir()) && rehearsal || exists(rest.LogFile()) && !rehearsal) {
			return rest, nil
		}
	}
	return w, err
}
