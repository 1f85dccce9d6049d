// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package workspace keeps the state of clusters on this machine: which directory
// belongs to which cluster, who may use it, and how to read the plane in it.
package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/sim"
)

// Workspace is the directory that keeps the state of one cluster.
type Workspace struct {
	Name      string
	Dir       string
	Rehearsal bool
}

// PlaneDir is the directory of the local plane.
func (w Workspace) PlaneDir() string { return filepath.Join(w.Dir, "plane") }

// SimDir is the directory of the simulated platform of a rehearsal.
func (w Workspace) SimDir() string { return filepath.Join(w.Dir, "sim") }

// LogFile is the log of the controllers on the local plane.
func (w Workspace) LogFile() string { return filepath.Join(w.Dir, "butleradm.log") }

// TimelineFile is the record of what happened in the bootstrap.
func (w Workspace) TimelineFile() string { return filepath.Join(w.Dir, "timeline.jsonl") }

// Kind is "rehearsal" or "real", for people.
func (w Workspace) Kind() string {
	if w.Rehearsal {
		return "rehearsal"
	}
	return "real"
}

// Command returns the command line that runs a verb of butleradm on this cluster.
func (w Workspace) Command(verb string) string {
	c := "butleradm " + verb + " " + w.Name
	if usual, err := w.usual(); err != nil || resolve(w.Dir) != resolve(usual) {
		return c + " --state-dir " + Quoted(w.Dir)
	}
	if strings.HasPrefix(verb, "sim ") {
		return c // there are no simulated platforms but those of rehearsals
	}
	other := Workspace{Name: w.Name, Rehearsal: !w.Rehearsal}
	if usual, err := other.usual(); err == nil && exists(filepath.Join(usual, "plane")) {
		c += " --" + map[bool]string{true: "rehearse", false: "real"}[w.Rehearsal]
	}
	return c
}

// Quoted returns a word quoted for a shell.
func Quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`*?[]#~=%&|;<>(){}!") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Home returns the directory of all clusters that have none of their own.
func Home() (string, error) {
	if h := os.Getenv("BUTLER_HOME"); h != "" {
		return filepath.Abs(h)
	}
	h, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home directory: %w; set BUTLER_HOME", err)
	}
	return filepath.Join(h, ".butler"), nil
}

func folder(rehearsal bool) string {
	if rehearsal {
		return "rehearsals"
	}
	return "clusters"
}

// Create is the workspace of a cluster that is to be created, with what is missing of
// its directories. A cluster that exists keeps its plane; another choice is refused.
func Create(name, stateDir string, rehearsal bool, choice PlaneChoice) (Created, error) {
	w := Workspace{Name: name, Rehearsal: rehearsal}
	usual, err := w.usual()
	if err != nil {
		return Created{}, err
	}
	if err := unlinkDangling(usual); err != nil {
		return Created{}, err
	}
	w.Dir = resolve(usual)
	if stateDir != "" {
		if w.Dir, err = filepath.Abs(stateDir); err != nil {
			return Created{}, err
		}
	}
	if err := w.refuseTaken(); err != nil {
		return Created{}, err
	}
	return w.createDirs(choice)
}

// refuseTaken refuses a new cluster in a directory of its own while the name points to
// another real one, and a cluster of the other kind than the directory holds.
func (w Workspace) refuseTaken() error {
	m, _ := readMark(w.PlaneDir())
	if m.Rehearsal != nil && *m.Rehearsal != w.Rehearsal {
		return failure.Usagef("%s holds a cluster that is %s, not %s; choose another --state-dir", w.Dir, Workspace{Rehearsal: *m.Rehearsal}.Kind(), w.Kind())
	}
	other, lives := w.namesake()
	if !lives || w.Rehearsal || IsPlane(w.PlaneDir()) {
		return nil
	}
	return failure.Usagef("the cluster %s of this machine is in %s; give the new one another name, set BUTLER_HOME to keep them apart, or, if the other is gone for good: butleradm forget %s", w.Name, other, w.Name)
}

// namesake returns the directory of another cluster that the name points to. A
// real one lives as long as its plane is there, a rehearsed one while its simulated
// platform runs.
func (w Workspace) namesake() (dir string, lives bool) {
	usual, err := w.usual()
	if err != nil {
		return "", false
	}
	other := Workspace{Name: w.Name, Dir: resolve(usual), Rehearsal: w.Rehearsal}
	if other.Dir == resolve(w.Dir) {
		return "", false
	}
	if w.Rehearsal {
		_, _, lives = sim.Running(other.SimDir())
		return other.Dir, lives
	}
	return other.Dir, IsPlane(other.PlaneDir())
}

// usual is the directory of a cluster that has none of its own.
func (w Workspace) usual() (string, error) {
	h, err := Home()
	return filepath.Join(h, folder(w.Rehearsal), w.Name), err
}

// HasPlane reports whether the directory of the plane exists.
func (w Workspace) HasPlane() bool { return exists(w.PlaneDir()) }

// HasState reports whether the state directory exists.
func (w Workspace) HasState() bool { return exists(w.Dir) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
