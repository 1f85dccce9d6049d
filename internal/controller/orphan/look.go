// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package orphan

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
)

// page is how many requests are read at once.
const page = 500

// charges are the ClusterBootstraps of a ProviderConfig that this plane is in
// charge of, by the id of their cluster. One that is being deleted takes care of
// its things itself. Of two with the same id it is not known which has what: neither
// counts.
func (s *Sweeper) charges(ctx context.Context, config *v1alpha1.ProviderConfig) (map[string]*v1alpha1.ClusterBootstrap, error) {
	list := &v1alpha1.ClusterBootstrapList{}
	if err := s.Client.List(ctx, list); err != nil {
		return nil, err
	}
	found, holders := map[string]*v1alpha1.ClusterBootstrap{}, map[string]int{}
	for i := range list.Items {
		holders[list.Items[i].Annotations[v1alpha1.AnnotationClusterID]]++
	}
	for i := range list.Items {
		cb := &list.Items[i]
		if holders[cb.Annotations[v1alpha1.AnnotationClusterID]] == 1 && cb.ProviderConfig() == client.ObjectKeyFromObject(config) && inCharge(cb) {
			found[cb.Annotations[v1alpha1.AnnotationClusterID]] = cb
		}
	}
	return found, nil
}

func inCharge(cb *v1alpha1.ClusterBootstrap) bool {
	return cb.Annotations[v1alpha1.AnnotationClusterID] != "" && cb.DeletionTimestamp.IsZero() && !v1alpha1.Fenced(cb) && !request.Copied(cb)
}

// things are all that the platform holds for a cluster, or an error: never a part.
// What goes by the name of another cluster is that one's, whatever its id says: a
// ClusterBootstrap may have come with an id that is not its own.
func things(ctx context.Context, p *provider.Platform, cb *v1alpha1.ClusterBootstrap) ([]thing, error) {
	all, err := listed(ctx, p, provider.Owner{ClusterID: cb.Annotations[v1alpha1.AnnotationClusterID]})
	return slices.DeleteFunc(all, func(t thing) bool { return t.owner.Cluster != "" && t.owner.Cluster != cb.Spec.Cluster.Name }), err
}

// listed is all that the platform holds for an owner.
func listed(ctx context.Context, p *provider.Platform, owner provider.Owner) ([]thing, error) {
	ctx, cancel := context.WithTimeout(ctx, request.CallTimeout)
	defer cancel()
	held, err := p.Holdings(ctx, owner)
	if err != nil {
		return nil, err
	}
	var all []thing
	for _, h := range held {
		kind := v1alpha1.OrphanMachine
		if h.LoadBalancer {
			kind = v1alpha1.OrphanLoadBalancer
		}
		if h.State != provider.StateAbsent {
			all = append(all, thing{kind, h.Name, h.Owner, int32(len(h.Parts))})
		}
		if len(h.Copies) > 0 {
			all = append(all, thing{v1alpha1.OrphanCopy, h.Copies[0].Name, h.Owner, int32(len(h.Copies))})
		}
	}
	return all, nil
}

// owners are the ids of all requests, as the API server has them now. A request
// exists before what it asks for, so this is read after the platform. It is not read
// if the cache knows a request for everything that the platform holds.
func (s *Sweeper) owners(ctx context.Context, all []thing) (map[string]bool, error) {
	cached, err := s.cachedOwners(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(all, func(t thing) bool { return t.kind != v1alpha1.OrphanCopy && !cached[t.owner.ID] }) {
		return cached, nil
	}
	ids := map[string]bool{}
	for _, kind := range []string{"MachineRequest", "LoadBalancerRequest"} {
		if err := s.addLiveOwners(ctx, kind, ids); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// cachedOwners are the ids of the requests in the cache. A request that is in the
// cache alone is deleted by now: what it owned is looked at again with the next sweep.
func (s *Sweeper) cachedOwners(ctx context.Context) (map[string]bool, error) {
	machines, balancers := &v1alpha1.MachineRequestList{}, &v1alpha1.LoadBalancerRequestList{}
	for _, list := range []client.ObjectList{machines, balancers} {
		if err := s.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
	}
	ids := map[string]bool{}
	for i := range machines.Items {
		ids[machines.Items[i].Annotations[v1alpha1.AnnotationOwnerID]] = true
	}
	for i := range balancers.Items {
		ids[balancers.Items[i].Annotations[v1alpha1.AnnotationOwnerID]] = true
	}
	return ids, nil
}

// addLiveOwners adds the ids of all requests of a kind, reading metadata alone.
func (s *Sweeper) addLiveOwners(ctx context.Context, kind string, ids map[string]bool) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion().WithKind(kind + "List"))
	for {
		if err := s.Live.List(ctx, list, client.Limit(page), client.Continue(list.Continue)); err != nil {
			return err
		}
		for i := range list.Items {
			ids[list.Items[i].Annotations[v1alpha1.AnnotationOwnerID]] = true
		}
		if list.Continue == "" {
			return nil
		}
	}
}
