// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package orphan

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
)

// page is how many requests are read at once.
const page = 500

// charges are the ClusterBootstraps of a ProviderConfig that this plane is in
// charge of, by the id of their cluster. One that is being deleted takes care of
// its things itself. Of two with the same id nobody knows which has what: neither
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
		if holders[cb.Annotations[v1alpha1.AnnotationClusterID]] == 1 && request.ConfigName(cb, cb.Spec.ProviderRef) == client.ObjectKeyFromObject(config) && inCharge(cb) {
			found[cb.Annotations[v1alpha1.AnnotationClusterID]] = cb
		}
	}
	return found, nil
}

func inCharge(cb *v1alpha1.ClusterBootstrap) bool {
	return cb.Annotations[v1alpha1.AnnotationClusterID] != "" && cb.DeletionTimestamp.IsZero() && !request.Fenced(cb)
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
	machines, err := p.Machines.List(ctx, owner)
	if err != nil {
		return nil, err
	}
	var all []thing
	for _, m := range machines {
		all = append(all, thing{v1alpha1.OrphanMachine, m.Ref.Name, m.Ref.Owner, int32(len(m.Parts))})
	}
	if p.LoadBalancers == nil {
		return all, nil
	}
	balancers, err := p.LoadBalancers.List(ctx, owner)
	if err != nil {
		return nil, err
	}
	for _, b := range balancers {
		all = append(all, thing{v1alpha1.OrphanLoadBalancer, b.Ref.Name, b.Ref.Owner, int32(len(b.Parts))})
	}
	return all, nil
}

// owners are the ids of all requests, as the API server has them now. A request
// exists before what it asks for, so this is read after the platform.
func (s *Sweeper) owners(ctx context.Context) (map[string]bool, error) {
	ids := map[string]bool{}
	machines := &v1alpha1.MachineRequestList{}
	for {
		if err := s.Live.List(ctx, machines, client.Limit(page), client.Continue(machines.Continue)); err != nil {
			return nil, err
		}
		for i := range machines.Items {
			ids[machines.Items[i].Annotations[v1alpha1.AnnotationOwnerID]] = true
		}
		if machines.Continue == "" {
			break
		}
	}
	balancers := &v1alpha1.LoadBalancerRequestList{}
	for {
		if err := s.Live.List(ctx, balancers, client.Limit(page), client.Continue(balancers.Continue)); err != nil {
			return nil, err
		}
		for i := range balancers.Items {
			ids[balancers.Items[i].Annotations[v1alpha1.AnnotationOwnerID]] = true
		}
		if balancers.Continue == "" {
			return ids, nil
		}
	}
}
