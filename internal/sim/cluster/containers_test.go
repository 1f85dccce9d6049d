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
		events := make(chan string, 10)
		c := newContainers(func(key string) { events <- "ended " + key })
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
		if !c.stop("ns/a") {
			t.Error("nothing has to end")
		}
		c.start("ns/a", podWithUID("1"), note(events))
		expect("start 1")
		c.start("ns/a", podWithUID("1"), note(events))
		expect()
		c.start("ns/a", podWithUID("2"), note(events))
		expect("end 1", "ended ns/a")
		c.start("ns/a", podWithUID("2"), note(events))
		expect("start 2")
		c.start("ns/b", podWithUID("3"), note(events))
		expect("start 3")
		if c.stop("ns/a") || c.has("ns/a") {
			t.Error("containers that have to end are taken for gone, or for running")
		}
		expect("end 2", "ended ns/a")
		if !c.stop("ns/a") {
			t.Error("containers that have ended are not gone")
		}
		c.cut()
		expect("end 3")
		if left := c.keys(); len(left) != 1 {
			t.Errorf("left: %v, want those that were not asked to end", left)
		}
	})
}

func TestContainersThatEndByThemselvesAreNotStartedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newContainers(func(key string) { t.Errorf("%s ended", key) })
		starts := 0
		for range 2 {
			c.start("ns/a", podWithUID("1"), func(context.Context, *corev1.Pod) { starts++ })
			synctest.Wait()
		}
		if starts != 1 {
			t.Errorf("%d starts", starts)
		}
		if !c.stop("ns/a") {
			t.Error("they are not gone")
		}
	})
}

func TestStatusOfNotReadyNode(t *testing.T) {
	for _, obstacle := range []string{"", "why"} {
		node := &corev1.Node{Status: testKubelet(Options{}).Node.status(obstacle)}
		if got, known := readiness(node); got != (obstacle == "") || !known {
			t.Errorf("readiness %v, known %v; obstacle %q", got, known, obstacle)
		}
	}
	if _, known := readiness(&corev1.Node{}); known {
		t.Error("readiness of a node that was not reported")
	}
}
