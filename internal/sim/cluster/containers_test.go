// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// note is a container's life: it says when it starts and when it ends.
func note(events chan<- string) func(context.Context, *corev1.Pod) {
	return func(ctx context.Context, pod *corev1.Pod) {
		events <- "start " + string(pod.UID)
		<-ctx.Done()
		events <- "end " + string(pod.UID)
	}
}

func podWithUID(uid types.UID) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}}
}

func TestContainersRunOnceAndEndWithTheirPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c containers
		events := make(chan string, 10)
		expect := func(want ...string) {
			t.Helper()
			synctest.Wait()
			for _, w := range want {
				if len(events) == 0 {
					t.Fatalf("nothing happened, want %q", w)
				}
				if got := <-events; got != w {
					t.Errorf("%q, want %q", got, w)
				}
			}
			if len(events) > 0 {
				t.Errorf("also %q", <-events)
			}
		}
		c.stop("ns/a")
		c.start("ns/a", podWithUID("1"), note(events))
		expect("start 1")
		c.start("ns/a", podWithUID("1"), note(events))
		expect()
		c.start("ns/a", podWithUID("2"), note(events))
		expect("end 1", "start 2")
		c.start("ns/b", podWithUID("3"), note(events))
		expect("start 3")
		c.stop("ns/a")
		expect("end 2")
		c.stopAll()
		expect("end 3")
		if left := c.keys(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

func TestStatusOfNotReadyNode(t *testing.T) {
	for _, ready := range []bool{false, true} {
		node := &corev1.Node{Status: testKubelet().Node.status(ready)}
		if got, known := readiness(node); got != ready || !known {
			t.Errorf("readiness %v, known %v; reported %v", got, known, ready)
		}
	}
	if _, known := readiness(&corev1.Node{}); known {
		t.Error("readiness of a node that nobody reported")
	}
}
