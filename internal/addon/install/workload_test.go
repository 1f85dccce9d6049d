// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDeploymentIsReadyByItsPods(t *testing.T) {
	three := int32(3)
	for reason, c := range map[string]struct {
		status appsv1.DeploymentStatus
		want   string
	}{
		"all are there": {appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3}, ""},
		"the status is of the former spec": {
			appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3}, unseenChange,
		},
		"some are not ready": {
			appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 1}, "1 of 3 pods are ready",
		},
		"some are of the former version": {
			appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 4, UpdatedReplicas: 1, AvailableReplicas: 3}, "1 of 3 pods are of the latest version",
		},
		"one too many": {
			appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 4, UpdatedReplicas: 3, AvailableReplicas: 4}, "pods of the former version are still there",
		},
		"pods are refused": {
			appsv1.DeploymentStatus{ObservedGeneration: 2, Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "pods are forbidden"},
			}}, "0 of 3 pods are ready: pods are forbidden",
		},
	} {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Spec: appsv1.DeploymentSpec{Replicas: &three}, Status: c.status}
		if got := ofDeployment(d).obstacle; got != c.want {
			t.Errorf("%s: %q; want %q", reason, got, c.want)
		}
	}
}

func TestDaemonSetIsReadyByItsPods(t *testing.T) {
	for reason, c := range map[string]struct {
		status appsv1.DaemonSetStatus
		must   bool
		manual bool
		want   string
	}{
		"all are there": {status: appsv1.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: 3, UpdatedNumberScheduled: 3, NumberAvailable: 3}, must: true},
		"the status is of the former spec": {
			status: appsv1.DaemonSetStatus{ObservedGeneration: 1, DesiredNumberScheduled: 3, UpdatedNumberScheduled: 3, NumberAvailable: 3}, want: unseenChange,
		},
		"no node takes one that must have pods": {status: appsv1.DaemonSetStatus{ObservedGeneration: 2}, must: true, want: "no node takes its pods"},
		"no node takes one of a chart":          {status: appsv1.DaemonSetStatus{ObservedGeneration: 2}},
		"one is missing": {
			status: appsv1.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: 3, UpdatedNumberScheduled: 3, NumberAvailable: 2, NumberUnavailable: 1},
			want:   "2 of 3 pods are ready",
		},
		"one is of the former version": {
			status: appsv1.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: 3, UpdatedNumberScheduled: 2, NumberAvailable: 3},
			want:   "2 of 3 pods are of the latest version",
		},
		"another controller replaces its pods": {
			status: appsv1.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: 3, NumberAvailable: 3}, manual: true,
		},
	} {
		d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: c.status}
		if c.manual {
			d.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType
		}
		if got := ofDaemonSet(d, c.must).obstacle; got != c.want {
			t.Errorf("%s: %q; want %q", reason, got, c.want)
		}
	}
}

func TestStatefulSetIsReadyByItsPods(t *testing.T) {
	for reason, c := range map[string]struct {
		status    appsv1.StatefulSetStatus
		partition int32
		want      string
	}{
		"it is there":                     {appsv1.StatefulSetStatus{ObservedGeneration: 2, AvailableReplicas: 1, UpdatedReplicas: 1}, 0, ""},
		"the status is of the former one": {appsv1.StatefulSetStatus{ObservedGeneration: 1, AvailableReplicas: 1, UpdatedReplicas: 1}, 0, unseenChange},
		"it is not ready":                 {appsv1.StatefulSetStatus{ObservedGeneration: 2, UpdatedReplicas: 1}, 0, "0 of 1 pods are ready"},
		"it is of the former version":     {appsv1.StatefulSetStatus{ObservedGeneration: 2, AvailableReplicas: 1}, 0, "0 of 1 pods are of the latest version"},
		"it is meant to be so":            {appsv1.StatefulSetStatus{ObservedGeneration: 2, AvailableReplicas: 1}, 1, ""},
	} {
		s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: c.status}
		s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: &c.partition}
		if got := ofStatefulSet(s).obstacle; got != c.want {
			t.Errorf("%s: %q; want %q", reason, got, c.want)
		}
	}
}

func TestJobIsReadyWhenItHasEnded(t *testing.T) {
	for reason, c := range map[string]struct {
		condition batchv1.JobCondition
		want      string
	}{
		"it runs":      {batchv1.JobCondition{}, "has not ended"},
		"it has ended": {batchv1.JobCondition{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}, ""},
		"it has failed": {
			batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Message: "too many pods failed"}, "has failed: too many pods failed",
		},
	} {
		j := &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{c.condition}}}
		if got := ofJob(j).obstacle; got != c.want {
			t.Errorf("%s: %q; want %q", reason, got, c.want)
		}
	}
}

