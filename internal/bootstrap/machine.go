// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

// requestMachines creates the MachineRequests, in parallel, and reads their state. It
// waits for none: other steps have something to do while machines come up.
func requestMachines(ctx context.Context, s *Session) (*Obstacle, error) {
	if err := s.keepNames(ctx); err != nil {
		return nil, err
	}
	if err := s.withholdMachines(ctx); err != nil {
		return nil, err
	}
	if err := s.findSurplus(ctx); err != nil {
		return nil, err
	}
	statuses := make([]v1alpha1.BootstrapMachineStatus, len(s.Plan.Machines))
	obstacles := make([]*Obstacle, len(s.Plan.Machines))
	s.machines.before, s.machines.requests = s.Status.Machines, make([]*v1alpha1.MachineRequest, len(s.Plan.Machines))
	s.machines.nodeProviderIDs = make([]string, len(s.Plan.Machines))
	var group errgroup.Group
	for i, m := range s.Plan.Machines {
		group.Go(func() (err error) {
			if s.machines.requests[i], err = s.request(ctx, m); err != nil {
				return err
			}
			statuses[i], obstacles[i] = s.follow(m, s.machines.requests[i])
			if r := s.machines.requests[i]; r != nil {
				s.machines.nodeProviderIDs[i] = r.Status.NodeProviderID
			}
			return s.dropUserData(ctx, s.machines.requests[i])
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	s.Status.Machines = statuses
	s.machines.pending = step.Joined(obstacles)
	return nil, nil
}

// awaitMachines follows the machines until all run. Once the cluster is Ready, one
// that does not run is no reason to leave the others alone. A load balancer that failed
// is reported with the machines, which take longer.
func awaitMachines(_ context.Context, s *Session) (*Obstacle, error) {
	if s.Status.Phase != v1alpha1.BootstrapReady {
		if o := s.failedBalancer(); o != nil && s.machines.pending != nil && !s.machines.pending.Urgent {
			return o, nil
		}
		return s.machines.pending, nil
	}
	if s.deferred == nil {
		s.deferred = s.machines.pending
	}
	return nil, nil
}

// request returns that of a machine. It is created if it never existed. One that did
// and is gone is nil and not recreated: its machine may hold the cluster's only data.
func (s *Session) request(ctx context.Context, m Machine) (*v1alpha1.MachineRequest, error) {
	request := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: m.Name}}
	err := s.find(ctx, request)
	switch {
	case apierrors.IsNotFound(err) && s.machineStatus(m).Phase != "":
		return nil, nil
	case apierrors.IsNotFound(err):
		request, err = s.createRequest(ctx, m, "")
	}
	if err != nil {
		return nil, err
	}
	if request.Annotations[v1alpha1.AnnotationClusterID] != s.clusterID() {
		return nil, nameTaken(request)
	}
	return request, nil
}

func nameTaken(r *v1alpha1.MachineRequest) error {
	return &Failure{Reason: "NameTaken", Message: fmt.Sprintf("MachineRequest %s/%s belongs to another cluster; delete it if that cluster is gone, or use another spec.cluster.name", r.Namespace, r.Name)}
}

// follow reports how far a machine is, and what it waits for.
func (s *Session) follow(m Machine, r *v1alpha1.MachineRequest) (v1alpha1.BootstrapMachineStatus, *Obstacle) {
	status := s.machineStatus(m)
	if m.Name == s.replaced() && !s.isReplacement(r) {
		status = blank(m) // what is known is about a machine that goes
	}
	if r == nil {
		message := fmt.Sprintf("MachineRequest %s was deleted; %s", m.Name, s.afterLoss(m))
		return status, &Obstacle{Reason: "MachineRequestDeleted", Message: message, Urgent: true}
	}
	status.Phase = cmp.Or(r.Status.Phase, v1alpha1.MachinePending)
	if m.Name != s.replaced() || s.isReplacement(r) {
		status.IPAddress = s.addressOf(r, status.IPAddress)
	}
	o := obstacleOf(r, status)
	if o != nil && isLost(r) {
		o.Message += "; " + s.afterLoss(m)
	}
	return status, o
}

// find reads from the cache, and from the API server what the cache lacks.
func (s *Session) find(ctx context.Context, o client.Object) error {
	key := client.ObjectKeyFromObject(o)
	err := s.Client.Get(ctx, key, o)
	if apierrors.IsNotFound(err) {
		return s.Live.Get(ctx, key, o)
	}
	return err
}

// createRequest asks for a machine: for the first time, or as the replacement that
// is named.
func (s *Session) createRequest(ctx context.Context, m Machine, replacement string) (*v1alpha1.MachineRequest, error) {
	key, userData := s.ProviderConfig(), ""
	if s.carriesUserData() {
		var err error
		if userData, err = s.userData(m); err != nil {
			return nil, err
		}
	}
	r := &v1alpha1.MachineRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: m.Name},
		Spec: v1alpha1.MachineRequestSpec{
			ProviderRef:  v1alpha1.ProviderReference{Namespace: key.Namespace, Name: key.Name},
			MachineName:  m.Name,
			Role:         m.Role,
			CPU:          m.Pool.CPU,
			MemoryMB:     m.Pool.MemoryMB,
			DiskGB:       m.Pool.DiskGB,
			ExtraDisks:   m.Pool.ExtraDisks,
			UserData:     userData,
			Network:      s.networkOf(m),
			TalosVersion: s.Spec.Talos.Version,
			Schematic:    s.Spec.Talos.Schematic,
			Labels: map[string]string{
				v1alpha1.LabelCluster: s.Spec.Cluster.Name,
				v1alpha1.LabelRole:    string(m.Role),
			},
		},
	}
	s.mark(r)
	r.Annotations[v1alpha1.AnnotationOwnerID] = uuid.NewString()
	if replacement != "" {
		r.Annotations[annotationReplacement] = replacement
	}
	return r, s.Client.Create(ctx, r, client.FieldOwner(fieldOwner)) // admission knows by it who minted the id
}

func (s *Session) machineStatus(m Machine) v1alpha1.BootstrapMachineStatus {
	for _, known := range s.Status.Machines {
		if known.Name == m.Name {
			return known
		}
	}
	return v1alpha1.BootstrapMachineStatus{Name: m.Name, Role: m.Role}
}

// isThere reports whether a machine runs, or ran when its platform could last be
// asked.
func isThere(m v1alpha1.BootstrapMachineStatus) bool {
	return (m.Phase == v1alpha1.MachineRunning || m.Phase == v1alpha1.MachineUnknown) && m.IPAddress != ""
}

// obstacleOf lets a machine pass that runs, and one that ran when its platform
// could last be asked: the node itself reports its state.
func obstacleOf(r *v1alpha1.MachineRequest, status v1alpha1.BootstrapMachineStatus) *Obstacle {
	if isThere(status) {
		return nil
	}
	message := fmt.Sprintf("machine %s is %s", r.Name, status.Phase)
	switch c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionReady); {
	case status.IPAddress == "" && r.Status.IPAddress != "":
		message += " and reports no address of its own, only " + strings.Join(reported(r), ", ") + ": it is the VIP, or in podCIDR or serviceCIDR"
	case c != nil && c.Message != "":
		message += ": " + c.Message
	}
	return &Obstacle{Reason: "WaitingForMachines", Message: message, Urgent: status.Phase == v1alpha1.MachineFailed}
}
