// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
	"github.com/butlerdotdev/butler/internal/step"
)

// reserveAddresses has every address of the cluster allocated before a machine is requested,
// where addresses come from NetworkPools. Those that the status has do not change.
func reserveAddresses(ctx context.Context, s *Session) (*Obstacle, error) {
	if !s.usesPools() {
		return nil, nil
	}
	if err := s.keepNames(ctx); err != nil {
		return nil, err
	}
	demands := demandsOf(s.Name, s.Spec, s.Plan.Machines, s.provider.Spec.Network)
	have, err := s.findAllocations(ctx, demands)
	if err != nil {
		return nil, err
	}
	var created []*v1alpha1.IPAllocation
	if err = s.checkChosen(demands); err == nil {
		created, err = s.allocate(ctx, demands, have)
	}
	if o, ok := poolObstacle(err); ok {
		return s.unlessReady(o)
	}
	if err != nil {
		return nil, err
	}
	if o := s.awaitAllocations(append(have, created...)); o != nil {
		return s.unlessReady(o)
	}
	if o, err := s.checkUnused(ctx, demands, have); o != nil || err != nil {
		return o, err
	}
	return nil, s.settleAddresses(have)
}

// usesPools reports whether the cluster has its addresses from NetworkPools. One whose
// machines were requested without them keeps the addresses that they have.
func (s *Session) usesPools() bool {
	return s.provider.Spec.Network.IPAM() && (len(s.Status.Machines) == 0 || len(s.Status.Allocations) > 0)
}

// unlessReady is an obstacle that blocks a cluster only until it is Ready: it has its
// addresses, and keeps them whatever the spec names by now.
func (s *Session) unlessReady(o *Obstacle) (*Obstacle, error) {
	if s.Status.Phase != v1alpha1.BootstrapReady {
		return o, nil
	}
	if s.deferred == nil {
		s.deferred = o
	}
	if has, ok := allocationOf(s.Status, s.Name+vipSuffix); ok {
		s.Spec.Network.VIP = has.StartAddress
	}
	if has, ok := allocationOf(s.Status, s.Name+poolSuffix); ok {
		s.Spec.Network.LoadBalancerPool = &v1alpha1.AddressRange{Start: has.StartAddress, End: has.EndAddress}
	}
	return nil, s.replan()
}

func poolObstacle(err error) (*Obstacle, bool) {
	var wrong *PoolError
	if !errors.As(err, &wrong) {
		return nil, false
	}
	return &Obstacle{Reason: wrong.Reason, Message: wrong.Message, Urgent: true}, true
}

// checkChosen refuses addresses of the spec that are others than those that were allocated
// before it named any: these do not change.
func (s *Session) checkChosen(demands []demand) error {
	for _, d := range demands {
		known, ok := allocationOf(s.Status, d.name)
		if !ok || d.pinned == nil {
			continue
		}
		if has, err := ipam.NewRange(known.StartAddress, known.EndAddress); err != nil || has != *d.pinned {
			return poolErrorf(reasonNetwork, "%s is %s, but %s was allocated for it from NetworkPool %s and does not change; set it to that, or leave it out", d.field, d.pinned, has, known.Pool)
		}
	}
	return nil
}

// findAllocations returns the IPAllocations of the demands that exist. One of another cluster
// is not adopted.
func (s *Session) findAllocations(ctx context.Context, demands []demand) (out []*v1alpha1.IPAllocation, err error) {
	for _, d := range demands {
		a := &v1alpha1.IPAllocation{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: d.name}}
		switch err := s.find(ctx, a); {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return nil, err
		case a.Annotations[v1alpha1.AnnotationClusterID] != s.clusterID():
			return nil, &Failure{Reason: "NameTaken", Message: fmt.Sprintf("IPAllocation %s/%s belongs to another cluster; delete it if that cluster is gone, or use another name", a.Namespace, a.Name)}
		}
		out = append(out, a)
	}
	return out, nil
}

// allocate creates the IPAllocations that are missing, in the first pools in which all of
// them fit. One that is lost gets the addresses back that the status has.
func (s *Session) allocate(ctx context.Context, demands []demand, have []*v1alpha1.IPAllocation) (created []*v1alpha1.IPAllocation, err error) {
	missing := slices.DeleteFunc(slices.Clone(demands), func(d demand) bool {
		return slices.ContainsFunc(have, func(a *v1alpha1.IPAllocation) bool { return a.Name == d.name })
	})
	assigned, err := s.choosePools(ctx, missing)
	if err != nil {
		return nil, err
	}
	for _, chosen := range assigned {
		i := slices.IndexFunc(missing, func(d demand) bool { return d.name == chosen.Name })
		a := s.newAllocation(missing[i], chosen.Pool)
		if err := s.Client.Create(ctx, a, client.FieldOwner(fieldOwner)); err != nil {
			return nil, err
		}
		created = append(created, a)
	}
	return created, nil
}

