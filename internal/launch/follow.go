// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/teardown"
	"github.com/butlerdotdev/butler/internal/timeline"
	"github.com/butlerdotdev/butler/internal/ui"
)

// complete shows the bootstrap until the cluster is Ready. The deletion of one that is
// deleted meanwhile is completed by the plane that is in charge of it.
func (l *Launch) complete(o *operation.Operation, warnings []string) (*v1alpha1.ClusterBootstrap, error) {
	l.Progress.Watch(fmt.Sprintf("%s on %s (%s)", o.Name, l.Manifest.Provider.Name, o.Kind()), warnings)
	cb, err := l.carryThrough(o)
	l.Progress.Unwatch(outcome(o.Context(), err))
	if errors.Is(err, operation.ErrDeleted) && o.InCharge() == operation.LocalPlane {
		return nil, l.Teardown.CompleteDeletion(o, l.Progress)
	}
	return cb, err
}

// outcome returns the outcome of following a bootstrap.
func outcome(ctx context.Context, err error) ui.Outcome {
	switch {
	case err == nil:
		return ui.Ready
	case ctx.Err() != nil:
		return ui.Interrupted
	}
	return ui.Failed
}

// carryThrough follows the bootstrap to its end. Once only the pivot is left, it
// pivots, and then follows the cluster's own controllers.
func (l *Launch) carryThrough(o *operation.Operation) (*v1alpha1.ClusterBootstrap, error) {
	books := &teardown.Bookkeeper{Operation: o, Provider: l.Provider}
	for tries := 1; ; tries++ {
		cb, err := l.follow(o, books)
		switch {
		case errors.Is(err, operation.ErrDeleted):
			return nil, fmt.Errorf("%s was %w in the meantime; remove what is left of it: %s", o.Name, err, o.Command("destroy"))
		case err != nil:
			return nil, l.Progress.WithObstacle(err)
		case meta.IsStatusConditionTrue(cb.Status.Conditions, v1alpha1.ConditionFailed):
			return nil, fmt.Errorf("bootstrap of %s failed: %s: %s", o.Name, cb.Status.FailureReason, cb.Status.FailureMessage)
		case !operation.ReadyToPivot(cb):
			return cb, nil
		}
		if err := selfhosted.NewMover(o, l.Provider, l.Progress).PivotOut(cb, tries); err != nil {
			return nil, err
		}
	}
}

// follow reports the progress of the bootstrap until it is Ready, has failed, or only
// the pivot is left.
func (l *Launch) follow(o *operation.Operation, books *teardown.Bookkeeper) (cb *v1alpha1.ClusterBootstrap, err error) {
	phase := v1alpha1.ClusterBootstrapPhase("")
	record, err := timeline.NewRecorder(o.TimelineFile())
	if err != nil {
		return nil, err
	}
	o.OnSilence = func(error) { l.Progress.Waiting(o.Name + " manages itself, and does not answer") }
	err = o.Watch(client.ObjectKeyFromObject(l.Manifest.Cluster), &v1alpha1.ClusterBootstrapList{}, func(object client.Object) bool {
		cb = object.(*v1alpha1.ClusterBootstrap)
		if phase != cb.Status.Phase {
			phase = cb.Status.Phase
			l.phases.See(phase, time.Now())
			o.Hooks.Reached("bootstrap/" + string(phase))
		}
		books.See(cb)
		l.Progress.Show(cb)
		if err := record.See(cb, time.Now()); err != nil {
			l.Progress.Waiting(err.Error()) // the bootstrap itself is not held up
		}
		return object.GetDeletionTimestamp() == nil && (settled(cb) || operation.ReadyToPivot(cb))
	})
	return cb, err
}

// settled reports whether a bootstrap is Ready or has failed with its current spec.
func settled(cb *v1alpha1.ClusterBootstrap) bool {
	if cb.Status.ObservedGeneration != cb.Generation {
		return false
	}
	return cb.Status.Phase == v1alpha1.BootstrapFailed && meta.IsStatusConditionTrue(cb.Status.Conditions, v1alpha1.ConditionFailed) ||
		cb.Status.Phase == v1alpha1.BootstrapReady && meta.IsStatusConditionTrue(cb.Status.Conditions, v1alpha1.ConditionReady)
}
