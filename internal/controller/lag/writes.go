// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package lag

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Writes are those of one reconciler to the objects that it reconciles. The zero value is ready.
type Writes[O client.Object] struct {
	mu  sync.Mutex
	all map[types.UID]*Versions
}

// Behind begins a pass over an object. It reports whether the object is one of the past.
func (w *Writes[O]) Behind(o O) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.all[o.GetUID()]
	if known != nil && !known.Begin(o.GetResourceVersion()) {
		return true
	}
	delete(w.all, o.GetUID())
	return false
}

// Client returns a client that notes which versions its patches replace.
func (w *Writes[O]) Client(c client.Client) client.Client { return &noting[O]{c, w} }

// note notes a write. An object without finalizers that is being deleted is gone.
func (w *Writes[O]) note(o client.Object, old string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
		delete(w.all, o.GetUID())
		return
	}
	if w.all == nil {
		w.all = map[types.UID]*Versions{}
	}
	if w.all[o.GetUID()] == nil {
		w.all[o.GetUID()] = &Versions{}
	}
	w.all[o.GetUID()].Replace(old, o.GetResourceVersion())
}

// patched runs a patch and notes it, if it is one of an object that is reconciled.
func (w *Writes[O]) patched(o client.Object, patch func() error) error {
	old := o.GetResourceVersion()
	err := patch()
	if _, is := o.(O); is && err == nil {
		w.note(o, old)
	}
	return err
}

type noting[O client.Object] struct {
	client.Client
	writes *Writes[O]
}

// Patch notes what it replaces.
func (n *noting[O]) Patch(ctx context.Context, o client.Object, p client.Patch, options ...client.PatchOption) error {
	return n.writes.patched(o, func() error { return n.Client.Patch(ctx, o, p, options...) })
}

// Status returns a writer that notes what its patches replace.
func (n *noting[O]) Status() client.SubResourceWriter {
	return &notingStatus[O]{n.Client.Status(), n.writes}
}

type notingStatus[O client.Object] struct {
	client.SubResourceWriter
	writes *Writes[O]
}

// Patch notes what it replaces.
func (n *notingStatus[O]) Patch(ctx context.Context, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
	return n.writes.patched(o, func() error { return n.SubResourceWriter.Patch(ctx, o, p, options...) })
}
