// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

const (
	reasonRemoving = "RemovingMachine"
	reasonRemoved  = "MachineRemoved"
	reasonAdding   = "AddingMachine"
)

// withholdMachines takes machines out of the plan of this walk that a Ready cluster does not
// have and that cannot be requested yet. Until they can, a request that is still being deleted
// is that of a machine which is removed.
func (s *Session) withholdMachines(ctx context.Context) error {
	if s.Status.Phase != v1alpha1.BootstrapReady {
		return nil
	}
	var err error
	s.Plan.Machines = slices.DeleteFunc(slices.Clone(s.Plan.Machines), func(m Machine) bool {
		if err != nil || s.machineStatus(m).Phase != "" {
			return false
		}
		why, failed := s.notYet(ctx, m)
		if err = failed; why == "" {
			return false
		}
		s.machines.withheld = append(s.machines.withheld, m.Name)
		if s.deferred == nil {
			s.deferred = &Obstacle{Reason: reasonAdding, Message: fmt.Sprintf("machine %s is not requested yet: %s", m.Name, why), Poll: true}
		}
		return true
	})
	return err
}

// notYet is why a machine that the cluster does not have cannot be requested now: what had its
// name before has to be gone, and its address has to be allocated.
func (s *Session) notYet(ctx context.Context, m Machine) (string, error) {
	r := &v1alpha1.MachineRequest{}
	r.Namespace, r.Name = s.Namespace, m.Name
	err := s.find(ctx, r)
	switch {
	case err == nil && !r.DeletionTimestamp.IsZero():
		return "the MachineRequest of that name is being deleted" + whyStill(r), nil
	case err == nil:
		return "", nil
	case !apierrors.IsNotFound(err):
		return "", err
	}
	if why, err := s.addressless(ctx, m); why != "" || err != nil {
		return why, err
	}
	if err := s.removeNode(ctx, m.Name); err != nil {
		return "it is not known whether a node has its name: " + step.Stable(err), nil
	}
	return "", nil
}

// addressless is why a machine has no address of a NetworkPool to be requested with. One whose
// IPAllocation is on its way out gets another.
func (s *Session) addressless(ctx context.Context, m Machine) (string, error) {
	if !s.usesPools() {
		return "", nil
	}
	a := &v1alpha1.IPAllocation{}
	a.Namespace, a.Name = s.Namespace, m.Name
	err := s.find(ctx, a)
	_, known := allocationOf(s.Status, m.Name)
	switch {
	case apierrors.IsNotFound(err) || err == nil && !a.DeletionTimestamp.IsZero():
		s.dropAllocation(m.Name)
		return "it has no address", nil
	case err != nil || known:
		return "", err
	}
	return "it has no address", nil
}

func (s *Session) dropAllocation(name string) {
	s.Status.Allocations = slices.DeleteFunc(slices.Clone(s.Status.Allocations), func(a v1alpha1.BootstrapAllocation) bool { return a.Name == name })
}

// isWanted reports whether the spec has a machine of a name.
func (s *Session) isWanted(name string) bool {
	return s.indexOf(name) >= 0 || slices.Contains(s.machines.withheld, name)
}

// findSurplus lists the requests of workers that the plan does not have, in the order in which
// they are removed: what is being deleted, then the highest index.
func (s *Session) findSurplus(ctx context.Context) error {
	if s.Status.Phase != v1alpha1.BootstrapReady {
		return nil
	}
	objects, err := s.ownBy(ctx, s.Client, &v1alpha1.MachineRequestList{})
	if err != nil {
		return err
	}
	for _, o := range objects {
		if r := o.(*v1alpha1.MachineRequest); r.Spec.Role == v1alpha1.RoleWorker && s.indexOf(r.Name) < 0 {
			s.machines.surplus = append(s.machines.surplus, r)
		}
	}
	slices.SortFunc(s.machines.surplus, removedFirst)
	return nil
}

