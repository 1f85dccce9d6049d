// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/controller/lag"
	"github.com/butlerdotdev/butler/internal/ipam"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// Reasons of what keeps a cluster from the addresses that it needs.
const (
	reasonAddresses    = "WaitingForAddresses"
	reasonAddressQuota = "AddressQuotaReached"
	reasonNameTaken    = "NameTaken"
	reasonNetwork      = "NetworkInvalid"
)

// reserveAddresses has the addresses of the cluster allocated, where they come from
// NetworkPools: before anything is created for it, and again when it needs more. Those that
// are used are in the status already, which keeps them from being released.
func reserveAddresses(ctx context.Context, s *session) (*step.Obstacle, error) {
	s.addresses = slices.Clone(s.Status.Allocations)
	if !s.provider.Spec.Network.IPAM() {
		return nil, nil
	}
	o, err := s.assign(ctx, s.blocks())
	switch created := s.Status.ControlPlaneEndpoint != ""; {
	case err != nil:
		return nil, err
	case created: // it keeps what it has, and the condition NetworkReady says what it lacks
		s.lack(o)
		return nil, nil
	case o == nil && len(s.Status.Allocations) > len(s.addresses):
		return polled(reasonAddresses, "the addresses are allocated"), nil
	}
	return o, nil
}

// lack records what a cluster lacks that runs.
func (s *session) lack(o *step.Obstacle) {
	if s.lacking == nil {
		s.lacking = o
	}
}

// assign has blocks allocated: all that are missing, or none. What is allocated is recorded.
func (s *session) assign(ctx context.Context, blocks []block) (*step.Obstacle, error) {
	var wanted []request
	var obstacles []*step.Obstacle
	for _, b := range blocks {
		have, o, err := s.allocations(ctx, b)
		if o != nil || err != nil {
			return o, err
		}
		missing, o := s.missing(b, have)
		wanted, obstacles = append(wanted, missing...), append(obstacles, o)
		for _, a := range have {
			obstacles = append(obstacles, s.record(a))
		}
	}
	s.nameFirst()
	if o := step.Joined(obstacles); o != nil || len(wanted) == 0 {
		return o, nil
	}
	return s.allocate(ctx, wanted)
}

// allocations returns the IPAllocations of a block. One of another cluster is not adopted.
func (s *session) allocations(ctx context.Context, b block) (out []*v1alpha1.IPAllocation, o *step.Obstacle, err error) {
	for i := 1; ; i++ {
		a := &v1alpha1.IPAllocation{}
		err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.provider.Namespace, Name: b.name(i)}, a)
		switch _, known := s.listed(b.name(i)); {
		case apierrors.IsNotFound(err) && known:
			continue // it is created again
		case apierrors.IsNotFound(err):
			return out, nil, nil
		case err != nil:
			return nil, nil, err
		case !s.owns(a):
			return nil, reported(reasonNameTaken, "IPAllocation %s/%s belongs to another cluster; delete it if that cluster is gone", a.Namespace, a.Name), nil
		}
		out = append(out, a)
	}
}

// owns reports whether an IPAllocation is for this cluster.
func (s *session) owns(a *v1alpha1.IPAllocation) bool {
	ref := a.Spec.TenantClusterRef
	return ref != nil && *ref == v1alpha1.NamespacedReference{Namespace: s.Namespace, Name: s.Name}
}

// listed returns what the status has of an IPAllocation.
func (s *session) listed(name string) (v1alpha1.TenantAddresses, bool) {
	i := slices.IndexFunc(s.Status.Allocations, func(a v1alpha1.TenantAddresses) bool { return a.Name == name })
	if i < 0 {
		return v1alpha1.TenantAddresses{}, false
	}
	return s.Status.Allocations[i], true
}

// record lists an IPAllocation in the status, or returns what it waits for. It is used only
// when the status is written.
func (s *session) record(a *v1alpha1.IPAllocation) *step.Obstacle {
	_, known := s.listed(a.Name)
	ready := meta.FindStatusCondition(a.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case a.Status.Phase != v1alpha1.IPAllocationAllocated && ready == nil:
		return reported(reasonAddresses, "IPAllocation %s has no addresses of NetworkPool %s yet", a.Name, a.Spec.PoolRef.Name)
	case a.Status.Phase != v1alpha1.IPAllocationAllocated:
		o := reported(cmp.Or(ready.Reason, reasonAddresses), "IPAllocation %s has no addresses of NetworkPool %s: %s", a.Name, a.Spec.PoolRef.Name, ready.Message)
		o.Urgent = true
		return o
	case known:
		return nil
	case !a.DeletionTimestamp.IsZero():
		return reported(reasonAddresses, "IPAllocation %s is being deleted", a.Name)
	}
	s.Status.Allocations = append(s.Status.Allocations, v1alpha1.TenantAddresses{
		Name: a.Name, Type: a.Spec.Type, Pool: a.Spec.PoolRef.Name, CIDR: a.Status.CIDR,
		StartAddress: a.Status.StartAddress, EndAddress: a.Status.EndAddress,
	})
	s.lookWithin(lag.Again)
	return nil
}

