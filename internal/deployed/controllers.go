// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package deployed starts and stops controllers of this project that run as Deployments of
// a cluster, and reports whether they can act.
package deployed

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
)

// annotationReplicas has the replicas of a Deployment before it was stopped.
const annotationReplicas = v1alpha1.Group + "/replicas"

// retryInterval is how often a cluster is asked whether its controllers have ended.
const retryInterval = 500 * time.Millisecond

// leaseMargin is added to the duration of a lease before it counts as free, because
// clocks differ.
const leaseMargin = 5 * time.Second

// isController reports whether a Deployment acts on the requests and addresses of a
// cluster that manages itself.
func isController(name string) bool {
	return name == addon.ButlerBootstrap || name == addon.ButlerController || strings.HasPrefix(name, addon.ButlerProvider)
}

// list returns the Deployments of a cluster whose controllers act on requests.
func list(ctx context.Context, c client.Client) ([]appsv1.Deployment, error) {
	var all appsv1.DeploymentList
	if err := c.List(ctx, &all, client.InNamespace(addon.PlatformNamespace)); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all.Items, func(d appsv1.Deployment) bool { return !isController(d.Name) }), nil
}

// Stop ends the controllers of a cluster, and returns when none of them can act any
// more: their pods are gone, and their leases are free. It reports what it waits for.
func Stop(ctx context.Context, c client.Client, report func(string)) error {
	all, err := list(ctx, c)
	if err != nil {
		return err
	}
	for i := range all {
		if err := scaleToZero(ctx, c, &all[i]); err != nil {
			return err
		}
	}
	still := leaseWatch{}
	for {
		activeController, err := activeController(ctx, c, all, still)
		if err == nil && activeController == "" {
			return nil
		}
		if err != nil {
			activeController = err.Error()
		}
		report(activeController)
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", ctx.Err(), activeController)
		case <-time.After(retryInterval):
		}
	}
}

func scaleToZero(ctx context.Context, c client.Client, d *appsv1.Deployment) error {
	if d.Spec.Replicas != nil && *d.Spec.Replicas == 0 {
		return nil
	}
	before := d.DeepCopy()
	n := int32(1)
	if d.Spec.Replicas != nil {
		n = *d.Spec.Replicas
	}
	metav1.SetMetaDataAnnotation(&d.ObjectMeta, annotationReplicas, strconv.Itoa(int(n)))
	d.Spec.Replicas = new(int32(0))
	return c.Patch(ctx, d, client.MergeFrom(before))
}

// Start starts the controllers of a cluster that a move has stopped.
func Start(ctx context.Context, c client.Client) error {
	all, err := list(ctx, c)
	if err != nil {
		return err
	}
	for i := range all {
		d := &all[i]
		n, err := strconv.Atoi(d.Annotations[annotationReplicas])
		if err != nil {
			continue
		}
		before := d.DeepCopy()
		delete(d.Annotations, annotationReplicas)
		d.Spec.Replicas = new(int32(n))
		if err := c.Patch(ctx, d, client.MergeFrom(before)); err != nil {
			return err
		}
	}
	return nil
}

// AnyStopped reports whether a move has stopped controllers of a cluster.
func AnyStopped(ctx context.Context, c client.Client) (bool, error) {
	all, err := list(ctx, c)
	return slices.ContainsFunc(all, func(d appsv1.Deployment) bool { return d.Annotations[annotationReplicas] != "" }), err
}

// FindRunning returns the name of a controller of a cluster that is not stopped; empty if all are.
func FindRunning(ctx context.Context, c client.Client) (string, error) {
	all, err := list(ctx, c)
	for _, d := range all {
		if d.Spec.Replicas == nil || *d.Spec.Replicas != 0 {
			return d.Name, nil
		}
	}
	return "", err
}

