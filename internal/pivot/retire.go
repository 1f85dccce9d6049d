// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"context"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// retire takes the requests off From, whose fence keeps everybody from acting on
// that. The ClusterBootstrap, ProviderConfigs and Secrets stay, to be read.
func (r *run) retire(ctx context.Context) error {
	r.progress("retiring " + r.from.Name)
	var all set
	err := r.retry(ctx, func() (err error) {
		all, err = r.followers(ctx, r.from)
		return err
	})
	if err != nil {
		return err
	}
	cb, err := r.bootstrap(ctx, r.from)
	if err != nil {
		return err
	}
	if cb != nil {
		if err := r.retry(ctx, func() error { return r.forwardDeletions(ctx, cb) }); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxConcurrent)
	for _, o := range all {
		group.Go(func() error { return r.retireOne(ctx, o) })
	}
	return group.Wait()
}

// retireOne removes an object as it was listed. After an error it reads it again.
func (r *run) retireOne(ctx context.Context, o *unstructured.Unstructured) error {
	known := true
	return r.retry(ctx, func() (err error) {
		if !known {
			if o, err = get(ctx, r.from, o.GroupVersionKind(), client.ObjectKeyFromObject(o)); err != nil || o == nil {
				return err
			}
		}
		known = false
		if err := r.forwardDeletions(ctx, o); err != nil {
			return err
		}
		return r.refused("retire", r.from, o, r.remove(ctx, r.from, o))
	})
}

// forwardDeletions deletes on To what was deleted on From after it was copied, unless To
// has recreated it since.
func (r *run) forwardDeletions(ctx context.Context, o *unstructured.Unstructured) error {
	if o.GetDeletionTimestamp().IsZero() {
		return nil
	}
	to, err := get(ctx, r.to, o.GroupVersionKind(), client.ObjectKeyFromObject(o))
	if err != nil || to == nil || !to.GetDeletionTimestamp().IsZero() {
		return err
	}
	if clusterID(to) != r.clusterID || ownerID(to) != ownerID(o) {
		return nil
	}
	return r.refused("delete", r.to, to, client.IgnoreNotFound(r.to.Client.Delete(ctx, to, client.Preconditions{UID: new(to.GetUID())})))
}

func ownerID(o *unstructured.Unstructured) string {
	return o.GetAnnotations()[v1alpha1.AnnotationOwnerID]
}