// choosePools assigns demands to pools. Those that the status has an answer to keep it.
func (s *Session) choosePools(ctx context.Context, missing []demand) (out []Assignment, err error) {
	var open []demand
	for _, d := range missing {
		known, ok := allocationOf(s.Status, d.name)
		if !ok {
			open = append(open, d)
			continue
		}
		out = append(out, Assignment{Name: d.name, Pool: known.Pool})
	}
	if len(open) == 0 {
		return out, nil
	}
	pools, err := s.pools(ctx)
	if err != nil {
		return nil, err
	}
	all, err := pools.candidates()
	if err != nil {
		return nil, err
	}
	if err := pools.check(s.Spec.Network, all); err != nil {
		return nil, err
	}
	chosen, err := pools.assign(open, all)
	return append(out, chosen...), err
}

// pools reads the pools of the ProviderConfig from the API server: what was allocated a
// moment ago counts.
func (s *Session) pools(ctx context.Context) (Pools, error) {
	if s.provider.Namespace != s.Namespace {
		return Pools{}, poolErrorf(reasonNetwork, "ProviderConfig %s/%s has NetworkPools, so it has to be in the namespace of the ClusterBootstrap, %s; create it there", s.provider.Namespace, s.provider.Name, s.Namespace)
	}
	pools, claims := &v1alpha1.NetworkPoolList{}, &v1alpha1.AddressClaimList{}
	for _, list := range []client.ObjectList{pools, claims} {
		if err := s.Live.List(ctx, list, client.InNamespace(s.Namespace)); err != nil {
			return Pools{}, err
		}
	}
	return Pools{Config: s.provider, All: pools.Items, Claims: claims.Items}, nil
}

func (s *Session) newAllocation(d demand, pool string) *v1alpha1.IPAllocation {
	a := &v1alpha1.IPAllocation{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: d.name},
		Spec:       v1alpha1.IPAllocationSpec{PoolRef: v1alpha1.LocalReference{Name: pool}, Type: d.kind, Count: int32(d.count)},
	}
	s.mark(a)
	if d.machine {
		a.Spec.MachineRequestRef = &v1alpha1.LocalReference{Name: d.name}
	} else {
		a.Spec.ClusterBootstrapRef = &v1alpha1.LocalReference{Name: s.Name}
	}
	pinned := d.pinned
	if known, ok := allocationOf(s.Status, d.name); ok {
		if r, err := ipam.NewRange(known.StartAddress, known.EndAddress); err == nil {
			pinned = &r
		}
	}
	if pinned != nil {
		a.Spec.PinnedRange = &v1alpha1.PinnedRange{StartAddress: pinned.First.String(), EndAddress: pinned.Last.String()}
	}
	return a
}

// awaitAllocations is what allocations wait for that have no addresses yet.
func (s *Session) awaitAllocations(all []*v1alpha1.IPAllocation) *Obstacle {
	var waiting []*Obstacle
	for _, a := range all {
		known, ok := allocationOf(s.Status, a.Name)
		allocated := a.Status.Phase == v1alpha1.IPAllocationAllocated
		switch {
		case ok && allocated && covers(a, known):
			// It is released with the machine, also if it is being deleted.
		case !allocated || !a.DeletionTimestamp.IsZero():
			waiting = append(waiting, allocationObstacle(a))
		case ok:
			waiting = append(waiting, &Obstacle{Reason: reasonAddresses, Urgent: true, Message: fmt.Sprintf("IPAllocation %s has %s, but %s is in use; delete it: it is created again", a.Name, a.Status.StartAddress, known.StartAddress)})
		}
	}
	return step.Joined(waiting)
}

// covers reports whether an allocation has the addresses that the status has.
func covers(a *v1alpha1.IPAllocation, known v1alpha1.BootstrapAllocation) bool {
	has, err := ipam.NewRange(a.Status.StartAddress, a.Status.EndAddress)
	used, wrong := ipam.NewRange(known.StartAddress, known.EndAddress)
	return err == nil && wrong == nil && has.Contains(used)
}

func allocationObstacle(a *v1alpha1.IPAllocation) *Obstacle {
	message := fmt.Sprintf("IPAllocation %s has no addresses of NetworkPool %s yet", a.Name, a.Spec.PoolRef.Name)
	c := meta.FindStatusCondition(a.Status.Conditions, v1alpha1.ConditionReady)
	if !a.DeletionTimestamp.IsZero() {
		message = fmt.Sprintf("IPAllocation %s is being deleted", a.Name)
	}
	if c == nil {
		return &Obstacle{Reason: reasonAddresses, Message: message}
	}
	return &Obstacle{Reason: reasonAddresses, Message: message + ": " + c.Message, Urgent: c.Status != metav1.ConditionTrue}
}

// settleAddresses records what was allocated, and continues with a plan that has it.
func (s *Session) settleAddresses(all []*v1alpha1.IPAllocation) error {
	for _, a := range all {
		if _, ok := allocationOf(s.Status, a.Name); ok {
			continue
		}
		s.Status.Allocations = append(s.Status.Allocations, v1alpha1.BootstrapAllocation{
			Name: a.Name, Pool: a.Spec.PoolRef.Name, CIDR: a.Status.CIDR, StartAddress: a.Status.StartAddress, EndAddress: a.Status.EndAddress,
		})
	}
	s.Spec = Effective(s.ClusterBootstrap)
	return s.replan()
}

// replan plans for the spec as it is now, with the names of the machines.
func (s *Session) replan() (err error) {
	names := s.Plan.Machines
	if s.Plan, err = NewPlan(s.Spec); err == nil {
		s.Plan.Machines = names
	}
	return err
}