// CheckRunning returns an error if a controller that a cluster needs has no ready pod.
func CheckRunning(ctx context.Context, c client.Client, p v1alpha1.ProviderType) error {
	all, err := list(ctx, c)
	if err != nil {
		return err
	}
	for _, name := range []string{addon.ButlerBootstrap, addon.ButlerProvider + string(p)} {
		i := slices.IndexFunc(all, func(d appsv1.Deployment) bool { return d.Name == name })
		if i < 0 {
			return fmt.Errorf("the cluster has no Deployment %s in %s", name, addon.PlatformNamespace)
		}
		if d := all[i]; d.Status.ObservedGeneration < d.Generation || d.Status.ReadyReplicas == 0 {
			return fmt.Errorf("no pod of Deployment %s/%s is ready", addon.PlatformNamespace, name)
		}
	}
	return nil
}

// Missing reports whether a cluster lacks a controller that CheckRunning needs.
func Missing(ctx context.Context, c client.Client, p v1alpha1.ProviderType) (bool, error) {
	all, err := list(ctx, c)
	for _, name := range []string{addon.ButlerBootstrap, addon.ButlerProvider + string(p)} {
		if !slices.ContainsFunc(all, func(d appsv1.Deployment) bool { return d.Name == name }) {
			return true, err
		}
	}
	return false, err
}

// leaseWatch records since when leases are not renewed.
type leaseWatch map[string]struct {
	renewal string
	since   time.Time
}

// activeController returns what still has to end, as text; empty if no controller can act.
func activeController(ctx context.Context, c client.Client, all []appsv1.Deployment, still leaseWatch) (string, error) {
	lost, err := unreachableNodes(ctx, c)
	if err != nil {
		return "", err
	}
	for _, d := range all {
		var pods corev1.PodList
		if err := c.List(ctx, &pods, client.InNamespace(d.Namespace), client.MatchingLabels(d.Spec.Selector.MatchLabels)); err != nil {
			return "", err
		}
		if pod := running(pods.Items, lost); pod != "" {
			return fmt.Sprintf("waiting for pod %s to end", pod), nil
		}
		free, err := still.free(ctx, c, client.ObjectKey{Namespace: d.Namespace, Name: d.Name + "." + v1alpha1.Group})
		if err != nil {
			return "", err
		}
		if !free {
			return fmt.Sprintf("waiting for the lease of %s to expire", d.Name), nil
		}
	}
	return "", nil
}

// running returns the name of a pod that may still act; empty without any. A pod that
// has ended may still be listed.
func running(pods []corev1.Pod, lost map[string]bool) string {
	for _, pod := range pods {
		ended := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
		if !ended && !lost[pod.Spec.NodeName] {
			return pod.Name
		}
	}
	return ""
}

// unreachableNodes returns the nodes whose kubelet does not report: pods on them stay
// listed, whether or not they still run. Leases decide for those.
func unreachableNodes(ctx context.Context, c client.Client) (map[string]bool, error) {
	var nodes corev1.NodeList
	if err := c.List(ctx, &nodes); err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, n := range nodes.Items {
		for _, condition := range n.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionUnknown {
				out[n.Name] = true
			}
		}
	}
	return out, nil
}

// free reports whether a lease has no holder: it was released, or has expired by this
// machine's clock.
func (s leaseWatch) free(ctx context.Context, c client.Client, key client.ObjectKey) (bool, error) {
	lease := &coordinationv1.Lease{}
	if err := c.Get(ctx, key, lease); err != nil {
		return client.IgnoreNotFound(err) == nil, client.IgnoreNotFound(err)
	}
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return true, nil
	}
	renewal := lease.ResourceVersion
	seen, known := s[key.Name]
	if !known || seen.renewal != renewal {
		seen.renewal, seen.since = renewal, time.Now()
		s[key.Name] = seen
	}
	lasts := 15 * time.Second
	if d := lease.Spec.LeaseDurationSeconds; d != nil {
		lasts = time.Duration(*d) * time.Second
	}
	return time.Since(seen.since) > lasts+leaseMargin, nil
}
