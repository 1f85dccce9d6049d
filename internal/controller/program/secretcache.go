// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// newCache makes a cache that watches the Secrets of the credentials and no others:
// each named one by a watch of its own, which RBAC allows by resourceNames.
func (c *Credentials) newCache(ctx context.Context) cache.NewCacheFunc {
	if c == nil || !c.Limited {
		return NewCache(ctx)
	}
	return func(config *rest.Config, o cache.Options) (cache.Cache, error) {
		parts := map[string]map[string]cache.Config{}
		for _, name := range c.Secrets {
			only := fields.OneTermEqualSelector("metadata.name", name.Name)
			parts[name.String()] = map[string]cache.Config{name.Namespace: {FieldSelector: only}}
		}
		for _, name := range c.Namespaces {
			parts[name] = map[string]cache.Config{name: {}}
		}
		base, err := NewCache(ctx)(config, o)
		if err != nil {
			return nil, err
		}
		out := &secretCache{Cache: base, secrets: map[string]cache.Cache{}}
		for key, namespaces := range parts {
			o.ByObject = map[client.Object]cache.ByObject{&corev1.Secret{}: {Namespaces: namespaces}}
			if out.secrets[key], err = NewCache(ctx)(config, o); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// secretCache is a cache whose Secrets come from caches of their own, by the name of
// the Secret or of its namespace.
type secretCache struct {
	cache.Cache
	secrets map[string]cache.Cache
}

// Get reads a Secret from its own cache. One that is not watched is not found.
func (s *secretCache) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if !isSecret(o) {
		return s.Cache.Get(ctx, key, o, options...)
	}
	for _, name := range []string{key.String(), key.Namespace} {
		if c, ok := s.secrets[name]; ok {
			return c.Get(ctx, key, o, options...)
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
}

// GetInformer joins the informers of Secrets.
func (s *secretCache) GetInformer(ctx context.Context, o client.Object, options ...cache.InformerGetOption) (cache.Informer, error) {
	if !isSecret(o) {
		return s.Cache.GetInformer(ctx, o, options...)
	}
	all := informers{}
	for _, key := range slices.Sorted(maps.Keys(s.secrets)) {
		one, err := s.secrets[key].GetInformer(ctx, o, options...)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// Start runs all caches until the context ends.
func (s *secretCache) Start(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Cache.Start(ctx) })
	for _, c := range s.secrets {
		group.Go(func() error { return c.Start(ctx) })
	}
	return group.Wait()
}

// WaitForCacheSync waits for all caches.
func (s *secretCache) WaitForCacheSync(ctx context.Context) bool {
	for _, c := range s.secrets {
		if !c.WaitForCacheSync(ctx) {
			return false
		}
	}
	return s.Cache.WaitForCacheSync(ctx)
}

func isSecret(o client.Object) bool {
	if _, ok := o.(*corev1.Secret); ok {
		return true
	}
	return o.GetObjectKind().GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("Secret")
}
