// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"strings"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
)

// TestFailedHookReportsWhyAndRunsAgain has hooks that fail for good, with each way
// that a chart can speak about deleting them.
func TestFailedHookReportsWhyAndRunsAgain(t *testing.T) {
	for name, policy := range map[string]string{
		"no policy":       "",
		"hook-succeeded":  ", helm.sh/hook-delete-policy: hook-succeeded",
		"hook-failed":     ", helm.sh/hook-delete-policy: hook-failed",
		"before creation": ", helm.sh/hook-delete-policy: before-hook-creation",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			var healthy atomic.Bool
			l.kubelet(func(p *corev1.Pod) {
				if healthy.Load() {
					start(p)
				} else {
					crash(p)
				}
			})
			l.stock(l.key("tea"), "1.0.0", map[string]string{"templates/hook.yaml": hookFile("brew", "pre-install", policy, 0)})
			a := l.chart("tea", "1.0.0")
			s := l.awaitPhase(v1alpha1.AddonFailing, a)
			for _, want := range []string{"Job " + l.namespace + "/brew", "exit code 7", "out of tea"} {
				if !strings.Contains(s.Message, want) {
					t.Errorf("%q does not name %q", s.Message, want)
				}
			}
			healthy.Store(true)
			l.awaitReady(a)
			l.wantReleases("tea", 0)
		})
	}
}

// TestHookThatKubernetesTriesAgainReportsWhyAtOnce has a hook that takes minutes to
// fail for good.
func TestHookThatKubernetesTriesAgainReportsWhyAtOnce(t *testing.T) {
	l := newLab(t)
	l.kubelet(crash)
	l.stock(l.key("tea"), "1.0.0", map[string]string{"templates/hook.yaml": hookFile("brew", "post-install", "", 6)})
	s := l.awaitPhase(v1alpha1.AddonFailing, l.chart("tea", "1.0.0"))
	if want := "hook Job " + l.namespace + "/brew fails and is retried: container main ended with exit code 7: out of tea"; s.Message != want {
		t.Errorf("the message is %q; want %q", s.Message, want)
	}
}

// TestLeftHookIsNotTakenForTheRunOfThisOne leaves a finished Job where a hook
// belongs, as a process does that was killed.
func TestLeftHookIsNotTakenForTheRunOfThisOne(t *testing.T) {
	l := newLab(t)
	l.kubelet(start)
	l.stock(l.key("tea"), "1.0.0", map[string]string{
		"templates/hook.yaml": hookFile("brew", "pre-install", ", helm.sh/hook-delete-policy: hook-succeeded", 0),
	})
	left := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "brew"},
		Spec: batchv1.JobSpec{BackoffLimit: new(int32), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "other", Image: "example.com/other:1"}},
		}}},
	}
	if _, err := l.client.BatchV1().Jobs(l.namespace).Create(t.Context(), left, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	l.awaitReady(l.chart("tea", "1.0.0"))
}

// TestRefusedPodsOfAHookAreReported has a namespace that takes no such pods.
func TestRefusedPodsOfAHookAreReported(t *testing.T) {
	l := newLab(t)
	hostile := strings.Replace(hookFile("brew", "pre-install", "", 6), "restartPolicy: Never", "restartPolicy: Never, hostNetwork: true", 1)
	l.stock(l.key("tea"), "1.0.0", map[string]string{"templates/hook.yaml": hostile})
	a := l.chart("tea", "1.0.0", func(a *addon.Addon) { a.Namespace.PodSecurity = addon.Baseline })
	s := l.await("the refusal is reported", []addon.Addon{a}, func(s []State) bool { return strings.Contains(s[0].Message, "host namespaces") })
	if strings.Contains(s[0].Message, "brew-") {
		t.Errorf("%q names one pod of many", s[0].Message)
	}
}

// TestHookIsNotWaitedForOnceAnotherVersionIsWanted has a hook whose pods never
// run, and a spec that leads out of it.
func TestHookIsNotWaitedForOnceAnotherVersionIsWanted(t *testing.T) {
	l := newLab(t)
	l.stock(l.key("tea"), "1.0.0", map[string]string{"templates/hook.yaml": hookFile("brew", "pre-install", "", 6)})
	l.stock(l.key("tea"), "1.0.1", nil)
	l.awaitMessage(v1alpha1.AddonInstalling, "brew has not ended", l.chart("tea", "1.0.0"))
	l.awaitReady(l.chart("tea", "1.0.1"))
}
