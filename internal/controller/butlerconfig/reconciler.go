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
	"github.com/butlerdotdev/butler/internal/controller/lag"
)

// namespace is where the ProviderConfigs of the platform are.
const namespace = "butler-system"

// Reconciler takes up the ButlerConfig.
type Reconciler struct {
	Client   client.Client
	Live     client.Reader
	Recorder events.EventRecorder
	// GatewayPoll is how often a Gateway is looked for.
	GatewayPoll time.Duration

	writes lag.Writes[*v1alpha1.ButlerConfig]
}

// Reconcile reconciles the ButlerConfig once.
func (r *Reconciler) Reconcile(ctx context.Context, config *v1alpha1.ButlerConfig) (reconcile.Result, error) {
	if !config.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	if r.writes.Behind(config) {
		return reconcile.Result{RequeueAfter: lag.Again}, nil
	}
	found, err := r.look(ctx, config.Spec)
	if err != nil {
		return reconcile.Result{}, err
	}
	v := decide(config.Spec, found)
	err = r.report(ctx, config, v)
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: lag.Again}, nil
	case err == nil && v.mode == v1alpha1.ExposureGateway:
		return reconcile.Result{RequeueAfter: r.GatewayPoll}, nil
	}
	return reconcile.Result{}, err
}
