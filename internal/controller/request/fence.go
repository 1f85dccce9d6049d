// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Fence knows which requests another plane is in charge of. Nothing is done about
// those, also not when they are being deleted.
type Fence struct {
	Cache client.Reader
	// Live is asked for what the cache does not have: a request and its
	// ClusterBootstrap come by different watches.
	Live client.Reader
}

// Holds reports whether a request must be left alone. One without a
// ClusterBootstrap is not fenced.
func (f Fence) Holds(ctx context.Context, o client.Object) (bool, error) {
	cb, err := find(ctx, o, f.Cache, f.Live)
	return cb != nil && v1alpha1.Fenced(cb), err
}

// find returns the ClusterBootstrap of a request from the first reader that has
// it, nil if none has.
func find(ctx context.Context, o client.Object, from ...client.Reader) (*v1alpha1.ClusterBootstrap, error) {
	name, ok := BootstrapOf(o)
	if !ok {
		return nil, nil
	}
	id := o.GetAnnotations()[v1alpha1.AnnotationClusterID]
	for _, r := range from {
		cb := &v1alpha1.ClusterBootstrap{}
		err := r.Get(ctx, name, cb)
		if err == nil && cb.Annotations[v1alpha1.AnnotationClusterID] == id {
			return cb, nil
		}
		if client.IgnoreNotFound(err) != nil {
			return nil, err
		}
	}
	return nil, nil
}

// BootstrapOf names the ClusterBootstrap of a request, if its label does.
func BootstrapOf(o client.Object) (types.NamespacedName, bool) {
	name := o.GetLabels()[v1alpha1.LabelClusterBootstrap]
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: name}, name != ""
}

// IndexBootstrap indexes the requests of a kind by their ClusterBootstrap.
func IndexBootstrap(ctx context.Context, i client.FieldIndexer, kind client.Object, index string) error {
	return i.IndexField(ctx, kind, index, func(o client.Object) []string {
		name, ok := BootstrapOf(o)
		if !ok {
			return nil
		}
		return []string{name.String()}
	})
}

// FenceMoved admits a ClusterBootstrap that has changed what may be done about
// its requests: with its fence, with the plane, with a replacement, or with the number of its
// machines.
func FenceMoved() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations()
		return v1alpha1.Fenced(e.ObjectOld) != v1alpha1.Fenced(e.ObjectNew) ||
			before[v1alpha1.AnnotationPlane] != after[v1alpha1.AnnotationPlane] ||
			before[v1alpha1.AnnotationReplacing] != after[v1alpha1.AnnotationReplacing] ||
			machinesOf(e.ObjectOld) != machinesOf(e.ObjectNew)
	}}
}

func machinesOf(o client.Object) int {
	if cb, ok := o.(*v1alpha1.ClusterBootstrap); ok {
		return len(cb.Status.Machines)
	}
	return 0
}
