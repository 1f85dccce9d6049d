// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

const (
	// annotationRemoving on a node says that its machine is being removed, and since when. A node
	// that is left with it when the machine is gone is deleted.
	annotationRemoving = v1alpha1.Group + "/removing"
	// markCordoned begins its value if the node was schedulable before, markKept if it was not.
	markCordoned = "cordoned "
	markKept     = "kept-cordoned "
)

// cordon keeps new pods from a node, marks it, and returns since when it is marked.
func (c *newCluster) cordon(ctx context.Context, n *corev1.Node, now time.Time) (since time.Time, err error) {
	mark := n.Annotations[annotationRemoving]
	_, at, _ := strings.Cut(mark, " ")
	if since, err := time.Parse(time.RFC3339, at); err == nil && n.Spec.Unschedulable {
		return since, nil
	}
	kind := markCordoned
	if n.Spec.Unschedulable && !strings.HasPrefix(mark, markCordoned) {
		kind = markKept
	}
	return now, c.patchNode(ctx, n.Name, kind+now.UTC().Format(time.RFC3339), map[string]any{"unschedulable": true})
}

// uncordon takes back what cordon did.
func (c *newCluster) uncordon(ctx context.Context, n *corev1.Node) error {
	spec := map[string]any{}
	if strings.HasPrefix(n.Annotations[annotationRemoving], markCordoned) {
		spec["unschedulable"] = nil
	}
	return c.patchNode(ctx, n.Name, nil, spec)
}

func (c *newCluster) patchNode(ctx context.Context, name string, mark any, spec map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{annotationRemoving: mark}}, "spec": spec})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	_, err = c.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldOwner})
	return err
}

// drain evicts the pods of a node. It returns what is left to wait for, empty when nothing is,
// and whether that may not pass by itself. The pods of a machine that is gone are not asked for:
// they end with its node.
func (c *newCluster) drain(ctx context.Context, n *corev1.Node, now time.Time, gone bool) (why string, blocked bool) {
	since, err := c.cordon(ctx, n, now)
	if err != nil {
		return "its node cannot be cordoned: " + step.Stable(err), true
	}
	if gone {
		return "", false
	}
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	pods, err := c.CoreV1().Pods(metav1.NamespaceAll).List(ctx, onNode(n.Name))
	if err != nil {
		return "the pods of its node cannot be listed: " + step.Stable(err), true
	}
	here := slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return cameBack(&p, since) })
	return c.evictAll(ctx, here, notReady(*n) == "")
}

func onNode(name string) metav1.ListOptions {
	return metav1.ListOptions{FieldSelector: "spec.nodeName=" + name}
}

// cameBack reports whether a pod was put onto a node after it was cordoned, which it tolerates: one
// that is evicted may be put there again and again.
func cameBack(p *corev1.Pod, cordoned time.Time) bool {
	taint := &corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	return p.CreationTimestamp.After(cordoned) &&
		slices.ContainsFunc(p.Spec.Tolerations, func(t corev1.Toleration) bool { return t.ToleratesTaint(logr.Discard(), taint, false) })
}

func (c *newCluster) evictAll(ctx context.Context, pods []corev1.Pod, ready bool) (why string, blocked bool) {
	var leaving, refused []string
	for i := range pods {
		switch p := &pods[i]; fateOf(p, ready) {
		case podStays:
		case podLeaves:
			leaving = append(leaving, fmt.Sprintf("pod %s/%s ends", p.Namespace, p.Name))
		case podEvicted:
			err := c.evict(ctx, p)
			switch {
			case err == nil, apierrors.IsConflict(err): // another pod has its name by now
				leaving = append(leaving, fmt.Sprintf("pod %s/%s ends", p.Namespace, p.Name))
			case !apierrors.IsNotFound(err):
				refused = append(refused, fmt.Sprintf("pod %s/%s cannot be evicted: %s", p.Namespace, p.Name, refusal(err)))
			}
		}
	}
	if len(refused) > 0 {
		return step.Listed(refused), true
	}
	if len(leaving) > 0 {
		return step.Listed(leaving), false
	}
	return "", false
}

// fate is what becomes of a pod on a node that is drained.
type fate int

const (
	podStays fate = iota
	podLeaves
	podEvicted
)

// fateOf leaves alone what ends with the node, or has ended. The kubelet of a node that is not
// Ready may never report the end of a pod.
func fateOf(p *corev1.Pod, ready bool) fate {
	_, mirror := p.Annotations[corev1.MirrorPodAnnotationKey]
	owner := metav1.GetControllerOf(p)
	switch {
	case mirror, owner != nil && owner.Kind == "DaemonSet", p.Status.Phase == corev1.PodSucceeded, p.Status.Phase == corev1.PodFailed:
		return podStays
	case p.DeletionTimestamp.IsZero():
		return podEvicted
	case ready:
		return podLeaves
	}
	return podStays
}

// evict asks for the end of a pod, which budgets may refuse. It is not repeated within the call,
// as a client does by itself while a budget is computed.
func (c *newCluster) evict(ctx context.Context, p *corev1.Pod) error {
	return c.CoreV1().RESTClient().Post().AbsPath("/api/v1").Namespace(p.Namespace).Resource("pods").Name(p.Name).SubResource("eviction").
		MaxRetries(0).Body(&policyv1.Eviction{
		TypeMeta:      metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"},
		ObjectMeta:    metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(p.UID))},
	}).Do(ctx).Error()
}

// refusal is what an API server says against an eviction; a budget is named in its details.
func refusal(err error) string {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) == 0 || status.ErrStatus.Details.Causes[0].Message == "" {
		return step.Stable(err)
	}
	return status.ErrStatus.Details.Causes[0].Message
}
