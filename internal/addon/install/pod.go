// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// cause is why a pod is not ready; a heavier one is reported rather than a lighter.
type cause struct {
	weight int
	text   string
}

// The weights of causes.
const (
	light   = iota + 1 // it starts
	idle               // it runs, and is not ready
	waiting            // no node takes it
	broken             // something is wrong with it
)

// PodProblem returns one word for why a pod is not ready, and the cause as text; both are
// empty for a pod that is ready, has ended well, or leaves.
func PodProblem(p *corev1.Pod) (reason, message string) {
	c := podCause(p)
	if p.DeletionTimestamp != nil || c.weight == 0 {
		return "", ""
	}
	return podReason(p, c), c.text
}

func podReason(p *corev1.Pod, c cause) string {
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		switch w := s.State.Waiting; {
		case w != nil && isPull(w.Reason):
			return "ErrImagePull"
		case containerCause("", s).weight == broken && w != nil && w.Reason != "":
			return w.Reason
		case containerCause("", s).weight == broken:
			return "CrashLoopBackOff"
		}
	}
	return map[int]string{light: "Starting", idle: "NotReady", waiting: "Unschedulable", broken: "Failed"}[c.weight]
}

// podsObstacle returns the heaviest cause why pods are not ready, without their
// names.
func podsObstacle(pods []corev1.Pod) string {
	worst := cause{}
	for _, p := range pods {
		if p.DeletionTimestamp != nil {
			continue
		}
		c := podCause(&p)
		if c.weight > worst.weight || c.weight == worst.weight && c.text < worst.text {
			worst = c
		}
	}
	return worst.text
}

func podCause(p *corev1.Pod) cause {
	if p.Status.Phase == corev1.PodSucceeded || condition(p, corev1.PodReady).Status == corev1.ConditionTrue {
		return cause{}
	}
	all := slices.Concat(containers("init container", p.Status.InitContainerStatuses), containers("container", p.Status.ContainerStatuses))
	worst := cause{}
	for _, c := range all {
		if c.weight > worst.weight {
			worst = c
		}
	}
	switch scheduled := condition(p, corev1.PodScheduled); {
	case worst.weight == broken:
		return worst
	case p.Status.Phase == corev1.PodFailed:
		return cause{broken, cmp.Or(strings.TrimSuffix(p.Status.Reason+because(p.Status.Message), ": "), "its pod has failed")}
	case scheduled.Status == corev1.ConditionFalse:
		return cause{waiting, "no node takes its pod" + because(scheduled.Message)}
	case worst.weight > 0:
		return worst
	}
	return cause{light, "its pod starts"}
}

func condition(p *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

func containers(what string, all []corev1.ContainerStatus) (out []cause) {
	for _, c := range all {
		out = append(out, containerCause(what, c))
	}
	return out
}

// containerCause reads the same whether a container has just ended or is about
// to be started again: the two take turns.
func containerCause(what string, c corev1.ContainerStatus) cause {
	w := c.State.Waiting
	switch {
	case w != nil && isPull(w.Reason):
		return cause{broken, "ErrImagePull of " + c.Image + because(pullMessage(w.Message))}
	case c.State.Terminated != nil && c.State.Terminated.ExitCode != 0:
		return ended(what, c, *c.State.Terminated)
	case c.State.Terminated != nil, c.Ready:
		return cause{}
	case c.LastTerminationState.Terminated != nil:
		return ended(what, c, *c.LastTerminationState.Terminated)
	case w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" && w.Reason != "":
		return cause{broken, w.Reason + because(kubeletMessage(w.Message))}
	case c.State.Running != nil:
		return cause{idle, what + " " + c.Name + " is not ready"}
	}
	return cause{light, "its pod starts"}
}

func ended(what string, c corev1.ContainerStatus, t corev1.ContainerStateTerminated) cause {
	text := fmt.Sprintf("%s %s ended with exit code %d", what, c.Name, t.ExitCode)
	if t.Reason != "" && t.Reason != "Error" {
		text += " (" + t.Reason + ")"
	}
	message := strings.TrimSpace(t.Message)
	if w := c.State.Waiting; message == "" && w != nil {
		message = kubeletMessage(w.Message)
	}
	return cause{broken, text + because(message)}
}

func isPull(reason string) bool {
	return slices.Contains([]string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}, reason)
}

// pullMessage is why an image cannot be pulled; a kubelet repeats it while it
// waits.
func pullMessage(message string) string {
	if _, why, ok := strings.Cut(message, "ErrImagePull: "); ok {
		return why
	}
	return kubeletMessage(message)
}

// kubeletMessage leaves out how long a kubelet waits.
func kubeletMessage(message string) string {
	if strings.HasPrefix(strings.ToLower(message), "back-off") {
		return ""
	}
	return message
}