// nameFirst refers to the first IPAllocation of each type.
func (s *session) nameFirst() {
	for kind, ref := range map[v1alpha1.IPAllocationType]**v1alpha1.NamespacedReference{
		v1alpha1.IPAllocationNodes: &s.Status.IPAllocationRef, v1alpha1.IPAllocationLoadBalancer: &s.Status.LBAllocationRef,
	} {
		if all := ofType(s.Status.Allocations, kind); len(all) > 0 {
			*ref = &v1alpha1.NamespacedReference{Namespace: s.provider.Namespace, Name: all[0].Name}
		}
	}
}

// allocate creates IPAllocations in the first pools in which all of them fit. One that was lost
// gets the addresses back that the status has.
func (s *session) allocate(ctx context.Context, wanted []request) (*step.Obstacle, error) {
	assigned, err := s.choosePools(ctx, wanted)
	if wrong, ok := errors.AsType[*bootstrap.PoolError](err); ok {
		return &step.Obstacle{Reason: wrong.Reason, Message: wrong.Message, Urgent: true}, nil
	}
	if err != nil {
		return nil, err
	}
	var o *step.Obstacle
	for _, w := range wanted {
		if w.pool = cmp.Or(w.pool, assigned[w.Name]); w.pool == "" {
			continue // the spec names addresses that no pool hands out
		}
		err := s.Client.Create(ctx, s.newAllocation(w))
		if apierrors.IsAlreadyExists(err) {
			return nil, errChanged // the cache does not have it yet
		}
		if err != nil {
			return nil, err
		}
		o = reported(reasonAddresses, "addresses of NetworkPool %s are being allocated", w.pool)
	}
	return o, nil
}

// choosePools returns the pools of requests that have none, by their names. Pools are read
// from the API server: what was allocated a moment ago counts.
func (s *session) choosePools(ctx context.Context, wanted []request) (map[string]string, error) {
	var open []bootstrap.Block
	for _, w := range wanted {
		if w.pool == "" {
			open = append(open, w.Block)
		}
	}
	if len(open) == 0 {
		return nil, nil
	}
	pools, claims := &v1alpha1.NetworkPoolList{}, &v1alpha1.AddressClaimList{}
	if err := errors.Join(s.Live.List(ctx, pools, client.InNamespace(s.provider.Namespace)), s.Live.List(ctx, claims)); err != nil {
		return nil, err
	}
	all := bootstrap.Pools{Config: s.provider, All: pools.Items, Claims: claims.Items, Field: "spec.networking"}
	assigned, err := all.Assign(v1alpha1.NetworkSpec{PodCIDR: s.Spec.Networking.PodCIDR, ServiceCIDR: s.Spec.Networking.ServiceCIDR}, open)
	out := map[string]string{}
	for _, a := range assigned {
		out[a.Name] = a.Pool
	}
	return out, err
}

func (s *session) newAllocation(w request) *v1alpha1.IPAllocation {
	a := &v1alpha1.IPAllocation{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.provider.Namespace, Name: w.Name, Labels: s.labels(),
			Annotations: map[string]string{v1alpha1.AnnotationClusterID: s.Annotations[v1alpha1.AnnotationClusterID]},
		},
		Spec: v1alpha1.IPAllocationSpec{
			PoolRef: v1alpha1.LocalReference{Name: w.pool}, Type: w.kind, Count: ipam.Int32(w.Count),
			TenantClusterRef: &v1alpha1.NamespacedReference{Namespace: s.Namespace, Name: s.Name},
		},
	}
	if w.Pinned != nil {
		a.Spec.PinnedRange = &v1alpha1.PinnedRange{StartAddress: w.Pinned.First.String(), EndAddress: w.Pinned.Last.String()}
	}
	return a
}

func ofType(all []v1alpha1.TenantAddresses, kind v1alpha1.IPAllocationType) (out []v1alpha1.TenantAddresses) {
	for _, a := range all {
		if a.Type == kind {
			out = append(out, a)
		}
	}
	return out
}

// nodeAddresses are those that the platform's provider hands out to workers.
func (s *session) nodeAddresses() (out tenant.Addresses) {
	for _, a := range ofType(s.addresses, v1alpha1.IPAllocationNodes) {
		out.Ranges = append(out.Ranges, a.StartAddress+"-"+a.EndAddress)
		if p, err := netip.ParsePrefix(a.CIDR); err == nil {
			out.Prefix = int32(p.Bits())
		}
	}
	if n := s.provider.Spec.Network; n != nil {
		out.Gateway = n.Gateway
	}
	return out
}

// balancerRanges are the addresses of load balancers that come from NetworkPools.
func (s *session) balancerRanges() (out []string) {
	for _, a := range ofType(s.addresses, v1alpha1.IPAllocationLoadBalancer) {
		out = append(out, a.StartAddress+"-"+a.EndAddress)
	}
	return out
}
