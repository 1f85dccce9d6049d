// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

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
	if usual, err := w.usual(); err != nil || w.dir != resolve(usual) {
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
		return workspace{}, usage("--real and --rehearse exclude each other")
	}
	if !regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`).MatchString(name) {
		return workspace{}, usage("%q is not the name of a cluster", name)
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
		if exists(w.plane()) && c.fits(w) {
			found = append(found, w)
		}
	}
	switch len(found) {
	case 0:
		return workspace{}, fmt.Errorf("there is no cluster %q in %s; name its directory with --state-dir if it has one", name, h)
	case 1:
		return found[0], nil
	}
	return workspace{}, usage("there is a real and a rehearsed cluster %q; say which with --real or --rehearse", name)
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
	w := workspace{name, dir, exists(filepath.Join(dir, "sim"))}
	if !exists(w.plane()) || !c.fits(w) {
		return w, fmt.Errorf("there is no such cluster in %s", dir)
	}
	return w, nil
}

// create is the workspace of a cluster that is to be made.
func create(name, stateDir string, rehearsal bool) (workspace, error) {
	w := workspace{name: name, rehearsal: rehearsal}
	usual, err := w.usual()
	if err != nil {
		return w, err
	}
	if err := unlinkDangling(usual); err != nil {
		return w, err
	}
	w.dir = resolve(usual)
	if stateDir != "" {
		if w.dir, err = filepath.Abs(stateDir); err != nil {
			return w, err
		}
	}
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return w, fmt.Errorf("make the state directory: %w; choose one that you may write to with --state-dir", err)
	}
	return w, nil
}

// usual is where a cluster lies that has no directory of its own.
func (w workspace) usual() (string, error) {
	h, err := home()
	return filepath.Join(h, folder(w.rehearsal), w.name), err
}

// link leads from the usual place to a workspace that lies elsewhere, so that
// its name suffices later. A cluster of that name that lies at the usual place,
// or whose simulated platform runs, keeps its place.
func (w workspace) link() error {
	usual, err := w.usual()
	if err != nil || resolve(usual) == w.dir {
		return err
	}
	info, err := os.Lstat(usual)
	if err == nil {
		_, _, running := sim.Running(filepath.Join(usual, "sim"))
		if running || info.Mode()&os.ModeSymlink == 0 {
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
	if err != nil || usual == w.dir || resolve(usual) != w.dir {
		return err
	}
	return os.Remove(usual)
}

// unlinkDangling removes a link to a directory that somebody has deleted.
func unlinkDangling(path string) error {
	if _, err := os.Readlink(path); err == nil && !exists(path) {
		return os.Remove(path)
	}
	return nil
}

// discard removes what a bootstrap has made that was refused, and nothing else.
func (w workspace) discard(ctx context.Context) error {
	err := errors.Join(sim.Stop(ctx, w.sim()), w.unlink())
	for _, path := range []string{w.plane(), w.sim(), w.log()} {
		err = errors.Join(err, os.RemoveAll(path))
	}
	// A directory that holds something else stays.
	_ = os.Remove(w.dir)
	return err
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
