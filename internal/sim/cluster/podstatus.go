// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podStatus is a state in the words of a kubelet.
func (k *Kubelet) podStatus(pod *corev1.Pod, state podState, address netip.Addr) corev1.PodStatus {
	now := metav1.Now()
	status := corev1.PodStatus{
		Phase:     state.phase,
		HostIP:    k.Node.Address.String(),
		HostIPs:   []corev1.HostIP{{IP: k.Node.Address.String()}},
		PodIP:     address.String(),
		PodIPs:    []corev1.PodIP{{IP: address.String()}},
		StartTime: pod.Status.StartTime,
		QOSClass:  pod.Status.QOSClass,
	}
	if status.StartTime == nil {
		status.StartTime = &now
	}
	status.Conditions = podConditions(pod, state, now)
	for _, c := range pod.Spec.InitContainers {
		status.InitContainerStatuses = append(status.InitContainerStatuses, initStatus(c, state, now))
	}
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, containerStatus(c, before(pod, c.Name), state, now))
	}
	return status
}

// before is what the status says of a container so far.
func before(pod *corev1.Pod, name string) corev1.ContainerStatus {
	for _, c := range pod.Status.ContainerStatuses {
		if c.Name == name {
			return c
		}
	}
	return corev1.ContainerStatus{}
}

// podConditions keep their time while they say the same.
func podConditions(pod *corev1.Pod, state podState, now metav1.Time) []corev1.PodCondition {
	ready, reason := corev1.ConditionTrue, ""
	switch {
	case state.phase == corev1.PodSucceeded:
		ready, reason = corev1.ConditionFalse, "PodCompleted"
	case state.phase == corev1.PodFailed:
		ready, reason = corev1.ConditionFalse, "PodFailed"
	case !state.ready:
		ready, reason = corev1.ConditionFalse, "ContainersNotReady"
	}
	conditions := []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue},
		{Type: corev1.ContainersReady, Status: ready, Reason: reason, Message: state.message},
		{Type: corev1.PodReady, Status: ready, Reason: reason, Message: state.message},
	}
	for i, c := range conditions {
		conditions[i].LastTransitionTime = now
		for _, old := range pod.Status.Conditions {
			if old.Type == c.Type && old.Status == c.Status {
				conditions[i].LastTransitionTime = old.LastTransitionTime
			}
		}
	}
	return conditions
}

// initStatus is that of one that ended well, or that continues beside the others.
func initStatus(c corev1.Container, state podState, now metav1.Time) corev1.ContainerStatus {
	stays := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	own := podState{phase: corev1.PodSucceeded}
	if stays && state.phase == corev1.PodRunning {
		own = podState{phase: corev1.PodRunning, ready: true}
	}
	status := containerStatus(c, corev1.ContainerStatus{}, own, now)
	status.Ready = true
	return status
}

func containerStatus(c corev1.Container, old corev1.ContainerStatus, state podState, now metav1.Time) corev1.ContainerStatus {
	status := corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, ImageID: c.Image, ContainerID: "emulated://" + c.Name,
		Ready: state.ready, RestartCount: old.RestartCount, LastTerminationState: old.LastTerminationState,
	}
	status.Started = new(state.runs())
	switch {
	case state.phase == corev1.PodSucceeded:
		status.State.Terminated = terminated(0, "Completed", "", now)
	case state.phase == corev1.PodFailed:
		status.State.Terminated = terminated(1, state.reason, state.message, now)
	case !state.runs():
		if old.State.Waiting == nil && state.reason == crashLoop {
			status.RestartCount++
			status.LastTerminationState.Terminated = terminated(1, failed, state.message, now)
		}
		status.State.Waiting = &corev1.ContainerStateWaiting{Reason: state.reason, Message: state.message}
	default:
		status.State.Running = &corev1.ContainerStateRunning{StartedAt: now}
		if old.State.Running != nil {
			status.State.Running.StartedAt = old.State.Running.StartedAt
		}
	}
	return status
}

func terminated(code int32, reason, message string, now metav1.Time) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message, StartedAt: now, FinishedAt: now}
}
