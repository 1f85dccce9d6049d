// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/standin"
)

// podState is what a kubelet says of a pod.
type podState struct {
	phase   corev1.PodPhase
	ready   bool
	reason  string // why its containers do not run; empty if they do
	message string
}

// runs says whether the pod's containers do.
func (s podState) runs() bool { return s.phase == corev1.PodRunning && s.reason != crashLoop }

// brokenPeriod is how often a pod is started again whose containers end.
const brokenPeriod = time.Second

// Reasons of containers that do not run.
const (
	crashLoop = "CrashLoopBackOff"
	failed    = "Error"
	pullError = "ErrImagePull"
)

// judge says how a pod is to be now, and when that may change by itself; 0 means that
// it does not.
func (k *Kubelet) judge(pod *corev1.Pod) (podState, time.Duration) {
	if pod.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		return k.judgeJob(pod), 0
	}
	if image := k.missingImage(pod); image != "" {
		return unpulled(image), brokenPeriod
	}
	state, again := k.judgeAddon(pod)
	if state.ready {
		state = k.programs.judge(pod, k.Controllers.of(pod))
	}
	return state, again
}

// judgeJob has pods that are to end do so at once.
func (k *Kubelet) judgeJob(pod *corev1.Pod) podState {
	if addon, ok := pod.Annotations[standin.Addon]; ok {
		if _, ails := k.Faults.AddonFails(fault.HookFails, addon); ails {
			return podState{
				phase: corev1.PodFailed, reason: failed,
				message: fmt.Sprintf("the fault plan has the hooks of %s fail", addon),
			}
		}
	}
	return podState{phase: corev1.PodSucceeded}
}

// judgeAddon knows the delays and faults of addons; any other pod is ready.
func (k *Kubelet) judgeAddon(pod *corev1.Pod) (podState, time.Duration) {
	addon, ok := pod.Annotations[standin.Addon]
	if !ok {
		return podState{phase: corev1.PodRunning, ready: true}, 0
	}
	if k.Broken != nil {
		if why := k.Broken(pod); why != "" {
			return crashed(why), brokenPeriod
		}
	}
	if left, ails := k.Faults.AddonFails(fault.AddonNotReady, addon); ails {
		return crashed(fmt.Sprintf("the fault plan keeps %s from getting ready", addon)), left
	}
	if left := time.Until(pod.CreationTimestamp.Add(k.AddonAfter)); left > 0 && k.AddonAfter > 0 {
		return podState{phase: corev1.PodRunning}, left
	}
	return podState{phase: corev1.PodRunning, ready: true}, 0
}

// missingImage is an image of this project that the registry lacks and a pod waits for; empty
// if there is none. What runs has its image.
func (k *Kubelet) missingImage(pod *corev1.Pod) string {
	if pod.Status.Phase == corev1.PodRunning {
		return ""
	}
	for _, c := range pod.Spec.Containers {
		addon, _ := controllerOf(c.Image)
		if _, missing := k.Faults.AddonFails(fault.ImageMissing, addon); missing && strings.HasPrefix(addon, "butler-") {
			return c.Image
		}
	}
	return ""
}

// isKept says whether a fault keeps the pod's containers from running.
func (k *Kubelet) isKept(pod *corev1.Pod) bool {
	state, _ := k.judgeAddon(pod)
	return !state.runs()
}

// crashed is the state of a pod whose containers end again and again.
func crashed(message string) podState {
	return podState{phase: corev1.PodRunning, reason: crashLoop, message: message}
}

// unpulled is the state of a pod whose image cannot be pulled, in the words of containerd.
func unpulled(image string) podState {
	return podState{
		phase: corev1.PodPending, reason: pullError,
		message: fmt.Sprintf("failed to pull and unpack image %q: failed to resolve reference %q: %s: not found", image, image, image),
	}
}

// stateOf is what the API server knows.
func stateOf(pod *corev1.Pod) podState {
	state := podState{phase: pod.Status.Phase, ready: isReady(pod)}
	for _, c := range pod.Status.ContainerStatuses {
		switch {
		case c.State.Waiting != nil:
			state.reason, state.message = c.State.Waiting.Reason, c.State.Waiting.Message
		case c.State.Terminated != nil && c.State.Terminated.ExitCode != 0:
			state.reason, state.message = c.State.Terminated.Reason, c.State.Terminated.Message
		}
	}
	return state
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
