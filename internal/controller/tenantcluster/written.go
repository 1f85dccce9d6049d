// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// written remembers the version of each TenantCluster with the status that was last written.
type written struct {
	mu  sync.Mutex
	all map[types.NamespacedName]string
}

func (w *written) record(tc *v1alpha1.TenantCluster) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[types.NamespacedName]string{}
	}
	w.all[client.ObjectKeyFromObject(tc)] = tc.ResourceVersion
}

func (w *written) of(tc *v1alpha1.TenantCluster) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all[client.ObjectKeyFromObject(tc)]
}

func (w *written) forget(key types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, key)
}

// confirm returns errChanged for a TenantCluster of the past: a walk that begins right after
// another one may read it from a cache without what that wrote, and what looks like no change
// must not leave that as it is until the next event.
func (r *Reconciler) confirm(ctx context.Context, seen *v1alpha1.TenantCluster) error {
	if last := r.written.of(seen); last == "" || last == seen.ResourceVersion {
		return nil
	}
	now := &v1alpha1.TenantCluster{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(seen), now); err != nil {
		return client.IgnoreNotFound(err)
	}
	if now.ResourceVersion != seen.ResourceVersion {
		return errChanged
	}
	r.written.record(now)
	return nil
}
