// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package mirror keeps the objects of a kind as an API server has them. A mirror has one user, so it
// needs none of what a shared informer has for several: a queue of 16 KiB and two goroutines for each of
// them. With a dozen mirrors for each of hundreds of clusters that is most of the memory.
package mirror

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// Options are what a mirror follows, and whom it reports to. Source, Kind and Changed are needed.
type Options struct {
	Source cache.ListerWatcher
	// Kind is an object of the kind.
	Kind runtime.Object
	// Transform keeps of an object what is read of it.
	Transform cache.TransformFunc
	// Changed is called after each change, with the object as it was, nil if it is new, and as it is,
	// nil if it is gone. It must not wait.
	Changed func(before, after any)
	// Failed is called when a list or a watch has ended with an error; it is retried.
	Failed func(error)
}

// Mirror is a copy of the objects of a kind, by namespace and name.
type Mirror struct {
	store cache.Indexer
	run   cache.Controller
}

// New returns a mirror that is empty until it runs.
func New(o Options) *Mirror {
	m := &Mirror{store: cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{})}
	m.run = cache.New(&cache.Config{
		Queue:         cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: m.store, EmitDeltaTypeReplaced: true, Transformer: o.Transform}),
		ListerWatcher: o.Source, ObjectType: o.Kind,
		Process: func(all any, _ bool) error { return m.take(all, o.Changed) },
		WatchErrorHandlerWithContext: func(_ context.Context, _ *cache.Reflector, err error) {
			if o.Failed != nil {
				o.Failed(err)
			}
		},
	})
	return m
}

// Run follows the API server until the context ends.
func (m *Mirror) Run(ctx context.Context) { m.run.RunWithContext(ctx) }

// Complete reports whether everything was there once.
func (m *Mirror) Complete() bool { return m.run.HasSynced() }

// Store returns the objects. It must not be written to.
func (m *Mirror) Store() cache.Indexer { return m.store }

// take applies changes of one object.
func (m *Mirror) take(all any, changed func(before, after any)) error {
	deltas, ok := all.(cache.Deltas)
	if !ok {
		return nil
	}
	for _, d := range deltas {
		before, _, err := m.store.Get(d.Object)
		if err != nil {
			return err
		}
		if d.Type == cache.Deleted {
			err = m.remove(d.Object, before, changed)
		} else if err = m.store.Update(d.Object); err == nil {
			changed(before, d.Object)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// remove drops an object. One whose deletion was missed is there as it was last.
func (m *Mirror) remove(o, before any, changed func(before, after any)) error {
	if err := m.store.Delete(o); err != nil {
		return err
	}
	if before != nil {
		changed(before, nil)
	}
	return nil
}
