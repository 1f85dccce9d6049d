// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package butlerconfig reconciles the ButlerConfig: it takes up how tenant
// control planes are exposed, and sees that what is named there exists.
package butlerconfig

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// namespace is where the ProviderConfigs of the platform are.
const namespace = "butler-system"

// cacheLag is how soon to look again when the cache has not caught up with what
// this reconciler itself wrote.
const cacheLag = 25 * time.Millisecond

// Reconciler takes up the ButlerConfig.
type Reconciler struct {
	Client   client.Client
	Live     client.Reader
	Recorder events.EventRecorder
	// GatewayPoll is how often a Gateway is looked for.
	GatewayPoll time.Duration
}

// Reconcile makes one pass over the ButlerConfig.
func (r *Reconciler) Reconcile(ctx context.Context, config *v1alpha1.ButlerConfig) (reconcile.Result, error) {
	if !config.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	found, err := r.look(ctx, config.Spec)
	if err != nil {
		return reconcile.Result{}, err
	}
	v := decide(config.Spec, found)
	err = r.report(ctx, config, v)
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: cacheLag}, nil
	case err == nil && v.mode == v1alpha1.ExposureGateway:
		return reconcile.Result{RequeueAfter: r.GatewayPoll}, nil
	}
	return reconcile.Result{}, err
}
