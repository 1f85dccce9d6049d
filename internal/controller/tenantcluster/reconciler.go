// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package tenantcluster reconciles TenantClusters: it walks a visible list of steps from the
// top each time, and the first one that is not finished is the state of the cluster.
package tenantcluster

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
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
	"github.com/butlerdotdev/butler/internal/controller/lag"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// Owner is the name under which the fields of objects are owned.
const Owner = "butler-controller"

const (
	// upkeep is when a cluster is looked at that waits for what is reported, and rareUpkeep when at
	// the latest: the longer nothing changes, the later.
	upkeep     = 30 * time.Second
	rareUpkeep = 5 * time.Minute
	// atRest is how often a cluster is looked at that waits for nothing: tokens and certificates
	// are renewed then, and what is not watched is put right. The rest is reported, also that
	// its API server does not answer any more.
	atRest = 10 * time.Minute
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
	// LoginTTL is that of Options.
	LoginTTL time.Duration
	Clock    func() time.Time

	applied applied
	secrets secrets
	pushes  pushes
	logins  logins
	images  images
	missing missing
	pace    pace
	writes  lag.Writes[*v1alpha1.TenantCluster]
	// admission is held while a cluster is counted against limits that have no other lock.
	admission sync.Mutex
	account   atomic.Pointer[string] // who this controller is to the API server
}

// Reconcile advances one TenantCluster as far as possible.
func (r *Reconciler) Reconcile(ctx context.Context, tc *v1alpha1.TenantCluster) (reconcile.Result, error) {
	if r.writes.Behind(tc) {
		return reconcile.Result{RequeueAfter: lag.Again}, nil
	}
	r.pace.record(client.ObjectKeyFromObject(tc), r.Clock())
	result, err := r.reconcile(ctx, tc)
	if apierrors.IsConflict(err) || errors.Is(err, errChanged) {
		return reconcile.Result{RequeueAfter: lag.Again}, nil
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
	s := r.session(next)
	progress, err := s.walk(ctx, steps())
	next.Spec = *tc.Spec.DeepCopy() // the walk left out of it what is refused
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
	after := r.pollAfter(next, progress.first())
	return reconcile.Result{RequeueAfter: min(after, cmp.Or(s.again, after))}, nil
}

func (r *Reconciler) session(tc *v1alpha1.TenantCluster) *session {
	return &session{TenantCluster: tc, Reconciler: r}
}

// pollAfter is when to look again where no change is reported.
func (r *Reconciler) pollAfter(tc *v1alpha1.TenantCluster, o *step.Obstacle) time.Duration {
	now := r.Clock()
	unchanged := now.Sub(lastChange(tc))
	switch {
	case o == nil && tc.Status.Phase == v1alpha1.TenantReady:
		return atRest - rand.N(atRest/5) // not all at once
	case o == nil || !o.Poll:
		return min(max(upkeep, unchanged), rareUpkeep)
	}
	// What is asked for in vain gives way to what has changed.
	return max(step.PollAfter(unchanged), 2*r.pace.lag(now))
}

// claim gives the cluster its id and the name of its namespace, records on which management
// cluster it is, and keeps the object from vanishing before what it created, in one write. All of
// it is on the object itself: a backup that is restored without its status has it still.
func (r *Reconciler) claim(ctx context.Context, tc *v1alpha1.TenantCluster) error {
	home, err := r.home(ctx)
	if err != nil {
		return err
	}
	before := tc.DeepCopy()
	changed := controllerutil.AddFinalizer(tc, v1alpha1.FinalizerTenantCluster)
	id := cmp.Or(tc.Annotations[v1alpha1.AnnotationClusterID], uuid.NewString())
	for key, value := range map[string]string{
		v1alpha1.AnnotationClusterID: id,
		annotationNamespace:          cmp.Or(tc.Status.TenantNamespace, tenant.Namespace(tc.Name, id)),
		annotationHome:               home,
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
