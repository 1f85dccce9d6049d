// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/sim"
)

// workspace is where the state of one cluster is kept.
type workspace struct {
	name      string
	dir       string
	rehearsal bool
}

func (w workspace) plane() string { return filepath.Join(w.dir, "plane") }
func (w workspace) sim() string   { return filepath.Join(w.dir, "sim") }
func (w workspace) log() string   { return filepath.Join(w.dir, "butleradm.log") }

// command is how to call butleradm for this cluster.
func (w workspace) command(verb string) string {
	c := "butleradm " + verb + " " + w.name
	if usual, err := w.usual(); err != nil || resolve(w.dir) != resolve(usual) {
		return c + " --state-dir " + quoted(w.dir)
	}
	if strings.HasPrefix(verb, "sim ") {
		return c // there are no simulated platforms but those of rehearsals
	}
	other := workspace{name: w.name, rehearsal: !w.rehearsal}
	if usual, err := other.usual(); err == nil && exists(filepath.Join(usual, "plane")) {
		c += " --" + map[bool]string{true: "rehearse", false: "real"}[w.rehearsal]
	}
	return c
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`*?[]#~=%&|;<>(){}!") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// home is where all clusters are kept that have no directory of their own.
func home() (string, error) {
	if h := os.Getenv("BUTLER_HOME"); h != "" {
		return filepath.Abs(h)
	}
	h, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find a place for state: %w; set BUTLER_HOME", err)
	}
	return filepath.Join(h, ".butler"), nil
}

func folder(rehearsal bool) string {
	if rehearsal {
		return "rehearsals"
	}
	return "clusters"
}

// choice is how a user says which cluster is meant.
type choice struct {
	stateDir string
	rehearse bool
	real     bool
}

func (c *choice) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.stateDir, "state-dir", "", "`DIR` of the cluster's state (default: below $BUTLER_HOME)")
	cmd.Flags().BoolVar(&c.rehearse, "rehearse", false, "the rehearsed cluster of this name")
	cmd.Flags().BoolVar(&c.real, "real", false, "the real cluster of this name")
}

// find is the workspace of a cluster that exists.
func (c choice) find(name string) (workspace, error) {
	if c.rehearse && c.real {
		return workspace{}, failure.Usagef("--real and --rehearse exclude each other")
	}
	if !regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`).MatchString(name) {
		return workspace{}, failure.Usagef("%q is not the name of a cluster", name)
	}
	if c.stateDir != "" {
		return c.findIn(name)
	}
	h, err := home()
	if err != nil {
		return workspace{}, err
	}
	var found []workspace
	for _, rehearsal := range []bool{true, false} {
		w := workspace{name, resolve(filepath.Join(h, folder(rehearsal), name)), rehearsal}
		if isPlane(w.plane()) && c.fits(w) {
			found = append(found, w)
		}
	}
	switch len(found) {
	case 0:
		return workspace{}, fmt.Errorf("there is no cluster %q in %s; name its directory with --state-dir if it has one", name, h)
	case 1:
		return found[0], found[0].refuseForeign()
	}
	return workspace{}, failure.Usagef("there is a real and a rehearsed cluster %q; say which with --real or --rehearse", name)
}

// fits reports whether a workspace is of the kind that was asked for.
func (c choice) fits(w workspace) bool {
	return c.rehearse == c.real || c.rehearse == w.rehearsal
}

func (c choice) findIn(name string) (workspace, error) {
	dir, err := filepath.Abs(c.stateDir)
	if err != nil {
		return workspace{}, err
	}
	w := workspace{name, dir, isRehearsal(dir)}
	if err := w.refuseForeign(); err != nil {
		return w, err
	}
	if !isPlane(w.plane()) || !c.fits(w) {
		return w, fmt.Errorf("there is no such cluster in %s", dir)
	}
	return w, nil
}

// isRehearsal reports of which kind the cluster in a directory is. One of a version
// without markers is a rehearsal if its simulated platform lies beside it.
func isRehearsal(dir string) bool {
	if m, ok := readMark(filepath.Join(dir, "plane")); ok && m.Rehearsal != nil {
		return *m.Rehearsal
	}
	return isSim(filepath.Join(dir, "sim"))
}

// create is the workspace of a cluster that is to be created, with what is missing of
// its directories.
func create(name, stateDir string, rehearsal bool) (claims, error) {
	w := workspace{name: name, rehearsal: rehearsal}
	usual, err := w.usual()
	if err != nil {
		return claims{}, err
	}
	if err := unlinkDangling(usual); err != nil {
		return claims{}, err
	}
	w.dir = resolve(usual)
	if stateDir != "" {
		if w.dir, err = filepath.Abs(stateDir); err != nil {
			return claims{}, err
		}
	}
	if err := w.refuseTaken(); err != nil {
		return claims{}, err
	}
	return w.claim()
}

// refuseTaken refuses a new cluster in a directory of its own while the name points to
// another real one, and a cluster of the other kind than the directory holds.
func (w workspace) refuseTaken() error {
	m, _ := readMark(w.plane())
	if m.Rehearsal != nil && *m.Rehearsal != w.rehearsal {
		return failure.Usagef("%s holds a cluster that is %s, not %s; choose another --state-dir", w.dir, kindOf(workspace{rehearsal: *m.Rehearsal}), kindOf(w))
	}
	other, lives := w.namesake()
	if !lives || w.rehearsal || isPlane(w.plane()) {
		return nil
	}
	return failure.Usagef("the cluster %s of this machine is in %s; give the new one another name, set BUTLER_HOME to keep them apart, or, if the other is gone for good: butleradm forget %s", w.name, other, w.name)
}

// namesake is where another cluster of the same name lies that the name points to. A
// real one lives as long as its plane is there, a rehearsed one while its simulated
// platform runs.
func (w workspace) namesake() (dir string, lives bool) {
	usual, err := w.usual()
	if err != nil {
		return "", false
	}
	other := workspace{w.name, resolve(usual), w.rehearsal}
	if other.dir == resolve(w.dir) {
		return "", false
	}
	if w.rehearsal {
		_, _, lives = sim.Running(other.sim())
		return other.dir, lives
	}
	return other.dir, isPlane(other.plane())
}

// usual is where a cluster lies that has no directory of its own.
func (w workspace) usual() (string, error) {
	h, err := home()
	return filepath.Join(h, folder(w.rehearsal), w.name), err
}

// link leads from the usual place to a workspace that lies elsewhere, so that
// its name suffices later. A cluster of that name that lies at the usual place,
// or that the link points to and that lives, keeps its place.
func (w workspace) link() error {
	usual, err := w.usual()
	if err != nil || resolve(usual) == resolve(w.dir) {
		return err
	}
	info, err := os.Lstat(usual)
	if err == nil {
		if _, lives := w.namesake(); lives || info.Mode()&os.ModeSymlink == 0 {
			return nil
		}
		err = os.Remove(usual)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(usual), 0o700); err != nil {
		return err
	}
	return os.Symlink(w.dir, usual)
}

// unlink removes the link that leads to the workspace, if there is one.
func (w workspace) unlink() error {
	usual, err := w.usual()
	if err != nil || usual == w.dir || resolve(usual) != resolve(w.dir) {
		return err
	}
	return ignoreMissing(os.Remove(usual))
}

// unlinkDangling removes a link to a directory that somebody has deleted.
func unlinkDangling(path string) error {
	if _, err := os.Readlink(path); err == nil && !exists(path) {
		return os.Remove(path)
	}
	return nil
}

// resolve follows the link that link made.
func resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
