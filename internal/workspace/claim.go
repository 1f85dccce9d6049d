// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/sim"
)

// Created is a workspace with what a run has created of it. Only that is removed if
// the run is refused.
type Created struct {
	Workspace
	// NewPlane says that the run has created the directory of the plane.
	NewPlane               bool
	newDir, newSim, newLog bool
}

// createDirs creates what is missing of the directories of a workspace.
func (w Workspace) createDirs() (c Created, err error) {
	c = Created{Workspace: w, newLog: !exists(w.LogFile())}
	if err := w.refuseForeign(); err != nil {
		return c, err
	}
	if c.newDir, err = w.claimDir(); err != nil {
		return c, err
	}
	if c.NewPlane, err = claim(w.PlaneDir(), IsPlane, mark{Rehearsal: &w.Rehearsal}); err != nil || !w.Rehearsal {
		return c, err
	}
	c.newSim, err = claim(w.SimDir(), IsSim, mark{})
	return c, err
}

// claimDir creates the state directory with a marker. One that exists stays as it
// is: it may hold more than the state of a cluster.
func (w Workspace) claimDir() (bool, error) {
	if exists(w.Dir) {
		return false, nil
	}
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		return false, fmt.Errorf("create the state directory: %w; choose one that you may write to with --state-dir", err)
	}
	return true, mark{Created: true}.write(w.Dir)
}

// refuseForeign refuses a state directory that has something else at the place
// of the plane or of the simulated platform.
func (w Workspace) refuseForeign() error {
	return errors.Join(refuseForeign(w.PlaneDir(), IsPlane), refuseForeign(w.SimDir(), IsSim))
}

// Discard removes what the run has created.
func (c Created) Discard(ctx context.Context) error {
	var err error
	if c.newSim {
		err = errors.Join(sim.Stop(ctx, c.SimDir()), remove(c.SimDir(), IsSim))
	}
	if c.NewPlane {
		err = errors.Join(err, c.unlink(), remove(c.PlaneDir(), IsPlane))
	}
	if c.newLog {
		err = errors.Join(err, c.removeRecords())
	}
	if c.newDir {
		err = errors.Join(err, mark{Created: true}.removeFrom(c.Dir))
	}
	return err
}

// discard removes the state of a cluster that earlier runs have created.
func (w Workspace) discard(ctx context.Context) error {
	err := errors.Join(w.unlink(), remove(w.PlaneDir(), IsPlane))
	if w.Rehearsal && IsSim(w.SimDir()) {
		err = errors.Join(err, sim.Stop(ctx, w.SimDir()), remove(w.SimDir(), IsSim))
	}
	err = errors.Join(err, w.removeRecords())
	m, marked := readMark(w.Dir)
	if usual, e := w.usual(); e == nil && usual == w.Dir && !marked {
		m.Created = true // below $BUTLER_HOME everything is ours
	}
	return errors.Join(err, m.removeFrom(w.Dir))
}

// removeRecords removes the log and the record of the bootstrap.
func (w Workspace) removeRecords() error {
	return errors.Join(ignoreMissing(os.Remove(w.LogFile())), ignoreMissing(os.Remove(w.TimelineFile())))
}

// Remove removes the state, unless another command has begun to use it.
func (w Workspace) Remove(ctx context.Context) error {
	if !w.HasPlane() {
		return w.discard(ctx)
	}
	held, err := lock.Acquire(ctx, w.PlaneDir(), "butleradm forget "+w.Name)
	if err != nil {
		return err
	}
	return errors.Join(w.discard(ctx), held.Release())
}
