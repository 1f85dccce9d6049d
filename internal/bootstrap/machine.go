// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"context"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// requestMachines makes the MachineRequests, side by side, and sees how far they
// are. It waits for none: there is something to do while they come up.
func requestMachines(ctx context.Context, s *Session) (*Obstacle, error) {
	statuses := make([]v1alpha1.BootstrapMachineStatus, len(s.Plan.Machines))
	obstacles := make([]*Obstacle, len(s.Plan.Machines))
	s.providerIDs = make([]string, len(s.Plan.Machines))
	var group errgroup.Group
	for i, m := range s.Plan.Machines {
		group.Go(func() (err error) {
			statuses[i], obstacles[i], err = s.requestMachine(ctx, m, &s.providerIDs[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	s.Status.Machines = statuses
	s.coming = joined(obstacles)
	return nil, nil
}

// awaitMachines follows the machines until all run.
func awaitMachines(_ context.Context, s *Session) (*Obstacle, error) { return s.coming, nil }

// requestMachine reports how far a machine is. A request that was there and is
// gone is not made again: its machine may hold the cluster's only data.
func (s *Session) requestMachine(ctx context.Context, m Machine, providerID *string) (v1alpha1.BootstrapMachineStatus, *Obstacle, error) {
	status := s.machineStatus(m)
	request := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: m.Name}}
	err := s.find(ctx, request)
	switch {
	case apierrors.IsNotFound(err) && status.Phase != "":
		message := fmt.Sprintf("MachineRequest %s was deleted and is not made again; destroy the cluster and start anew", m.Name)
		return status, &Obstacle{Reason: "MachineRequestDeleted", Message: message, urgent: true}, nil
	case apierrors.IsNotFound(err):
		request, err = s.createRequest(ctx, m)
	}
	if err != nil {
		return status, nil, err
	}
	if request.Annotations[v1alpha1.AnnotationClusterID] != s.clusterID() {
		return status, nil, &Failure{"NameTaken", fmt.Sprintf("MachineRequest %s/%s belongs to another cluster; delete it if that cluster is gone, or start anew with another spec.cluster.name", request.Namespace, request.Name)}
	}
	*providerID = request.Status.ProviderID
	status.Phase = cmp.Or(request.Status.Phase, v1alpha1.MachinePending)
	if request.Status.IPAddress != "" {
		status.IPAddress = request.Status.IPAddress
	}
	return status, obstacleOf(request, status), nil
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

func (s *Session) createRequest(ctx context.Context, m Machine) (*v1alpha1.MachineRequest, error) {
	key := s.providerKey()
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
	return r, s.Client.Create(ctx, r)
}

func (s *Session) machineStatus(m Machine) v1alpha1.BootstrapMachineStatus {
	for _, known := range s.Status.Machines {
		if known.Name == m.Name {
			return known
		}
	}
	return v1alpha1.BootstrapMachineStatus{Name: m.Name, Role: m.Role}
}

// obstacleOf lets a machine pass that runs, and one that ran when its platform
// could last be asked: the node itself tells how it is.
func obstacleOf(r *v1alpha1.MachineRequest, status v1alpha1.BootstrapMachineStatus) *Obstacle {
	if (status.Phase == v1alpha1.MachineRunning || status.Phase == v1alpha1.MachineUnknown) && status.IPAddress != "" {
		return nil
	}
	message := fmt.Sprintf("machine %s is %s", r.Name, status.Phase)
	if c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionReady); c != nil && c.Message != "" {
		message += ": " + c.Message
	}
	return &Obstacle{Reason: "WaitingForMachines", Message: message, urgent: status.Phase == v1alpha1.MachineFailed}
}
