// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/butlerdotdev/butler/internal/sim"
)

// claims are what a run has created of a workspace. Only that goes if the run is
// refused.
type claims struct {
	workspace
	ofDir, ofPlane, ofSim, ofLog bool
}

// claim creates what is missing of the directories of a workspace.
func (w workspace) claim() (c claims, err error) {
	c = claims{workspace: w, ofLog: !exists(w.log())}
	if err := w.refuseForeign(); err != nil {
		return c, err
	}
	if c.ofDir, err = w.claimDir(); err != nil {
		return c, err
	}
	if c.ofPlane, err = claim(w.plane(), isPlane, mark{Rehearsal: &w.rehearsal}); err != nil || !w.rehearsal {
		return c, err
	}
	c.ofSim, err = claim(w.sim(), isSim, mark{})
	return c, err
}

// claimDir creates the state directory with a marker. One that exists stays as it
// is: it may hold more than the state of a cluster.
func (w workspace) claimDir() (bool, error) {
	if exists(w.dir) {
		return false, nil
	}
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return false, fmt.Errorf("create the state directory: %w; choose one that you may write to with --state-dir", err)
	}
	return true, mark{Created: true}.write(w.dir)
}

// refuseForeign refuses a state directory in which something else lies at the place
// of the plane or of the simulated platform.
func (w workspace) refuseForeign() error {
	return errors.Join(refuseForeign(w.plane(), isPlane), refuseForeign(w.sim(), isSim))
}

// discard removes what the run has created.
func (c claims) discard(ctx context.Context) error {
	var err error
	if c.ofSim {
		err = errors.Join(sim.Stop(ctx, c.sim()), remove(c.sim(), isSim))
	}
	if c.ofPlane {
		err = errors.Join(err, c.unlink(), remove(c.plane(), isPlane))
	}
	if c.ofLog {
		err = errors.Join(err, ignoreMissing(os.Remove(c.log())))
	}
	if c.ofDir {
		err = errors.Join(err, mark{Created: true}.removeFrom(c.dir))
	}
	return err
}

// discard removes the state of a cluster that earlier runs have created.
func (w workspace) discard(ctx context.Context) error {
	err := errors.Join(w.unlink(), remove(w.plane(), isPlane))
	if w.rehearsal && isSim(w.sim()) {
		err = errors.Join(err, sim.Stop(ctx, w.sim()), remove(w.sim(), isSim))
	}
	err = errors.Join(err, ignoreMissing(os.Remove(w.log())))
	m, marked := readMark(w.dir)
	if usual, e := w.usual(); e == nil && usual == w.dir && !marked {
		m.Created = true // below $BUTLER_HOME everything is ours
	}
	return errors.Join(err, m.removeFrom(w.dir))
}
