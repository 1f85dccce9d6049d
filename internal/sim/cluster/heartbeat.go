// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// beat brings the API server's view of the node up to date and says what keeps the
// node from being Ready in it, if anything does.
func (s *session) beat(ctx context.Context) (obstacle string, err error) {
	node, err := s.register(ctx)
	if err != nil {
		return "", err
	}
	s.settle(ctx)
	if err := s.renewLease(ctx, node); err != nil {
		return "", err
	}
	obstacle = s.obstacle()
	if reported, known := readiness(node); s.reported && known && reported == (obstacle == "") {
		return obstacle, nil
	}
	err = s.reportStatus(ctx, obstacle)
	s.reported = err == nil
	return obstacle, err
}

// settle has others do their part for a node that is registered.
func (s *session) settle(ctx context.Context) {
	if s.access.Registered != nil {
		if err := s.access.Registered(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("node could not be labelled", "node", s.Node.Name, "error", err)
		}
	}
	if s.addresses.known() || s.access.Range == nil {
		return
	}
	pods, err := s.access.Range(ctx)
	if err == nil {
		s.addresses.set(pods)
	} else if ctx.Err() == nil {
		s.Log.Warn("node has no addresses for pods", "node", s.Node.Name, "error", err)
	}
}

// noNetwork is what a kubelet says while its container runtime has no network for pods.
const noNetwork = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"

// obstacle is what keeps the node from being Ready.
func (s *session) obstacle() string {
	// The range of addresses of its pods is a part of the network.
	if time.Since(s.registered) < s.ReadyAfter || !s.addresses.known() || s.AwaitsCNI && !s.networked.Load() {
		return noNetwork
	}
	return ""
}

func (s *session) register(ctx context.Context) (*corev1.Node, error) {
	nodes := s.client.CoreV1().Nodes()
	node, err := nodes.Get(ctx, s.Node.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		node, err = nodes.Create(ctx, s.Node.object(), metav1.CreateOptions{})
	}
	if err == nil && s.registered.IsZero() {
		s.registered = time.Now()
	}
	return node, err
}

// reportStatus sends the status alone, as a kubelet does: labels and taints that
// others set at the same time are not its to write.
func (s *session) reportStatus(ctx context.Context, obstacle string) error {
	patch, err := json.Marshal(map[string]any{"status": s.Node.status(obstacle)})
	if err != nil {
		return err
	}
	_, err = s.client.CoreV1().Nodes().PatchStatus(ctx, s.Node.Name, patch)
	return err
}

func (s *session) renewLease(ctx context.Context, node *corev1.Node) error {
	leases := s.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	lease, err := leases.Get(ctx, node.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: node.Name, Namespace: corev1.NamespaceNodeLease}}
		lease.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}}
		s.stamp(lease)
		_, err = leases.Create(ctx, lease, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	s.stamp(lease)
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}

func (s *session) stamp(lease *coordinationv1.Lease) {
	now := metav1.NewMicroTime(time.Now())
	lease.Spec = coordinationv1.LeaseSpec{
		HolderIdentity:       new(s.Node.Name),
		LeaseDurationSeconds: new(int32(leaseDuration)),
		RenewTime:            &now,
	}
}
