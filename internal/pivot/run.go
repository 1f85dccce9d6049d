// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const (
	// fieldOwner is the field manager of a move.
	fieldOwner = client.FieldOwner("butler-pivot")
	// maxCopies is how often a move copies while other processes write to From.
	maxCopies = 3
	// maxConcurrent is how many objects are written at the same time.
	maxConcurrent = 16
	// takeBackWithin bounds a roll back.
	takeBackWithin = 30 * time.Second
)

// run is one call of Run.
type run struct {
	*Move
	from, to Plane
	transfer
	kinds     []kind
	clusterID string
	journal   journal
	stage     Stage
	// opened is true if To may hold objects of this move.
	opened bool
	// begun is true if From's journal was that of this move.
	begun bool
	// patience is how long calls are retried; 0 is for ever.
	patience time.Duration
	// copied are the objects of From that were copied to To.
	copied set
	before []Item
}

// Run moves the plane, or continues a move that was begun. The report is that
// of the comparison before the switch.
func (m *Move) Run(ctx context.Context) (*Report, error) {
	r := &run{Move: m, from: m.From.Plane(), to: m.To.Plane(), stage: Prepare, patience: cmp.Or(m.AnswerWithin, time.Minute)}
	var err error
	if r.kinds, err = kinds(m.definitions); err != nil {
		return nil, err
	}
	passed, err := r.begin(ctx)
	if err != nil {
		return nil, &Stopped{Stage: r.stage, Err: err}
	}
	if !passed {
		if err := r.toSwitch(ctx); err != nil {
			return nil, r.stopped(ctx, err)
		}
	}
	r.patience = 0
	if err := r.finish(ctx); err != nil {
		return nil, &Stopped{Stage: r.stage, Err: err}
	}
	return r.journal.Report, nil
}

// begin finds out which of the planes is in charge, and whether a move is under
// way. It reports whether the point of no return has passed.
func (r *run) begin(ctx context.Context) (passed bool, err error) {
	from, err := r.bootstrap(ctx, r.from)
	if err != nil {
		return false, err
	}
	if from == nil {
		return false, finalf("ClusterBootstrap %s is not on %s; nothing can be moved from there", r.Bootstrap, r.from.Name)
	}
	if r.clusterID = clusterID(from); r.clusterID == "" {
		return false, finalf("ClusterBootstrap %s has no annotation %s yet; wait until its controller has set it", r.Bootstrap, v1alpha1.AnnotationClusterID)
	}
	if fence := from.GetAnnotations()[v1alpha1.AnnotationFenced]; fence != "" {
		return true, r.resume(ctx, fence)
	}
	n, err := epoch(from)
	r.journal = journal{Move: uuid.NewString(), From: r.from.Kind, To: r.to.Kind, Epoch: n + 1}
	return false, err
}

