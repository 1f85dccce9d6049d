// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// maxWorkers is how many workers a cluster has at most.
const maxWorkers = 10

// settleNodes takes back the cordon of nodes that stay after all, and deletes those whose
// machines were removed.
func (s *Session) settleNodes(ctx context.Context, nodes []corev1.Node) error {
	if s.Status.Phase != v1alpha1.BootstrapReady {
		return nil
	}
	for i := range nodes {
		n := &nodes[i]
		var err error
		switch {
		case s.isSurplus(n.Name):
		case s.indexOf(n.Name) >= 0:
			if n.Annotations[annotationRemoving] != "" {
				err = s.kubernetes.cluster.uncordon(ctx, n)
			}
		case s.isLeft(n):
			err = s.deleteLeft(ctx, n.Name)
		}
		if err != nil {
			return fmt.Errorf("settle node %s: %w", n.Name, err)
		}
	}
	return nil
}

// isLeft reports whether a node is that of a worker which the cluster had: it is marked, or it
// has the name of one and is not Ready. A node that only looks like one is not touched.
func (s *Session) isLeft(n *corev1.Node) bool {
	if n.Annotations[annotationRemoving] != "" {
		return true
	}
	named := func(m Machine) bool { return m.Name == n.Name }
	return notReady(*n) != "" && slices.ContainsFunc(pool(s.Spec.Cluster.Name, "w", v1alpha1.RoleWorker, v1alpha1.NodePool{}, maxWorkers), named)
}

// deleteLeft deletes a node that has no request any more.
func (s *Session) deleteLeft(ctx context.Context, name string) error {
	err := s.Live.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, &v1alpha1.MachineRequest{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	if err := s.current(ctx); err != nil {
		return err
	}
	if err := s.removeNode(ctx, name); err != nil {
		return err
	}
	if s.Record != nil {
		s.Record(Event{corev1.EventTypeNormal, reasonRemoved, fmt.Sprintf("machine %s was removed: its machine is gone, and its node is deleted", name)})
	}
	return nil
}
