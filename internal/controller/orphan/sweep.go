// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package orphan

import (
	"context"
	"errors"
	"sync"
	"time"

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

	// own is the machine's clock. It counts where one that was put forward must not
	// make two sightings of one, nor end a grace.
	own func() time.Time

	mu     sync.Mutex
	memory map[types.UID]*memory
}

// memory is what may be lost: a restart only makes a sweeper more patient. A
// ProviderConfig is swept by one worker at a time.
type memory struct {
	looked time.Time
	seen   map[key]sighting
	// asked is what the platform was asked to delete, and refused what it did not.
	asked, refused map[key]bool
}

// Reconcile sweeps the platform of a ProviderConfig, if a sweep is due.
func (s *Sweeper) Reconcile(ctx context.Context, config *v1alpha1.ProviderConfig) (reconcile.Result, error) {
	if config.Spec.Provider != s.Type {
		return reconcile.Result{}, nil
	}
	m := s.of(config.UID)
	if early := s.Every - s.own().Sub(m.looked); early > 0 {
		return reconcile.Result{RequeueAfter: early}, nil
	}
	m.looked = s.own()
	if err := s.sweep(ctx, client.ObjectKeyFromObject(config), m); err != nil {
		m.seen = nil // what was not seen twice in a row counts from the beginning
		log.FromContext(ctx).Info("cannot look for orphans", "because", err.Error())
	}
	return reconcile.Result{RequeueAfter: s.Every}, nil
}

// sweep compares platform and requests and reports what it finds. It begins with
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
	f := facts{now: s.Now(), own: s.own(), grace: s.Grace, remove: s.Delete, known: config.Status.Orphans, seen: m.seen, clusters: map[string]bool{}}
	if len(charges) == 0 {
		return s.report(ctx, config, charges, decide(f), m)
	}
	platform, err := s.Sessions.Platform(ctx, config)
	if err == nil {
		err = request.SamePlatform(config, platform)
	}
	if err != nil {
		return err
	}
	for id, cb := range charges {
		found, err := things(ctx, platform, cb)
		if err != nil {
			s.Sessions.Refused(name, platform, err)
			log.FromContext(ctx).Info("cannot look for orphans of a cluster", "cluster", id, "because", err.Error())
		}
		f.clusters[id], f.things = err == nil, append(f.things, found...)
	}
	// What another platform shows says nothing of this one.
	if now, err := s.Sessions.Identify(ctx, name, platform); err != nil {
		return err
	} else if err := request.Changed("look for orphans", platform.Identity, now); err != nil {
		return err
	}
	if f.owned, err = s.owners(ctx, f.things); err != nil {
		return err
	}
	d := decide(f)
	if err := s.report(ctx, config, charges, d, m); err != nil {
		return err
	}
	if err := s.delete(ctx, platform, charges, d.remove, m); err != nil {
		log.FromContext(ctx).Info("cannot delete orphans", "because", err.Error())
	}
	return nil
}

// delete asks the platform to remove what may go. It is asked again with every
// sweep, until nothing is left. What stays keeps nothing else from going, but an
// API server that is not well keeps everything: a garbage collector that trusts a
// sick one deletes what is in use.
func (s *Sweeper) delete(ctx context.Context, p *provider.Platform, charges map[string]*v1alpha1.ClusterBootstrap, all []v1alpha1.Orphan, m *memory) error {
	var failed []error
	for _, o := range all {
		if err := s.Healthy(ctx); err != nil {
			return errors.Join(append(failed, err)...)
		}
		failed = append(failed, s.deleteOne(ctx, p, charges[o.ClusterID], o, m))
	}
	return errors.Join(failed...)
}

func (s *Sweeper) deleteOne(ctx context.Context, p *provider.Platform, cb *v1alpha1.ClusterBootstrap, o v1alpha1.Orphan, m *memory) error {
	if sure, err := s.sure(ctx, cb); err != nil || !sure {
		return err
	}
	if !m.asked[keyOf(o)] {
		m.asked[keyOf(o)] = true
		s.record(ctx, cb, o, reasonDeleting, "deleting %s %q from the platform: no request has owned it since %s")
	}
	err := remove(ctx, p, o)
	if err != nil && !m.refused[keyOf(o)] {
		m.refused[keyOf(o)] = true
		s.record(ctx, cb, o, reasonKept, "%s %q, an orphan since %s, cannot be deleted so far: %s", request.Short(err.Error()))
	}
	return err
}

// sure reports whether the plane is in charge of the cluster at this moment, which
// is not paused.
func (s *Sweeper) sure(ctx context.Context, cb *v1alpha1.ClusterBootstrap) (bool, error) {
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
	_, _, err := p.Remove(ctx, provider.Holding{Name: o.Name, Owner: owner, LoadBalancer: o.Kind == v1alpha1.OrphanLoadBalancer})
	return err
}

func (s *Sweeper) of(uid types.UID) *memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory == nil {
		s.memory = map[types.UID]*memory{}
	}
	m, ok := s.memory[uid]
	if !ok {
		m = &memory{asked: map[key]bool{}, refused: map[key]bool{}}
		s.memory[uid] = m
	}
	return m
}

func (s *Sweeper) forget(config client.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.memory, config.GetUID())
	s.Metrics.ForgetOrphans(s.Type, client.ObjectKeyFromObject(config).String())
}
