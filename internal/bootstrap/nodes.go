// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
)

// awaitNodes follows the nodes of the new cluster until all are Ready.
func awaitNodes(ctx context.Context, s *Session) (*Obstacle, error) {
	nodes, err := s.kubernetes.cluster.nodes(ctx)
	if err == nil {
		err = s.labelNodes(ctx, s.kubernetes.cluster.CoreV1().Nodes(), nodes)
	}
	if err == nil {
		err = s.setProviderIDs(ctx, s.kubernetes.cluster.CoreV1().Nodes(), nodes)
	}
	if err == nil {
		err = s.settleNodes(ctx, nodes)
	}
	if apierrors.IsConflict(err) {
		return nil, err
	}
	if err != nil {
		return &Obstacle{Reason: "WaitingForKubernetes", Message: "the new API server is not ready" + step.Because(err), Poll: true}, nil
	}
	return s.judgeNodes(nodes), nil
}

// lookAtNodes keeps the view of the nodes true where a walk ends before
// awaitNodes: what blocks the bootstrap need not block the nodes.
func (s *Session) lookAtNodes(ctx context.Context) {
	if s.kubernetes.nodesSeen {
		return
	}
	nodes, err := s.nodesFromAnywhere(ctx)
	if err != nil {
		for i := range s.Status.Machines {
			s.Status.Machines[i].Ready = false
		}
		return
	}
	s.judgeNodes(nodes)
}

// nodesFromAnywhere are the nodes of a cluster that is there already: none was
// Ready before it was.
func (s *Session) nodesFromAnywhere(ctx context.Context) (_ []corev1.Node, err error) {
	if s.kubernetes.cluster != nil {
		return s.kubernetes.cluster.nodes(ctx)
	}
	if !slices.ContainsFunc(s.Status.Machines, func(m v1alpha1.BootstrapMachineStatus) bool { return m.Ready }) {
		return nil, nil
	}
	if s.kubernetes.kubeconfig, err = s.readSecret(ctx, SecretKubeconfig); err != nil {
		return nil, err
	}
	return fromAny(ctx, s, func(ctx context.Context, address string) ([]corev1.Node, error) {
		c, err := s.connect(address)
		if err != nil {
			return nil, err
		}
		defer c.close()
		return c.nodes(ctx)
	})
}

func (c *newCluster) nodes(ctx context.Context) ([]corev1.Node, error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	list, err := c.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// labelNodes sets the labels that kubelets may not set on themselves.
func (s *Session) labelNodes(ctx context.Context, api corev1client.NodeInterface, nodes []corev1.Node) error {
	for _, m := range s.Plan.Machines {
		_, restricted := talos.SplitLabels(m.Pool.Labels)
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": restricted}})
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if n.Name != m.Name || containsAll(n.Labels, restricted) {
				continue
			}
			if _, err := api.Patch(ctx, n.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldOwner}); err != nil {
				return fmt.Errorf("label node %s: %w", n.Name, err)
			}
		}
	}
	return nil
}

func containsAll(have, want map[string]string) bool {
	for k, v := range want {
		if got, ok := have[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// judgeNodes takes over which nodes are Ready, and names those that are not.
func (s *Session) judgeNodes(nodes []corev1.Node) *Obstacle {
	s.kubernetes.nodesSeen = true
	causes := map[string]string{}
	for _, n := range nodes {
		causes[n.Name] = cmp.Or(waitsForCloud(n), notReady(n))
	}
	var waiting []string
	for i, m := range s.Status.Machines {
		cause, known := causes[m.Name]
		if !known {
			cause = "has not joined"
		}
		s.Status.Machines[i].Ready = cause == ""
		if cause != "" {
			waiting = append(waiting, "node "+m.Name+" "+cause)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	return &Obstacle{Reason: "WaitingForNodes", Message: step.Listed(waiting), Poll: true}
}

// notReady returns why a node is not Ready, empty if it is.
func notReady(n corev1.Node) string {
	for _, c := range n.Status.Conditions {
		if c.Type != corev1.NodeReady {
			continue
		}
		if c.Status == corev1.ConditionTrue {
			return ""
		}
		return strings.TrimSpace("is not Ready: " + c.Reason + " " + c.Message)
	}
	return "has not reported whether it is Ready"
}