func removedFirst(a, b *v1alpha1.MachineRequest) int {
	if a.DeletionTimestamp.IsZero() != b.DeletionTimestamp.IsZero() {
		if b.DeletionTimestamp.IsZero() {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(indexIn(b.Name), indexIn(a.Name)), cmp.Compare(b.Name, a.Name))
}

func indexIn(name string) int {
	i, err := strconv.Atoi(placeOf(name, v1alpha1.RoleWorker).index)
	if err != nil {
		return -1
	}
	return i
}

func (s *Session) isSurplus(name string) bool {
	return slices.ContainsFunc(s.machines.surplus, func(r *v1alpha1.MachineRequest) bool { return r.Name == name })
}

// removeWorkers removes the workers that the plan does not have from a Ready cluster, one at a
// time: its node is drained, then its request is deleted. awaitNodes removes the node, once the
// machine is gone. No step waits for it.
func removeWorkers(ctx context.Context, s *Session) (*Obstacle, error) {
	if s.Status.Phase != v1alpha1.BootstrapReady {
		return nil, nil
	}
	if err := s.releaseAddresses(ctx); err != nil || len(s.machines.surplus) == 0 {
		return nil, err
	}
	r := s.machines.surplus[0]
	if name := s.replaced(); name != "" {
		s.removalWaits(r, "machine "+name+" is being replaced", false)
		return nil, nil
	}
	// A machine that the status has is known to exist, and never requested again: the status
	// is written without it first.
	if slices.ContainsFunc(s.machines.before, func(m v1alpha1.BootstrapMachineStatus) bool { return m.Name == r.Name }) {
		s.removalWaits(r, "its node is drained next", false)
		return nil, nil
	}
	return nil, s.removeWorker(ctx, r)
}

func (s *Session) removeWorker(ctx context.Context, r *v1alpha1.MachineRequest) error {
	nodes, err := s.liveNodes(ctx)
	if err != nil && r.DeletionTimestamp.IsZero() {
		s.removalWaits(r, "no control plane answers"+step.Because(err), true)
		return nil
	}
	if err := s.current(ctx); err != nil {
		return err
	}
	i := slices.IndexFunc(nodes, func(n corev1.Node) bool { return n.Name == r.Name })
	if !r.DeletionTimestamp.IsZero() {
		if i >= 0 {
			_, _ = s.kubernetes.cluster.cordon(ctx, &nodes[i], s.Clock()) // the next walk tries again
		}
		s.removalWaits(r, "its MachineRequest is being deleted"+whyStill(r), false)
		return nil
	}
	if why := s.keepsWorkers(r, nodes); why != "" {
		s.removalWaits(r, why, true)
		return nil
	}
	if i >= 0 {
		if why, blocked := s.kubernetes.cluster.drain(ctx, &nodes[i], s.Clock(), isLost(r)); why != "" {
			s.removalWaits(r, why, blocked)
			return nil
		}
	}
	return s.deleteWorker(ctx, r)
}

func (s *Session) deleteWorker(ctx context.Context, r *v1alpha1.MachineRequest) error {
	if err := s.current(ctx); err != nil {
		return err
	}
	if err := s.Client.Delete(ctx, r, client.Preconditions{UID: &r.UID}); client.IgnoreNotFound(err) != nil {
		return err
	}
	s.removalWaits(r, "its MachineRequest is being deleted", false)
	return nil
}

// keepsWorkers is why no worker is removed now: the platform or the cluster may be in trouble
// as a whole.
func (s *Session) keepsWorkers(r *v1alpha1.MachineRequest, nodes []corev1.Node) string {
	if isUnknown(r) {
		return "the platform cannot be queried about it"
	}
	if u := slices.IndexFunc(s.machines.requests, isUnknown); u >= 0 {
		return "the platform cannot be queried about " + s.Plan.Machines[u].Name
	}
	if isLost(r) && isReadyNode(nodes, r.Name) {
		return "the platform does not have it, and its node is Ready: it may be another platform"
	}
	ready := s.readyNodes(nodes)
	if all := len(s.Plan.Machines); ready*2 < all {
		return fmt.Sprintf("only %d of the %d nodes that stay are Ready", ready, all)
	}
	return ""
}

func (s *Session) removalWaits(r *v1alpha1.MachineRequest, why string, urgent bool) {
	if s.deferred == nil {
		s.deferred = &Obstacle{Reason: reasonRemoving, Message: fmt.Sprintf("machine %s is being removed: %s", r.Name, why), Poll: true, Urgent: urgent}
	}
}

// releaseAddresses deletes the IPAllocations of machines that were removed. What the status has
// of them goes with that: a machine that gets the name again gets another address.
func (s *Session) releaseAddresses(ctx context.Context) error {
	if !s.usesPools() {
		return nil
	}
	objects, err := s.ownBy(ctx, s.Client, &v1alpha1.IPAllocationList{})
	if err != nil {
		return err
	}
	for _, o := range objects {
		a := o.(*v1alpha1.IPAllocation)
		if a.Spec.MachineRequestRef == nil || s.isWanted(a.Name) || s.isSurplus(a.Name) || !a.DeletionTimestamp.IsZero() {
			continue
		}
		if err := s.current(ctx); err != nil {
			return err
		}
		if err := s.Client.Delete(ctx, a, client.Preconditions{UID: &a.UID}); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	for _, a := range s.Status.Allocations {
		if IsMachine(s.ClusterBootstrap, a) && !s.isWanted(a.Name) && !s.isSurplus(a.Name) {
			s.dropAllocation(a.Name)
		}
	}
	return nil
}