func TestDefinitionIsServedOnceItsNamesAreAccepted(t *testing.T) {
	type conditions = []apiextensionsv1.CustomResourceDefinitionCondition
	accepted := apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue}
	for reason, c := range map[string]struct {
		conditions conditions
		want       string
	}{
		"it is new":      {nil, "is not established yet"},
		"names accepted": {conditions{accepted}, "is not established yet"},
		"it is served":   {conditions{accepted, {Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}, ""},
		"its names are taken": {
			conditions{{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionFalse, Message: `"teas" is already in use`}},
			`its names are not accepted: "teas" is already in use`,
		},
	} {
		d := definitionState{}
		d.Status.Conditions = c.conditions
		if got := d.obstacle(); got != c.want {
			t.Errorf("%s: %q; want %q", reason, got, c.want)
		}
	}
}

func TestPodsReportWhatKeepsThem(t *testing.T) {
	const image = "example.com/tea:1"
	waits := func(reason, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "main", Image: image, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
	}
	died := func(c corev1.ContainerStatus, code int32) corev1.ContainerStatus {
		c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", Message: "out of tea"}
		return c
	}
	of := func(containers ...corev1.ContainerStatus) corev1.Pod {
		return corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: containers}}
	}
	unscheduled := corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available",
	}}}}
	failedInit := corev1.Pod{Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{
		{Name: "setup", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2, Reason: "OOMKilled"}}},
	}, ContainerStatuses: []corev1.ContainerStatus{waits("PodInitializing", "")}}}
	ready := corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
	leaving := of(waits("ErrImagePull", "not found"))
	leaving.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	running := died(corev1.ContainerStatus{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}, 1)

	for reason, c := range map[string]struct {
		pods []corev1.Pod
		want string
	}{
		"no pods":                           {nil, ""},
		"a ready pod":                       {[]corev1.Pod{ready}, ""},
		"a pod that leaves":                 {[]corev1.Pod{leaving}, ""},
		"a pod that starts":                 {[]corev1.Pod{of(waits("ContainerCreating", ""))}, "its pod starts"},
		"an image that cannot be pulled":    {[]corev1.Pod{of(waits("ErrImagePull", "not found"))}, "ErrImagePull of " + image + ": not found"},
		"the same, while the kubelet waits": {[]corev1.Pod{of(waits("ImagePullBackOff", `Back-off pulling image "x": ErrImagePull: not found`))}, "ErrImagePull of " + image + ": not found"},
		"the same, of an older kubelet":     {[]corev1.Pod{of(waits("ImagePullBackOff", "Back-off pulling image"))}, "ErrImagePull of " + image},
		"a container that ends":             {[]corev1.Pod{of(died(waits("CrashLoopBackOff", "back-off 10s restarting"), 1))}, "container main ended with exit code 1: out of tea"},
		"the same, while it runs again":     {[]corev1.Pod{of(running)}, "container main ended with exit code 1: out of tea"},
		"a reason of the fault plan":        {[]corev1.Pod{of(waits("CrashLoopBackOff", "the fault plan says so"))}, "CrashLoopBackOff: the fault plan says so"},
		"a container that cannot be made":   {[]corev1.Pod{of(waits("CreateContainerConfigError", `secret "x" not found`))}, `CreateContainerConfigError: secret "x" not found`},
		"no node":                           {[]corev1.Pod{unscheduled}, "no node takes its pod: 0/3 nodes are available"},
		"an init container that fails":      {[]corev1.Pod{failedInit}, "init container setup ended with exit code 2 (OOMKilled)"},
		"a pod that was evicted":            {[]corev1.Pod{{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "low on memory"}}}, "Evicted: low on memory"},
		"a pod that failed without a word":  {[]corev1.Pod{{Status: corev1.PodStatus{Phase: corev1.PodFailed}}}, "its pod has failed"},
		"the worst is reported":             {[]corev1.Pod{ready, of(waits("ContainerCreating", "")), unscheduled, failedInit}, "init container setup ended with exit code 2 (OOMKilled)"},
		"a container that runs and is not ready": {
			[]corev1.Pod{of(corev1.ContainerStatus{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})}, "container main is not ready",
		},
	} {
		if got := podsObstacle(c.pods); got != c.want {
			t.Errorf("%s: %q; want %q", reason, got, c.want)
		}
	}
}
