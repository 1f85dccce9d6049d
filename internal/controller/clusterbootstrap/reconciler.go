// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package clusterbootstrap reconciles ClusterBootstraps: it walks the steps of
// package bootstrap and reports their state.
package clusterbootstrap

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon/install"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/controller/lag"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
)

// upkeep is how often a cluster is looked at that has nothing to wait for, or
// waits for what is reported.
const upkeep = 30 * time.Second

// Reconciler drives ClusterBootstraps.
type Reconciler struct {
	Client   client.Client
	Live     client.Reader
	Dial     talos.Dialer
	Addons   *install.Installer
	Digests  map[string]string // that pin images of this project, by name
	Recorder events.EventRecorder
	Clock    func() time.Time
	// NewSecrets is that of bootstrap.Session.
	NewSecrets func(talosVersion string) ([]byte, error)

	writes lag.Writes[*v1alpha1.ClusterBootstrap]
}

// Reconcile advances one ClusterBootstrap as far as possible.
func (r *Reconciler) Reconcile(ctx context.Context, cb *v1alpha1.ClusterBootstrap) (reconcile.Result, error) {
	if r.writes.Behind(cb) {
		return reconcile.Result{RequeueAfter: lag.Again}, nil
	}
	result, err := r.reconcile(ctx, cb)
	if apierrors.IsConflict(err) || errors.Is(err, bootstrap.ErrChanged) {
		return reconcile.Result{RequeueAfter: lag.Again}, nil
	}
	return result, err
}

func (r *Reconciler) reconcile(ctx context.Context, cb *v1alpha1.ClusterBootstrap) (reconcile.Result, error) {
	switch {
	case v1alpha1.Fenced(cb):
		// Another plane is in charge: not even the status is this one's to write.
		r.Addons.Forget(client.ObjectKeyFromObject(cb).String())
		return reconcile.Result{}, nil
	case !cb.DeletionTimestamp.IsZero():
		return r.remove(ctx, cb)
	case cb.Spec.Paused:
		// What was begun is taken up again afterwards, as after a crash.
		r.Addons.Forget(client.ObjectKeyFromObject(cb).String())
		return reconcile.Result{}, r.report(ctx, cb, paused(cb))
	}
	if err := r.claim(ctx, cb); err != nil {
		return reconcile.Result{}, err
	}
	return r.advance(ctx, cb)
}

