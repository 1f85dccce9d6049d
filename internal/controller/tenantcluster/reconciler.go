// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package tenantcluster reconciles TenantClusters: it walks a visible list of steps from the
// top each time, and the first one that is not finished is the state of the cluster.
package tenantcluster

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon/install"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// Owner is the name under which the fields of objects are owned.
const Owner = "butler-controller"

const (
	// upkeep is how often a cluster is looked at that waits for what is reported, or for nothing.
	upkeep = 30 * time.Second
	// cacheLag is how soon to look again when the cache has not caught up with what this
	// reconciler itself wrote.
	cacheLag = 25 * time.Millisecond
)

// errChanged ends a walk that is about a TenantCluster of the past.
var errChanged = errors.New("the TenantCluster has changed")

// Reconciler drives TenantClusters.
type Reconciler struct {
	Client client.Client
	// Live reads from the API server: Secrets of tenants, and what must not be stale.
	Live client.Reader
	// Objects reads objects of Cluster API from a cache, which watches their kinds.
	Objects client.Reader
	// Watch reports changes of objects of a kind to this reconciler from now on.
	Watch func(kind client.Object) error
	// Dial opens every connection to nodes and to tenant API servers.
	Dial talos.Dialer
	// Lookup resolves names of load balancers.
	Lookup   Lookup
	Addons   *install.Installer
	Tenants  *Tenants
	Recorder events.EventRecorder
	// TrustdTag is that of tenant.Input.
	TrustdTag string
	Clock     func() time.Time

	applied applied
	pushes  pushes
	// admission is held while a cluster is counted against limits that have no other lock.
	admission sync.Mutex
	account   atomic.Pointer[string] // who this controller is to the API server
}

// Reconcile takes one TenantCluster as far as it gets.
func (r *Reconciler) Reconcile(ctx context.Context, tc *v1alpha1.TenantCluster) (reconcile.Result, error) {
	result, err := r.reconcile(ctx, tc)
	if apierrors.IsConflict(err) || errors.Is(err, errChanged) {
		return reconcile.Result{RequeueAfter: cacheLag}, nil
	}
	return result, err
}

func (r *Reconciler) reconcile(ctx context.Context, tc *v1alpha1.TenantCluster) (reconcile.Result, error) {
	if !tc.DeletionTimestamp.IsZero() {
		return r.remove(ctx, tc)
	}
	if err := r.claim(ctx, tc); err != nil {
		return reconcile.Result{}, err
	}
	next := tc.DeepCopy()
	progress, err := r.session(next).walk(ctx, steps())
	if ctx.Err() != nil {
		return reconcile.Result{}, ctx.Err()
	}
	if errors.Is(err, errChanged) || apierrors.IsConflict(err) {
		return reconcile.Result{}, err
	}
	settle(next, progress, err)
	if err := r.report(ctx, tc, next); err != nil {
		return reconcile.Result{}, err
	}
	var failure *step.Failure
	if err != nil && !errors.As(err, &failure) {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: r.pollAfter(next, progress.obstacle)}, nil
}

func (r *Reconciler) session(tc *v1alpha1.TenantCluster) *session {
	return &session{TenantCluster: tc, Reconciler: r}
}

// pollAfter is when to look again where no change is reported.
func (r *Reconciler) pollAfter(tc *v1alpha1.TenantCluster, o *step.Obstacle) time.Duration {
	if o == nil || !o.Poll {
		return upkeep
	}
	return step.PollAfter(r.Clock().Sub(lastChange(tc)))
}

// claim gives the cluster its id and the name of its namespace, records that the id is this
// object's, and keeps the object from vanishing before what it created, in one write. All of
// it is on the object itself: a backup that is restored without its status has it still.
func (r *Reconciler) claim(ctx context.Context, tc *v1alpha1.TenantCluster) error {
	before := tc.DeepCopy()
	changed := controllerutil.AddFinalizer(tc, v1alpha1.FinalizerTenantCluster)
	id := cmp.Or(tc.Annotations[v1alpha1.AnnotationClusterID], uuid.NewString())
	for key, value := range map[string]string{
		v1alpha1.AnnotationClusterID: id,
		annotationNamespace:          cmp.Or(tc.Status.TenantNamespace, tenant.Namespace(tc.Name, id)),
	} {
		if tc.Annotations[key] == "" {
			if tc.Annotations == nil {
				tc.Annotations = map[string]string{}
			}
			tc.Annotations[key] = value
			changed = true
		}
	}
	if !changed {
		return nil
	}
	return r.Client.Patch(ctx, tc, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}
