// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package orphan looks for what is on a platform under the id of a cluster
// while no request owns it. It reports what it finds, and deletes it only if
// the options say so.
package orphan

import (
	"context"
	"time"

	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
)

// DefaultGrace is how long after its first sighting an orphan may be deleted.
const DefaultGrace = 10 * time.Minute

// defaultEvery is the time between two looks at a platform.
const defaultEvery = time.Minute

// workers is how many platforms are asked side by side: each may not answer.
const workers = 16

// Options are what a sweeper needs.
type Options struct {
	request.Options
	// Delete removes orphans; otherwise they are reported only.
	Delete bool
	// Grace is DefaultGrace where it is zero.
	Grace time.Duration
	// Every is the time between two looks; zero is a minute.
	Every time.Duration
}

func (o Options) withDefaults() Options {
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	if o.Every == 0 {
		o.Every = defaultEvery
	}
	return o
}

// Register adds the sweeper of a provider to a manager.
func Register(m manager.Manager, o Options) error {
	api, err := discovery.NewDiscoveryClientForConfigAndClient(m.GetConfig(), m.GetHTTPClient())
	if err != nil {
		return err
	}
	s := &Sweeper{
		Options: o.withDefaults(), Client: m.GetClient(), Live: m.GetAPIReader(),
		Events:  m.GetEventRecorder("butler-provider-" + string(o.Type)),
		Healthy: func(ctx context.Context) error { return api.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() },
		own:     time.Now,
	}
	return builder.ControllerManagedBy(m).
		Named("orphan-"+string(o.Type)).
		For(&v1alpha1.ProviderConfig{}, builder.WithPredicates(s.relevant())).
		WithOptions(request.ControllerOptions(workers)).
		Complete(reconcile.AsReconciler(m.GetClient(), s))
}

// relevant leaves out every write of a status.
func (s *Sweeper) relevant() predicate.Predicate {
	return predicate.And(predicate.GenerationChangedPredicate{}, predicate.Funcs{
		DeleteFunc: func(e event.DeleteEvent) bool {
			s.forget(e.Object)
			return false
		},
	})
}
