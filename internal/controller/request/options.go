// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/metric"
	"github.com/butlerdotdev/butler/internal/controller/session"
)

// Options are what the reconcilers of one provider need.
type Options struct {
	// Type is the provider's.
	Type v1alpha1.ProviderType
	// Sessions are the connections to its platforms.
	Sessions *session.Sessions
	// Clock returns the time; nil is the machine's own.
	Clock func() time.Time
	// Metrics record retries, phases and orphans; nil records none.
	Metrics *metric.Metrics
}

// Now is the time by the clock of the options.
func (o Options) Now() time.Time {
	if o.Clock == nil {
		return time.Now()
	}
	return o.Clock()
}

// ControllerOptions are those of a controller with so many workers. Its queue is the
// plain one: with many idle workers the priority queue can hold its lock for ever
// when it is shut down, so that a program ends only after its grace period.
func ControllerOptions(workers int) controller.Options {
	return controller.Options{MaxConcurrentReconciles: workers, UsePriorityQueue: new(false)}
}
