// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/addon"
)

const (
	deploymentKind  = "Deployment"
	daemonSetKind   = "DaemonSet"
	statefulSetKind = "StatefulSet"
	jobKind         = "Job"
	podKind         = "Pod"

	absent = "is not there"
)

// isWorkload reports whether a kind is ready by its pods.
func isWorkload(r addon.Ref) bool {
	switch r.Kind {
	case deploymentKind, daemonSetKind, statefulSetKind:
		return r.APIVersion == "apps/v1"
	case jobKind:
		return r.APIVersion == "batch/v1"
	}
	return false
}

// standing is the state of a workload: empty, or why it is not ready.
type standing struct {
	obstacle string
	// pods: the reason is to be found with its pods.
	pods     bool
	selector *metav1.LabelSelector
}

const unseenChange = "its latest change has not been taken up yet"

func ofDeployment(d *appsv1.Deployment) standing {
	want, s := replicas(d.Spec.Replicas), d.Status
	switch failure := replicaFailure(d); {
	case s.ObservedGeneration < d.Generation:
		return standing{obstacle: unseenChange}
	case failure != "" && s.AvailableReplicas < want:
		return standing{obstacle: ready(s.AvailableReplicas, want) + because(failure)}
	case s.AvailableReplicas < want:
		return standing{ready(s.AvailableReplicas, want), true, d.Spec.Selector}
	case s.UpdatedReplicas < want:
		return standing{updated(s.UpdatedReplicas, want), true, d.Spec.Selector}
	case s.Replicas > s.UpdatedReplicas:
		return standing{"pods of the former version are still there", true, d.Spec.Selector}
	}
	return standing{}
}

// replicaFailure is why pods cannot even be made.
func replicaFailure(d *appsv1.Deployment) string {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			return c.Message
		}
	}
	return ""
}

// ofDaemonSet accepts one that no node takes, unless it must have pods.
func ofDaemonSet(d *appsv1.DaemonSet, must bool) standing {
	want, s := d.Status.DesiredNumberScheduled, d.Status
	switch {
	case s.ObservedGeneration < d.Generation:
		return standing{obstacle: unseenChange}
	case want == 0 && must:
		return standing{obstacle: "no node takes its pods"}
	case s.NumberUnavailable > 0 || s.NumberAvailable < want:
		return standing{ready(s.NumberAvailable, want), true, d.Spec.Selector}
	case s.UpdatedNumberScheduled < want && d.Spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType:
		return standing{updated(s.UpdatedNumberScheduled, want), true, d.Spec.Selector}
	}
	return standing{}
}

func ofStatefulSet(s *appsv1.StatefulSet) standing {
	want := replicas(s.Spec.Replicas)
	switch {
	case s.Status.ObservedGeneration < s.Generation:
		return standing{obstacle: unseenChange}
	case s.Status.AvailableReplicas < want:
		return standing{ready(s.Status.AvailableReplicas, want), true, s.Spec.Selector}
	case s.Status.UpdatedReplicas < want && rolls(s):
		return standing{updated(s.Status.UpdatedReplicas, want), true, s.Spec.Selector}
	}
	return standing{}
}

// rolls reports whether a StatefulSet replaces all of its pods.
func rolls(s *appsv1.StatefulSet) bool {
	if s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return false
	}
	r := s.Spec.UpdateStrategy.RollingUpdate
	return r == nil || r.Partition == nil || *r.Partition == 0
}

func ofJob(j *batchv1.Job) standing {
	switch s := jobHook(j); {
	case s.done:
		return standing{}
	case s.failed:
		return standing{obstacle: "has failed" + because(s.obstacle), pods: true, selector: j.Spec.Selector}
	}
	return standing{"has not ended", true, j.Spec.Selector}
}

// replicas are one where nothing is said.
func replicas(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}

func ready(n, want int32) string { return fmt.Sprintf("%d of %d pods are ready", n, want) }

func updated(n, want int32) string {
	return fmt.Sprintf("%d of %d pods are of the latest version", n, want)
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}
