// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package orphan

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
)

// Sweeper looks at the platforms of one provider, again and again.
type Sweeper struct {
	Options
	Client client.Client
	// Live reads what must not be out of date.
	Live   client.Reader
	Events events.EventRecorder
	// Healthy asks whether the API server is: nothing is deleted while it is not.
	Healthy func(context.Context) error

	gauge *prometheus.GaugeVec

	mu     sync.Mutex
	memory map[types.UID]*memory
}

// memory is what may be lost: a restart only makes a sweeper more patient. A
// ProviderConfig is swept by one worker at a time.
type memory struct {
	looked time.Time
	seen   map[key]sighting
	asked  map[key]bool
}

// Reconcile makes one sweep of a ProviderConfig's platform, if it is time for one.
func (s *Sweeper) Reconcile(ctx context.Context, config *v1alpha1.ProviderConfig) (reconcile.Result, error) {
	if config.Spec.Provider != s.Type {
		return reconcile.Result{}, nil
	}
	m := s.of(config.UID)
	// The machine's own clock counts here: one that was put forward must not make
	// two sightings of one.
	if early := s.Every - time.Since(m.looked); early > 0 {
		return reconcile.Result{RequeueAfter: early}, nil
	}
	m.looked = time.Now()
	if err := s.sweep(ctx, client.ObjectKeyFromObject(config), m); err != nil {
		m.seen = nil // what was not seen twice in a row counts from the beginning
		log.FromContext(ctx).Info("cannot look for orphans", "because", err.Error())
	}
	return reconcile.Result{RequeueAfter: s.Every}, nil
}

// sweep compares platform and requests and tells what it finds. It begins with
// the platform: what is made meanwhile has a request by the time those are read.
func (s *Sweeper) sweep(ctx context.Context, name types.NamespacedName, m *memory) error {
	config := &v1alpha1.ProviderConfig{}
	if err := s.Live.Get(ctx, name, config); err != nil {
		return client.IgnoreNotFound(err)
	}
	charges, err := s.charges(ctx, config)
	if err != nil {
		return err
	}
	f := facts{now: s.Now(), grace: s.Grace, remove: s.Delete, known: config.Status.Orphans, seen: m.seen, clusters: map[string]bool{}}
	if len(charges) == 0 {
		return s.report(ctx, config, charges, decide(f), m)
	}
	platform, err := s.Sessions.Platform(ctx, config)
	if err != nil {
		return err
	}
	for id := range charges {
		found, err := things(ctx, platform, id)
		if err != nil {
			s.Sessions.Refused(name, platform, err)
			log.FromContext(ctx).Info("cannot look for orphans of a cluster", "cluster", id, "because", err.Error())
		}
		f.clusters[id], f.things = err == nil, append(f.things, found...)
	}
	if f.owned, err = s.owners(ctx); err != nil {
		return err
	}
	d := decide(f)
	if err := s.report(ctx, config, charges, d, m); err != nil {
		return err
	}
	return s.delete(ctx, platform, charges, d.remove, m)
}

// delete asks the platform to remove what may go. It is asked again with every
// sweep, until nothing is left.
func (s *Sweeper) delete(ctx context.Context, p *provider.Platform, charges map[string]*v1alpha1.ClusterBootstrap, all []v1alpha1.Orphan, m *memory) error {
	for _, o := range all {
		cb := charges[o.ClusterID]
		if sure, err := s.sure(ctx, cb); err != nil || !sure {
			return err
		}
		if !m.asked[keyOf(o)] {
			m.asked[keyOf(o)] = true
			s.tell(ctx, cb, o, "OrphanDeleting", "deleting %s %q from the platform: no request has owned it since %s")
		}
		if err := remove(ctx, p, o); err != nil {
			return err
		}
	}
	return nil
}

// sure reports whether the plane is in charge of the cluster at this moment, which
// is not paused, and its API server well: a garbage collector that trusts a sick
// one deletes what is in use.
func (s *Sweeper) sure(ctx context.Context, cb *v1alpha1.ClusterBootstrap) (bool, error) {
	if err := s.Healthy(ctx); err != nil {
		return false, err
	}
	now := &v1alpha1.ClusterBootstrap{}
	if err := s.Live.Get(ctx, client.ObjectKeyFromObject(cb), now); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return now.UID == cb.UID && inCharge(now) && !now.Spec.Paused, nil
}

func remove(ctx context.Context, p *provider.Platform, o v1alpha1.Orphan) error {
	ctx, cancel := context.WithTimeout(ctx, request.CallTimeout)
	defer cancel()
	owner := provider.Owner{ID: o.ID, ClusterID: o.ClusterID, Cluster: o.Cluster}
	if o.Kind == v1alpha1.OrphanLoadBalancer {
		return p.LoadBalancers.Delete(ctx, provider.LoadBalancerRef{Name: o.Name, Owner: owner})
	}
	return p.Machines.Delete(ctx, provider.MachineRef{Name: o.Name, Owner: owner})
}

func (s *Sweeper) of(uid types.UID) *memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory == nil {
		s.memory = map[types.UID]*memory{}
	}
	m, ok := s.memory[uid]
	if !ok {
		m = &memory{asked: map[key]bool{}}
		s.memory[uid] = m
	}
	return m
}

func (s *Sweeper) forget(config client.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.memory, config.GetUID())
	s.gauge.DeleteLabelValues(string(s.Type), client.ObjectKeyFromObject(config).String())
}