func (r *run) bootstrap(ctx context.Context, s Plane) (cb *unstructured.Unstructured, err error) {
	err = r.retry(ctx, func() error {
		cb, err = readBootstrap(ctx, s.Client, r.Bootstrap)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return cb, nil
}

// open takes up the move that To remembers, or a new one, unless To is in charge
// itself. Nothing is written before that.
func (r *run) open(ctx context.Context) error {
	var known *journal
	err := r.retry(ctx, func() (err error) {
		known, _, err = readJournal(ctx, r.to.Client, r.Bootstrap)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", r.to.Name, err)
	}
	if known != nil && !known.ended() && r.sameWay(known) {
		r.journal.Move, r.journal.Made = known.Move, known.Made
	}
	if err := r.served(ctx); err != nil {
		return err
	}
	if err := r.follow(ctx); err != nil {
		return err
	}
	r.mark()
	r.opened = true
	return r.makeNamespace(ctx, r.Bootstrap.Namespace)
}

func (r *run) sameWay(j *journal) bool { return j.From == r.from.Kind && j.To == r.to.Kind }

// mark sets the fences of both ClusterBootstraps. The move's id is part of them, so that
// a fence identifies its move.
func (r *run) mark() {
	r.plane = r.to.Kind
	r.fence = fmt.Sprintf("being moved here from %s for epoch %d (move %s)", r.from.Name, r.journal.Epoch, r.journal.Move)
}

// away is the fence of From.
func (r *run) away() string {
	return fmt.Sprintf("moved to %s at epoch %d (move %s)", r.to.Name, r.journal.Epoch, r.journal.Move)
}

// bootstrapRef names the ClusterBootstrap, on both planes alike.
func (r *run) bootstrapRef() ref {
	return ref{bootstrapKind, r.Bootstrap.Namespace, r.Bootstrap.Name}
}

// fencedByOther reports whether another move has fenced the plane of a ClusterBootstrap.
func (r *run) fencedByOther(cb *unstructured.Unstructured) bool {
	fence := cb.GetAnnotations()[v1alpha1.AnnotationFenced]
	return fence != "" && !strings.Contains(fence, r.journal.Move)
}

// resume continues a move whose From is fenced already. Its destination must be To.
func (r *run) resume(ctx context.Context, fence string) error {
	r.patience, r.stage = 0, Switch
	var known *journal
	err := r.retry(ctx, func() (err error) {
		known, _, err = readJournal(ctx, r.to.Client, r.Bootstrap)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", r.to.Name, err)
	}
	if known == nil || !r.sameWay(known) || !strings.Contains(fence, known.Move) {
		return finalf("%s is not in charge of the cluster: %s; start from the plane that is in charge", r.from.Name, fence)
	}
	r.journal = *known
	r.mark()
	return nil
}

// toSwitch runs the stages that can be rolled back.
func (r *run) toSwitch(ctx context.Context) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	if err := r.enter(ctx, Prepare); err != nil {
		return err
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if err := r.quiesce(ctx); err != nil {
		return err
	}
	for try := 1; ; try++ {
		err := r.transferAndFence(ctx)
		if !errors.Is(err, errChanged) || try == maxCopies {
			return err
		}
		r.progress("another process has written to " + r.from.Name + " in the meantime; copying again")
	}
}

func (r *run) transferAndFence(ctx context.Context) error {
	if err := r.copy(ctx); err != nil {
		return err
	}
	if err := r.enter(ctx, Verify); err != nil {
		return err
	}
	if err := r.verify(ctx); err != nil {
		return err
	}
	if err := r.enter(ctx, Switch); err != nil {
		return err
	}
	return r.fenceOff(ctx)
}

// finish runs the stages after From is fenced. Each part checks whether it was done
// already.
func (r *run) finish(ctx context.Context) error {
	r.stage = Switch
	if err := r.putInCharge(ctx); err != nil {
		return err
	}
	if known, _, err := readJournal(ctx, r.from.Client, r.Bootstrap); err == nil && known != nil && known.Move == r.journal.Move && known.Stage == Done {
		return nil
	}
	if err := r.enter(ctx, Retire); err != nil {
		return err
	}
	if err := r.retire(ctx); err != nil {
		return err
	}
	r.journal.Made = nil
	return r.enter(ctx, Done)
}

// quiesce ends the old controllers, and records what the platform holds: it must not
// change from then on.
func (r *run) quiesce(ctx context.Context) error {
	r.progress("ending the controllers of " + r.from.Name)
	if err := r.From.Quiesce(ctx); err != nil {
		return fmt.Errorf("end the controllers of %s: %w", r.from.Name, err)
	}
	var err error
	r.before, err = r.inventory(ctx)
	return err
}

// inventory lists what the platform holds, and reports errors while it retries.
func (r *run) inventory(ctx context.Context) (items []Item, err error) {
	var last string
	err = r.retry(ctx, func() error {
		items, err = r.Inventory(ctx)
		if err != nil && err.Error() != last {
			last = err.Error()
			r.progress("waiting for the platform: " + last)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list what the platform holds of the cluster: %w", err)
	}
	return items, nil
}

func (r *run) progress(text string) {
	if r.Progress != nil {
		r.Progress(r.stage, text)
	}
}

func (r *run) refused(did string, s Plane, o *unstructured.Unstructured, err error) error {
	if err == nil {
		return nil
	}
	return &refused{did, refOf(o), s.Name, err}
}