// claim gives the cluster its id, records that the id is this object's, and keeps
// the object from vanishing before what it made, in one write.
func (r *Reconciler) claim(ctx context.Context, cb *v1alpha1.ClusterBootstrap) error {
	before := cb.DeepCopy()
	changed := controllerutil.AddFinalizer(cb, v1alpha1.FinalizerClusterBootstrap)
	if cb.Annotations[v1alpha1.AnnotationClusterID] == "" {
		if err := r.identify(ctx, cb); err != nil {
			return err
		}
		changed = true
	}
	if cb.Annotations[v1alpha1.AnnotationClaimedBy] == "" {
		cb.Annotations[v1alpha1.AnnotationClaimedBy] = string(cb.UID)
		changed = true
	}
	if !changed {
		return nil
	}
	return r.Client.Patch(ctx, cb, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// identify gives the cluster an id: a new one, or the one that was taken off the
// object, as kubectl replace does, and that its machines still carry. With
// another id these would not be recognised, and never removed.
func (r *Reconciler) identify(ctx context.Context, cb *v1alpha1.ClusterBootstrap) error {
	id := uuid.NewString()
	for _, m := range cb.Status.Machines {
		request := &v1alpha1.MachineRequest{}
		err := r.Live.Get(ctx, client.ObjectKey{Namespace: cb.Namespace, Name: m.Name}, request)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		if err == nil && request.Labels[v1alpha1.LabelClusterBootstrap] == cb.Name {
			id = cmp.Or(request.Annotations[v1alpha1.AnnotationClusterID], id)
			break
		}
	}
	if cb.Annotations == nil {
		cb.Annotations = map[string]string{}
	}
	cb.Annotations[v1alpha1.AnnotationClusterID] = id
	return nil
}

func (r *Reconciler) advance(ctx context.Context, cb *v1alpha1.ClusterBootstrap) (reconcile.Result, error) {
	next := cb.DeepCopy()
	progress, err := r.walk(ctx, next)
	if ctx.Err() != nil {
		return reconcile.Result{}, ctx.Err()
	}
	if errors.Is(err, bootstrap.ErrChanged) || apierrors.IsConflict(err) {
		return reconcile.Result{}, err
	}
	settle(next, progress, err)
	if err := r.report(ctx, cb, next); err != nil {
		return reconcile.Result{}, err
	}
	var failure *bootstrap.Failure
	if err != nil && !errors.As(err, &failure) {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: r.pollAfter(next, progress)}, nil
}

func (r *Reconciler) walk(ctx context.Context, cb *v1alpha1.ClusterBootstrap) (bootstrap.Progress, error) {
	if err := r.unique(ctx, cb); err != nil {
		return bootstrap.Progress{Phase: cmp.Or(cb.Status.Phase, v1alpha1.BootstrapPending)}, err
	}
	cb.Spec = bootstrap.Effective(cb)
	plan, err := bootstrap.NewPlan(cb.Spec)
	if err != nil {
		return bootstrap.Progress{}, err
	}
	s := r.session(cb)
	s.Plan = plan
	s.Record = func(e bootstrap.Event) { r.Recorder.Eventf(cb, nil, e.Type, e.Reason, action, "%s", note(e.Message)) }
	s.Interrupted = func(ctx context.Context) error { return r.changed(ctx, cb) }
	return s.Walk(ctx, bootstrap.Steps())
}

// changed reports whether a client has paused, deleted, changed or fenced a
// ClusterBootstrap while it is walked.
func (r *Reconciler) changed(ctx context.Context, cb *v1alpha1.ClusterBootstrap) error {
	now := &v1alpha1.ClusterBootstrap{}
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(cb), now)
	if apierrors.IsNotFound(err) || err == nil && (now.Generation > cb.Generation || v1alpha1.Fenced(now)) {
		return bootstrap.ErrChanged
	}
	return err
}

func (r *Reconciler) session(cb *v1alpha1.ClusterBootstrap) *bootstrap.Session {
	return &bootstrap.Session{ClusterBootstrap: cb, Client: r.Client, Live: r.Live, Dial: r.Dial, Addons: r.Addons, Digests: r.Digests, Clock: r.Clock, NewSecrets: r.NewSecrets}
}

// pollAfter is when to ask again where no change is reported.
func (r *Reconciler) pollAfter(cb *v1alpha1.ClusterBootstrap, p bootstrap.Progress) time.Duration {
	if p.Obstacle == nil || !p.Obstacle.Poll {
		return upkeep
	}
	return step.PollAfter(r.Clock().Sub(cb.Status.LastUpdated.Time))
}

// remove releases the ClusterBootstrap when everything it made is gone. On the
// cluster itself nothing goes: the machines would be deleted from under those who
// delete them.
func (r *Reconciler) remove(ctx context.Context, cb *v1alpha1.ClusterBootstrap) (reconcile.Result, error) {
	if !slices.Contains(cb.Finalizers, v1alpha1.FinalizerClusterBootstrap) {
		return reconcile.Result{}, nil
	}
	if bootstrap.SelfHosted(cb) && !copied(cb) {
		return reconcile.Result{}, r.report(ctx, cb, held(cb))
	}
	if err := r.claim(ctx, cb); err != nil {
		return reconcile.Result{}, err
	}
	r.Addons.Forget(client.ObjectKeyFromObject(cb).String())
	obstacle, err := r.session(cb).Remove(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if obstacle != nil {
		next := deleting(cb, obstacle)
		err := r.report(ctx, cb, next)
		return reconcile.Result{RequeueAfter: r.pollAfter(next, bootstrap.Progress{Obstacle: obstacle})}, err
	}
	before := cb.DeepCopy()
	controllerutil.RemoveFinalizer(cb, v1alpha1.FinalizerClusterBootstrap)
	return reconcile.Result{}, client.IgnoreNotFound(r.Client.Patch(ctx, cb, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}
