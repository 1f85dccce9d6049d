// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/plane/guest"
	"github.com/butlerdotdev/butler/internal/plane/kind"
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

// createDirs creates what is missing of the directories of a workspace, whose plane is to
// be the chosen one.
func (w Workspace) createDirs(choice PlaneChoice) (c Created, err error) {
	c = Created{Workspace: w, newLog: !exists(w.LogFile())}
	if err := w.refuseForeign(); err != nil {
		return c, err
	}
	if c.newDir, err = w.claimDir(); err != nil {
		return c, err
	}
	if c.NewPlane, err = claim(w.PlaneDir(), IsPlane, mark{Rehearsal: &w.Rehearsal, Plane: choice.record(w.Name)}); err != nil {
		return c, err
	}
	if !c.NewPlane {
		err = choice.refuseOther(w)
	}
	if err == nil {
		err = choice.keepKubeconfig(w)
	}
	if err == nil {
		err = choice.keepNodeImage(w)
	}
	if err != nil || !w.Rehearsal {
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

// Discard removes what the run has created. The engine is that of Open.
func (c Created) Discard(ctx context.Context, e kind.Engine) error {
	var err error
	if c.newSim {
		err = errors.Join(sim.Stop(ctx, c.SimDir()), remove(c.SimDir(), IsSim))
	}
	if c.NewPlane {
		err = errors.Join(err, c.releasePlane(ctx, e), c.unlink(), remove(c.PlaneDir(), IsPlane))
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

// Remove removes the state, unless another command has begun to use it. What is left of
// the cluster on a plane of the user is removed first; with force the state is removed
// even if that fails, and left is the error. The engine is that of Open.
func (w Workspace) Remove(ctx context.Context, e kind.Engine, force bool) (left, err error) {
	if !w.HasPlane() {
		return nil, w.discard(ctx)
	}
	held, err := lock.Acquire(ctx, w.PlaneDir(), "butleradm forget "+w.Name)
	if err != nil {
		return nil, err
	}
	if left = w.releasePlane(ctx, e); left != nil && !force {
		return nil, errors.Join(left, held.Release())
	}
	return left, errors.Join(w.discard(ctx), held.Release())
}

// releasePlane removes what a cluster has on a plane that outlives the state directory.
func (w Workspace) releasePlane(ctx context.Context, e kind.Engine) error {
	switch w.Plane().Kind {
	case Guest:
		return guest.Release(context.WithoutCancel(ctx), w.guestOptions("butleradm"))
	case Kind:
		return kind.Release(w.kindOptions("butleradm", e))
	case Embedded:
	}
	return nil
}
