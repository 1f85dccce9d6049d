// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"errors"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// glance is how long a probe looks whether caches are in sync.
const glance = 200 * time.Millisecond

// synced is ready when all that is read from the cache is there. What waits for
// the lease reads nothing yet, and is ready to.
func synced(c cache.Cache) healthz.Checker {
	return func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), glance)
		defer cancel()
		if !c.WaitForCacheSync(ctx) {
			return errors.New("the caches are not in sync yet")
		}
		return nil
	}
}

// NewCache returns the cache of a manager that is started with ctx. A manager whose
// context ends before its cache is in sync otherwise waits for that all the same, and
// turns around without a pause meanwhile: with an API server that does not come
// back, until the process is killed.
func NewCache(ctx context.Context) cache.NewCacheFunc {
	return func(config *rest.Config, o cache.Options) (cache.Cache, error) {
		o.NewInformer = newInformer
		if o.DefaultTransform == nil {
			o.DefaultTransform = cache.TransformStripManagedFields() // they are not read
		}
		c, err := cache.New(config, o)
		return bounded{c, ctx}, err
	}
}

// bounded is a cache that counts as being in sync once it is not needed any more.
type bounded struct {
	cache.Cache
	ctx context.Context
}

// WaitForCacheSync waits, but not for longer than the manager works.
func (b bounded) WaitForCacheSync(ctx context.Context) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(b.ctx, cancel)()
	return b.Cache.WaitForCacheSync(ctx) || b.ctx.Err() != nil
}
