// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package metric

import (
	"context"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Phases is how objects of a kind are counted by phase.
type Phases struct {
	// Object is an empty one of the kind.
	Object client.Object
	// Of returns provider and phase of an object; counts is false for one of another controller.
	Of func(client.Object) (provider, phase string, counts bool)
}

// Follow counts the objects of a kind by phase while the manager works as the leader, and
// records how long they are in each.
func (m *Metrics) Follow(in manager.Manager, p Phases) error {
	if m == nil {
		return nil
	}
	return in.Add(manager.RunnableFunc(func(ctx context.Context) error {
		informer, err := in.GetCache().GetInformer(ctx, p.Object)
		if err != nil {
			return err
		}
		t := &tracker{metrics: m, phases: p, began: time.Now(), now: time.Now, seen: map[types.UID]state{}}
		m.add(t)
		defer m.remove(t)
		added, err := informer.AddEventHandler(t)
		if err != nil {
			return err
		}
		<-ctx.Done()
		return informer.RemoveEventHandler(added)
	}))
}

func (m *Metrics) add(t *tracker) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trackers[t] = true
}

func (m *Metrics) remove(t *tracker) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.trackers, t)
}

// counted returns the number of objects by phase.
func (m *Metrics) counted() map[place]int {
	m.mu.Lock()
	all := maps.Clone(m.trackers)
	m.mu.Unlock()
	n := map[place]int{}
	for t := range all {
		t.count(n)
	}
	return n
}

// place is a phase of a kind.
type place struct{ kind, provider, phase string }

// state is the phase of one object, and since when it is known; zero if it is not.
type state struct {
	place
	since time.Time
}

// tracker follows the objects of one kind, as events of an informer.
type tracker struct {
	metrics *Metrics
	phases  Phases
	began   time.Time
	now     func() time.Time

	mu   sync.Mutex
	seen map[types.UID]state
}

// OnAdd implements toolscache.ResourceEventHandler.
func (t *tracker) OnAdd(o any, _ bool) {
	if object, ok := o.(client.Object); ok {
		t.saw(object, object.GetCreationTimestamp().Time)
	}
}

// OnUpdate implements toolscache.ResourceEventHandler.
func (t *tracker) OnUpdate(_, o any) {
	if object, ok := o.(client.Object); ok {
		t.saw(object, t.now())
	}
}

// OnDelete implements toolscache.ResourceEventHandler.
func (t *tracker) OnDelete(o any) {
	if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		o = gone.Obj
	}
	if object, ok := o.(client.Object); ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.forget(object)
	}
}

// forget removes an object that is gone, or that another controller looks after from now on:
// there its phase continues.
func (t *tracker) forget(o client.Object) {
	if !o.GetDeletionTimestamp().IsZero() {
		t.left(t.seen[o.GetUID()])
	}
	delete(t.seen, o.GetUID())
}

// saw records the phase of an object, which is in it since then.
func (t *tracker) saw(o client.Object, since time.Time) {
	provider, phase, counts := t.phases.Of(o)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !counts {
		t.forget(o)
		return
	}
	is := place{kindOf(o), provider, phase}
	was, known := t.seen[o.GetUID()]
	switch {
	case known && was.place == is:
		return
	case known:
		t.left(was)
	case since.Before(t.began.Truncate(time.Second)):
		since = time.Time{} // it may have been in other phases before
	}
	t.seen[o.GetUID()] = state{is, since}
}

// left records the end of a phase whose beginning is known.
func (t *tracker) left(s state) {
	if !s.since.IsZero() && s.phase != "" {
		t.metrics.phases.WithLabelValues(s.kind, s.provider, s.phase).Observe(max(0, t.now().Sub(s.since).Seconds()))
	}
}

// count adds the objects of a tracker.
func (t *tracker) count(to map[place]int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.seen {
		if s.phase != "" {
			to[s.place]++
		}
	}
}
