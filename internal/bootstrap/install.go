// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

const (
	// fieldOwner is who sets fields on the new cluster.
	fieldOwner = "butler-bootstrap"
	// annotationManifest distinguishes the manifest that was applied from a changed one.
	annotationManifest = v1alpha1.Group + "/manifest"
)

// installKubeVIP applies kube-vip where it is missing or has changed. It does
// not wait for it: that is seen at the endpoint.
func installKubeVIP(ctx context.Context, s *Session) (*Obstacle, error) {
	if s.Plan.EndpointKind != EndpointKubeVIP {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	wanted, err := newManifest(s.Plan.KubeVIP)
	if err != nil {
		return nil, err
	}
	is, err := s.kubernetes.cluster.has(ctx, wanted)
	if err == nil && !is {
		s.markKubeVIP(v1alpha1.AddonInstalling, "")
		err = s.kubernetes.cluster.apply(ctx, wanted)
	}
	if err != nil {
		s.markKubeVIP(v1alpha1.AddonFailing, step.Stable(err))
		return &Obstacle{Reason: "InstallingKubeVIP", Message: "kube-vip cannot be applied yet: " + step.Stable(err), Poll: true}, nil
	}
	return nil, nil
}

// manifest is a set of objects for the new cluster. The DaemonSet is applied
// last and carries the mark: where it exists, the others do too.
type manifest struct {
	account, role, binding, daemonSet []byte
	mark                              string
}

func newManifest(k KubeVIP) (m manifest, err error) {
	set := k.daemonSet()
	for _, part := range []struct {
		to   *[]byte
		from any
	}{{&m.account, k.serviceAccount()}, {&m.role, k.role()}, {&m.binding, k.binding()}, {&m.daemonSet, set}} {
		if *part.to, err = json.Marshal(part.from); err != nil {
			return m, err
		}
	}
	sum := sha256.New()
	for _, part := range [][]byte{m.account, m.role, m.binding, m.daemonSet} {
		sum.Write(part)
	}
	m.mark = fmt.Sprintf("%x", sum.Sum(nil))[:16]
	set.Annotations = map[string]string{annotationManifest: m.mark}
	m.daemonSet, err = json.Marshal(set)
	return m, err
}

func (c *newCluster) has(ctx context.Context, m manifest) (bool, error) {
	set, err := c.AppsV1().DaemonSets(systemNamespace).Get(ctx, kubeVIPName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil && set.Annotations[annotationManifest] == m.mark, err
}

func (c *newCluster) apply(ctx context.Context, m manifest) error {
	o := metav1.PatchOptions{FieldManager: fieldOwner, Force: new(true)}
	if _, err := c.CoreV1().ServiceAccounts(systemNamespace).Patch(ctx, kubeVIPName, types.ApplyPatchType, m.account, o); err != nil {
		return err
	}
	if _, err := c.RbacV1().ClusterRoles().Patch(ctx, kubeVIPName, types.ApplyPatchType, m.role, o); err != nil {
		return err
	}
	if _, err := c.RbacV1().ClusterRoleBindings().Patch(ctx, kubeVIPName, types.ApplyPatchType, m.binding, o); err != nil {
		return err
	}
	_, err := c.AppsV1().DaemonSets(systemNamespace).Patch(ctx, kubeVIPName, types.ApplyPatchType, m.daemonSet, o)
	return err
}

// kubeVIPObstacle returns why no kube-vip answers, judged by its pods.
func (c *newCluster) kubeVIPObstacle(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	pods, err := c.CoreV1().Pods(systemNamespace).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + kubeVIPName})
	switch {
	case err != nil:
		return "its kube-vip pods cannot be listed"
	case len(pods.Items) == 0:
		return c.whyNoPods(ctx)
	}
	return podObstacle(pods.Items)
}

// whyNoPods is mostly that a kubelet takes its time to register.
func (c *newCluster) whyNoPods(ctx context.Context) string {
	if nodes, err := c.nodes(ctx); err == nil && len(nodes) == 0 {
		return "kube-vip waits for the first node to register"
	}
	return "no kube-vip pod is there yet"
}

// podObstacle returns what a container waits for, a crashed one for its next try
// too: the phase of its pod is Running all the same.
func podObstacle(pods []corev1.Pod) string {
	for _, pod := range pods {
		for _, status := range pod.Status.ContainerStatuses {
			if w := status.State.Waiting; w != nil && w.Reason != "" {
				return fmt.Sprintf("kube-vip on %s: %s", pod.Spec.NodeName, w.Reason)
			}
		}
	}
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodRunning {
			return "kube-vip runs, but does not hold the address yet"
		}
	}
	return "the kube-vip pod is " + string(pods[0].Status.Phase)
}
