// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"cmp"
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/butlerdotdev/butler/internal/mirror"
)

// watch reports each change of an object of a kind. Only
// names are kept. It continues after the API server was unreachable.
func (c *connection) watch(kind schema.GroupVersionResource) cache.Store {
	c.mu.Lock()
	defer c.mu.Unlock()
	if store, watched := c.stores[kind]; watched {
		return store
	}
	m := mirror.New(mirror.Options{
		Source: c.all(kind), Kind: &metav1.PartialObjectMetadata{}, Transform: nameOnly,
		Changed: func(before, after any) { c.changed(kind, cmp.Or(after, before)) },
	})
	c.stores[kind] = m.Store()
	c.running.Go(func() { m.Run(c.ctx) })
	return m.Store()
}

// all lists and watches the metadata of a kind in all namespaces.
func (c *connection) all(kind schema.GroupVersionResource) cache.ListerWatcher {
	these := c.metadata.Resource(kind)
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return these.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return these.Watch(ctx, o) },
	}, c.metadata)
}

// nameOnly is what is kept of an object.
func nameOnly(o any) (any, error) {
	if m, ok := o.(*metav1.PartialObjectMetadata); ok {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion,
		}}, nil
	}
	return o, nil
}

func (c *connection) changed(kind schema.GroupVersionResource, o any) {
	m, ok := o.(*metav1.PartialObjectMetadata)
	if !ok {
		return
	}
	if kind == definitions {
		c.mu.Lock()
		delete(c.established, m.Name)
		c.mu.Unlock()
	}
	c.touched(objectKey(kind, types.NamespacedName{Namespace: m.Namespace, Name: m.Name}))
}

// objectKey identifies an object.
func objectKey(kind schema.GroupVersionResource, name types.NamespacedName) string {
	return fmt.Sprintf("%s/%s", kind.GroupResource(), name)
}

// exists reports whether an object exists. One that the watch has not seen is read
// again: it may just have been created.
func (c *connection) exists(ctx context.Context, kind schema.GroupVersionResource, name types.NamespacedName) (bool, error) {
	if _, seen, _ := c.watch(kind).GetByKey(storeKey(name)); seen {
		return true, nil
	}
	_, err := c.metadata.Resource(kind).Namespace(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

func storeKey(n types.NamespacedName) string {
	if n.Namespace == "" {
		return n.Name
	}
	return n.String()
}
