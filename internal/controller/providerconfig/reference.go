// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// referrers are the kinds that keep a ProviderConfig, each with an empty list.
func referrers() map[client.Object]client.ObjectList {
	return map[client.Object]client.ObjectList{
		&v1alpha1.MachineRequest{}:      &v1alpha1.MachineRequestList{},
		&v1alpha1.LoadBalancerRequest{}: &v1alpha1.LoadBalancerRequestList{},
		&v1alpha1.ClusterBootstrap{}:    &v1alpha1.ClusterBootstrapList{},
	}
}

// target returns the ProviderConfig that an object refers to.
func target(o client.Object) types.NamespacedName {
	var ref v1alpha1.ProviderReference
	switch o := o.(type) {
	case *v1alpha1.MachineRequest:
		ref = o.Spec.ProviderRef
	case *v1alpha1.LoadBalancerRequest:
		ref = o.Spec.ProviderConfigRef
	case *v1alpha1.ClusterBootstrap:
		ref = o.Spec.ProviderRef
	}
	if ref.Namespace == "" {
		ref.Namespace = o.GetNamespace()
	}
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

// The index carries the provider's name, so that one manager can hold several.
func (r *Reconciler) byTarget() string { return string(r.Type) + ".target" }

func (r *Reconciler) index(i client.FieldIndexer) error {
	for kind := range referrers() {
		err := i.IndexField(context.Background(), kind, r.byTarget(), func(o client.Object) []string {
			return []string{target(o).String()}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// referenced reports whether any object refers to the ProviderConfig.
func (r *Reconciler) referenced(ctx context.Context, config *v1alpha1.ProviderConfig) (bool, error) {
	match := client.MatchingFields{r.byTarget(): client.ObjectKeyFromObject(config).String()}
	for _, list := range referrers() {
		if err := r.Client.List(ctx, list, match, client.Limit(1), client.UnsafeDisableDeepCopy); err != nil {
			return false, err
		}
		if count(list) > 0 {
			return true, nil
		}
	}
	return false, nil
}

func count(list client.ObjectList) int {
	switch l := list.(type) {
	case *v1alpha1.MachineRequestList:
		return len(l.Items)
	case *v1alpha1.LoadBalancerRequestList:
		return len(l.Items)
	case *v1alpha1.ClusterBootstrapList:
		return len(l.Items)
	}
	return 0
}

func ofReferrer(_ context.Context, o client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: target(o)}}
}
