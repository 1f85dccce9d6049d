// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	heartbeat     = 10 * time.Second
	leaseDuration = 40 // seconds
)

// Kubelet registers a node, keeps it Ready and makes the pods on it running.
type Kubelet struct {
	Node   Node
	Config *rest.Config // identity system:node:<name> in the group system:nodes
	// Registered, if set, runs between the node's registration and its first
	// Ready, and again with each heartbeat; errors are logged and retried.
	Registered func(context.Context) error
	Log        *slog.Logger
}

// Run does the kubelet's work until ctx ends. A cluster that does not answer
// is asked again.
func (k *Kubelet) Run(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(k.Config)
	if err != nil {
		return fmt.Errorf("kubelet of node %s: %w", k.Node.Name, err)
	}
	var pods sync.WaitGroup
	pods.Go(func() { k.runPods(ctx, client) })
	defer pods.Wait()
	for wait := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		wait = heartbeat
		if err := k.beat(ctx, client); err != nil && ctx.Err() == nil {
			k.Log.Warn("kubelet could not report", "node", k.Node.Name, "error", err)
			wait = time.Second
		}
	}
}

// beat brings the API server's view of the node up to date.
func (k *Kubelet) beat(ctx context.Context, client kubernetes.Interface) error {
	node, err := client.CoreV1().Nodes().Get(ctx, k.Node.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		node, err = client.CoreV1().Nodes().Create(ctx, k.Node.object(), metav1.CreateOptions{})
	}
	if err != nil {
		return err
	}
	if k.Registered != nil {
		if err := k.Registered(ctx); err != nil && ctx.Err() == nil {
			k.Log.Warn("node could not be labelled", "node", k.Node.Name, "error", err)
		}
	}
	if err := k.renewLease(ctx, client, node); err != nil {
		return err
	}
	if ready(node) && node.Status.NodeInfo.KubeletVersion == k.Node.KubeletVersion {
		return nil
	}
	return k.reportStatus(ctx, client)
}

func (k *Kubelet) reportStatus(ctx context.Context, client kubernetes.Interface) error {
	node, err := client.CoreV1().Nodes().Get(ctx, k.Node.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	node.Status = k.Node.status()
	_, err = client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

func (k *Kubelet) renewLease(ctx context.Context, client kubernetes.Interface, node *corev1.Node) error {
	leases := client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	lease, err := leases.Get(ctx, node.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: node.Name, Namespace: corev1.NamespaceNodeLease}}
		lease.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}}
		k.stamp(lease)
		_, err = leases.Create(ctx, lease, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	k.stamp(lease)
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}

func (k *Kubelet) stamp(lease *coordinationv1.Lease) {
	now := metav1.NewMicroTime(time.Now())
	lease.Spec = coordinationv1.LeaseSpec{
		HolderIdentity:       new(k.Node.Name),
		LeaseDurationSeconds: new(int32(leaseDuration)),
		RenewTime:            &now,
	}
}
