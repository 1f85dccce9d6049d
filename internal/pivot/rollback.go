// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// stopped ends a move that did not reach the switch: it is rolled back, unless it
// crashed, or it is not known whether it reached the switch.
func (r *run) stopped(ctx context.Context, cause error) error {
	out := &Stopped{Stage: r.stage, Err: cause}
	if _, ok := errors.AsType[*crash](cause); ok {
		return out
	}
	if _, ok := errors.AsType[*unknownOutcome](cause); ok {
		return out
	}
	out.RolledBack, out.Refused = true, isRefusal(cause)
	interrupted := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeBackWithin)
	defer cancel()
	why := cause.Error()
	if interrupted { // then the cause is only what was being done
		why = "it was interrupted"
	}
	r.progress("rolling the move back: " + why)
	taken, err := r.rollBack(ctx, why)
	if err != nil {
		out.Err = fmt.Errorf("%w (what was copied to %s is still there, fenced, and the next run removes it: %w)", cause, r.to.Name, err)
	}
	if taken || errors.Is(cause, errOtherMove) || interrupted && r.from.Kind != v1alpha1.PlaneSelf {
		return out
	}
	if err := r.From.Resume(ctx); err != nil {
		out.Err = fmt.Errorf("%w; and the controllers of %s could not be started again: %w", out.Err, r.from.Name, err)
	}
	return out
}

// rollBack removes from To what the move has created. Safety does not depend on it: To
// is fenced. It reports whether another move has taken over From with its controllers.
func (r *run) rollBack(ctx context.Context, why string) (taken bool, err error) {
	if !r.opened {
		return false, nil
	}
	r.patience = min(r.patience, takeBackWithin/3)
	err = r.removeMade(ctx)
	r.journal.Stage, r.journal.Cause = RolledBack, why
	short := r.journal
	short.Made, short.Report = nil, nil
	if err == nil {
		err = r.retry(ctx, func() error { return r.write(ctx, r.to, short, nil) })
	}
	failed := r.retry(ctx, func() error { return r.write(ctx, r.from, short, r.begunHere) })
	if errors.Is(failed, errOtherMove) { // the journal is another move's by now
		return r.begun, err
	}
	return false, errors.Join(err, failed)
}

// removeMade takes the ClusterBootstrap last: its fence holds for all the others.
func (r *run) removeMade(ctx context.Context) error {
	requests, others, cb := set{}, set{}, set{}
	for _, key := range r.journal.Made {
		var o *unstructured.Unstructured
		err := r.retry(ctx, func() (err error) {
			o, err = get(ctx, r.to, r.kindOf(key), types.NamespacedName{Namespace: key.Namespace, Name: key.Name})
			return err
		})
		if err != nil {
			return err
		}
		switch {
		case o == nil || !r.ours(o):
		case key.Kind == bootstrapKind:
			cb.add(o)
		case shared(o) || key.Kind == secretKind:
			others.add(o)
		default:
			requests.add(o)
		}
	}
	for _, s := range []set{requests, others, cb} {
		if err := r.removeAll(ctx, s); err != nil {
			return err
		}
	}
	return r.explain(ctx)
}

// ours reports whether the move may have created an object. Another process may have
// replaced it.
func (r *run) ours(o *unstructured.Unstructured) bool {
	switch o.GetKind() {
	case bootstrapKind, machineKind, balancerKind:
		return clusterID(o) == r.clusterID
	}
	return clusterID(o) == "" || clusterID(o) == r.clusterID
}

// explain says on a ClusterBootstrap that lay on To before why it is fenced now.
func (r *run) explain(ctx context.Context) error {
	return r.retry(ctx, func() error {
		cb, err := readBootstrap(ctx, r.to.Client, r.Bootstrap)
		if err != nil || cb == nil || cb.GetAnnotations()[v1alpha1.AnnotationFenced] != r.fence {
			return err
		}
		patch, err := annotate(cb, map[string]any{
			v1alpha1.AnnotationFenced: fmt.Sprintf("%s is in charge; a move here for epoch %d was rolled back", r.from.Name, r.journal.Epoch),
		})
		if err != nil {
			return err
		}
		return r.refused("fence", r.to, cb, r.to.Client.Patch(ctx, cb, patch, fieldOwner))
	})
}
