// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"log/slog"
	"net/netip"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/standin"
)

func testKubelet(o Options) *Kubelet {
	o.Log = slog.New(slog.DiscardHandler)
	return NewKubelet(Node{Name: "n", Address: netip.MustParseAddr("10.40.0.11")}, o)
}

// faults is a plan with one fault of the addon "a", from now on.
func faults(k fault.Kind, lasts time.Duration) *fault.Injector {
	c := fault.NewInjector(fault.Plan{Faults: []fault.Fault{{Kind: k, Addon: "a", For: metav1.Duration{Duration: lasts}}}})
	c.Begin()
	return c
}

func addonPod(policy corev1.RestartPolicy) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "p", UID: "1",
			CreationTimestamp: metav1.Now(), Annotations: map[string]string{standin.Addon: "a"},
		},
		Spec: corev1.PodSpec{
			RestartPolicy:  policy,
			InitContainers: []corev1.Container{{Name: "i"}},
			Containers:     []corev1.Container{{Name: "a", Image: "example.com/a"}, {Name: "b", Image: "example.com/b"}},
		},
	}
}

func TestPodStateFollowsDelaysAndFaults(t *testing.T) {
	const always, never = corev1.RestartPolicyAlways, corev1.RestartPolicyNever
	slow := Options{AddonAfter: time.Hour}
	for reason, tc := range map[string]struct {
		options Options
		policy  corev1.RestartPolicy
		other   bool // not of the addon
		phase   corev1.PodPhase
		ready   bool
		waiting string
		again   bool
	}{
		"a pod that is to stay is ready":              {policy: always, phase: corev1.PodRunning, ready: true},
		"a pod that is to end ended":                  {policy: never, phase: corev1.PodSucceeded},
		"an addon takes its time":                     {options: slow, policy: always, phase: corev1.PodRunning, again: true},
		"others do not":                               {options: slow, policy: always, other: true, phase: corev1.PodRunning, ready: true},
		"an addon does not get ready":                 {options: Options{Faults: faults(fault.AddonNotReady, time.Hour)}, policy: always, phase: corev1.PodRunning, waiting: crashLoop, again: true},
		"an addon never gets ready":                   {options: Options{Faults: faults(fault.AddonNotReady, 0)}, policy: always, phase: corev1.PodRunning, waiting: crashLoop},
		"others do all the same":                      {options: Options{Faults: faults(fault.AddonNotReady, 0)}, policy: always, other: true, phase: corev1.PodRunning, ready: true},
		"hooks run while an addon does not get ready": {options: Options{Faults: faults(fault.AddonNotReady, 0)}, policy: never, phase: corev1.PodSucceeded},
		"a hook fails":                                {options: Options{Faults: faults(fault.HookFails, 0)}, policy: never, phase: corev1.PodFailed},
		"an addon is ready while its hooks fail":      {options: Options{Faults: faults(fault.HookFails, 0)}, policy: always, phase: corev1.PodRunning, ready: true},
	} {
		t.Run(reason, func(t *testing.T) {
			k, pod := testKubelet(tc.options), addonPod(tc.policy)
			if tc.other {
				pod.Annotations = nil
			}
			state, again := k.judge(pod)
			if state.phase != tc.phase || state.ready != tc.ready || again > 0 != tc.again {
				t.Fatalf("%+v, again in %v", state, again)
			}
			pod.Status = k.podStatus(pod, state, netip.MustParseAddr("10.244.0.1"))
			if got := stateOf(pod); got != state {
				t.Errorf("the status says %+v, want %+v", got, state)
			}
			checkContainers(t, pod, tc.ready, tc.waiting)
		})
	}
}

// TestImageThatTheRegistryLacksIsNotPulled: a pod that runs has its image already.
func TestImageThatTheRegistryLacksIsNotPulled(t *testing.T) {
	missing := fault.NewInjector(fault.Plan{Faults: []fault.Fault{{Kind: fault.ImageMissing, Addon: "butler-*"}}})
	missing.Begin()
	k, pod := testKubelet(Options{Faults: missing}), addonPod(corev1.RestartPolicyAlways)
	pod.Spec.Containers[1].Image = "example.com/butler-controller:v1@sha256:00"
	state, again := k.judge(pod)
	if state.phase != corev1.PodPending || again == 0 {
		t.Fatalf("%+v, again in %v", state, again)
	}
	running := k.podStatus(pod, podState{phase: corev1.PodRunning, ready: true}, netip.MustParseAddr("10.244.0.1"))
	pod.Status = k.podStatus(pod, state, netip.MustParseAddr("10.244.0.1"))
	if got := stateOf(pod); got != state || pod.Status.ContainerStatuses[1].RestartCount != 0 {
		t.Errorf("the status says %+v, want %+v: %+v", got, state, pod.Status.ContainerStatuses)
	}
	checkContainers(t, pod, false, pullError)
	pod.Status = running
	if state, _ := k.judge(pod); !state.ready {
		t.Errorf("a pod that runs is stopped: %+v", state)
	}
}

func checkContainers(t *testing.T, pod *corev1.Pod, ready bool, waiting string) {
	t.Helper()
	if i := pod.Status.InitContainerStatuses; len(i) != 1 || i[0].State.Terminated == nil {
		t.Errorf("the init container did not end: %+v", i)
	}
	if len(pod.Status.ContainerStatuses) != 2 {
		t.Fatalf("%d containers", len(pod.Status.ContainerStatuses))
	}
	for _, c := range pod.Status.ContainerStatuses {
		if c.Ready != ready {
			t.Errorf("container %+v, want ready: %v", c, ready)
		}
		if got := c.State.Waiting; (got != nil) != (waiting != "") || got != nil && (got.Reason != waiting || got.Message == "") {
			t.Errorf("container waits for %+v, want %q", got, waiting)
		}
		if end := c.State.Terminated; pod.Status.Phase == corev1.PodFailed && (end == nil || end.ExitCode == 0 || end.Message == "") {
			t.Errorf("container ended with %+v", end)
		}
	}
}

func TestRecoveredPodKeepsItsHistory(t *testing.T) {
	k, pod := testKubelet(Options{}), addonPod(corev1.RestartPolicyAlways)
	address := netip.MustParseAddr("10.244.0.1")
	ready := podState{phase: corev1.PodRunning, ready: true}
	pod.Status = k.podStatus(pod, ready, address)
	started := metav1.NewTime(time.Now().Add(-time.Hour))
	pod.Status.StartTime = &started
	for i := range pod.Status.Conditions {
		pod.Status.Conditions[i].LastTransitionTime = started
	}
	for range 2 {
		pod.Status = k.podStatus(pod, crashed("why"), address)
	}
	pod.Status = k.podStatus(pod, ready, address)
	if got := pod.Status.ContainerStatuses[0].RestartCount; got != 1 {
		t.Errorf("%d restarts", got)
	}
	if last := pod.Status.ContainerStatuses[0].LastTerminationState.Terminated; last == nil || last.Message != "why" {
		t.Errorf("it ended with %+v before", last)
	}
	if !pod.Status.StartTime.Equal(&started) {
		t.Error("the pod started again")
	}
	for _, c := range pod.Status.Conditions {
		changed := c.Type == corev1.PodReady || c.Type == corev1.ContainersReady
		if c.LastTransitionTime.Equal(&started) == changed {
			t.Errorf("%s changed at %v", c.Type, c.LastTransitionTime)
		}
	}
}
