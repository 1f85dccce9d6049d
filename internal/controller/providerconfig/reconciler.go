// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package providerconfig reconciles ProviderConfigs of one provider: it checks
// the credentials and keeps a ProviderConfig for as long as it is referenced.
package providerconfig

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/lag"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/provider"
)

// How often a platform is asked whether it still accepts the credentials.
const (
	recheck      = 5 * time.Minute
	retryFirst   = 2 * time.Second
	retryMost    = time.Minute
	conflictWait = 50 * time.Millisecond

	// elsewhereWait is how soon to look again whether the requests still are on
	// another platform: a write to their annotations is not watched.
	elsewhereWait = 15 * time.Second
)

// Reconciler validates the ProviderConfigs of one provider.
type Reconciler struct {
	Client   client.Client
	Type     v1alpha1.ProviderType
	Sessions *session.Sessions

	now    func() time.Time
	writes lag.Writes[*v1alpha1.ProviderConfig]
	mu     sync.Mutex
	checks map[types.UID]check
}

// check is the last validation of a ProviderConfig.
type check struct {
	version  string
	platform provider.Identity
	lifetime provider.Lifetime
	err      error
	failures int
	due      time.Time
}

// Reconcile reconciles a ProviderConfig of this provider once.
func (r *Reconciler) Reconcile(ctx context.Context, config *v1alpha1.ProviderConfig) (reconcile.Result, error) {
	if config.Spec.Provider != r.Type {
		return reconcile.Result{}, nil
	}
	if r.writes.Behind(config) {
		return request.Behind(), nil
	}
	used, err := r.use(ctx, config)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.hold(ctx, config, used.count > 0); err != nil {
		return request.Outdated(err)
	}
	if !config.DeletionTimestamp.IsZero() && used.count == 0 {
		return reconcile.Result{}, nil
	}
	last := r.validate(ctx, config)
	next := max(time.Until(last.due), conflictWait)
	if err := used.elsewhere(config, last.platform); err != nil {
		last.err, last.platform = err, ""
		next = min(next, elsewhereWait)
		r.checkWithin(config.UID, elsewhereWait)
	}
	if err := r.report(ctx, config, last, used); err != nil {
		return request.Outdated(err)
	}
	return reconcile.Result{RequeueAfter: next}, nil
}

// hold adds the finalizer while the ProviderConfig is referenced: without it,
// no controller could delete the machines of its requests.
func (r *Reconciler) hold(ctx context.Context, config *v1alpha1.ProviderConfig, referenced bool) error {
	base := config.DeepCopy()
	changed := false
	switch {
	case !referenced:
		changed = controllerutil.RemoveFinalizer(config, v1alpha1.FinalizerProviderConfig)
	case config.DeletionTimestamp.IsZero():
		changed = controllerutil.AddFinalizer(config, v1alpha1.FinalizerProviderConfig)
	}
	if !changed {
		return nil
	}
	return r.Client.Patch(ctx, config, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

// validate returns the last check, or makes a new one if it is due.
func (r *Reconciler) validate(ctx context.Context, config *v1alpha1.ProviderConfig) check {
	version, err := r.Sessions.Version(ctx, config)
	last := r.last(config.UID)
	if err == nil && version == last.version && time.Now().Before(last.due) {
		return last
	}
	next := check{version: version, due: time.Now().Add(recheck)}
	if err == nil {
		err = r.Sessions.Probe(ctx, config, func(p *provider.Platform) error {
			next.platform, next.lifetime = p.Identity, p.Lifetime
			return preflight(ctx, p)
		})
	}
	next.err = err
	if err != nil {
		next.failures = last.failures + 1
		next.due = time.Now().Add(retryAfter(next.failures))
	}
	r.keep(config.UID, next)
	return next
}

func (r *Reconciler) last(uid types.UID) check {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.checks[uid]
}

func (r *Reconciler) keep(uid types.UID, c check) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.checks == nil {
		r.checks = map[types.UID]check{}
	}
	r.checks[uid] = c
}

// checkWithin has the next validation come that soon: the platform of the requests may
// answer again at any time.
func (r *Reconciler) checkWithin(uid types.UID, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.checks[uid]
	if due := time.Now().Add(wait); c.due.After(due) {
		c.due = due
		r.checks[uid] = c
	}
}

func (r *Reconciler) forget(config client.Object) {
	r.mu.Lock()
	delete(r.checks, config.GetUID())
	r.mu.Unlock()
	r.Sessions.Forget(client.ObjectKeyFromObject(config))
}

// retryAfter grows with the failures. A login that is refused is asked for again
// soon, too: it may be about to be renewed.
func retryAfter(failures int) time.Duration { return min(retryFirst<<min(failures-1, 10), retryMost) }

func (r *Reconciler) clock() time.Time {
	if r.now != nil {
		return r.now()
	}
	return time.Now()
}
