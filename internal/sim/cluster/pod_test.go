// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func testKubelet() *Kubelet {
	return &Kubelet{Node: Node{
		Name:    "n",
		Address: netip.MustParseAddr("10.40.0.11"),
		PodCIDR: netip.MustParsePrefix("10.244.0.0/16"),
	}}
}

func TestPodStatus(t *testing.T) {
	for reason, tc := range map[string]struct {
		policy corev1.RestartPolicy
		phase  corev1.PodPhase
		ready  bool
	}{
		"a pod that is to stay runs": {corev1.RestartPolicyAlways, corev1.PodRunning, true},
		"a pod that is to end ended": {corev1.RestartPolicyNever, corev1.PodSucceeded, false},
	} {
		t.Run(reason, func(t *testing.T) {
			status := testKubelet().podStatus(&corev1.Pod{Spec: corev1.PodSpec{
				RestartPolicy:  tc.policy,
				InitContainers: []corev1.Container{{Name: "i"}},
				Containers:     []corev1.Container{{Name: "a"}, {Name: "b"}},
			}})
			if status.Phase != tc.phase || len(status.ContainerStatuses) != 2 || len(status.InitContainerStatuses) != 1 {
				t.Fatalf("status %+v", status)
			}
			if status.InitContainerStatuses[0].State.Terminated == nil {
				t.Error("the init container did not end")
			}
			for _, c := range status.ContainerStatuses {
				if c.Ready != tc.ready || (c.State.Running != nil) != tc.ready {
					t.Errorf("container %+v, want ready: %v", c, tc.ready)
				}
			}
			for _, c := range status.Conditions {
				if c.Type == corev1.PodReady && (c.Status == corev1.ConditionTrue) != tc.ready {
					t.Errorf("condition %+v, want ready: %v", c, tc.ready)
				}
			}
		})
	}
}

func TestPodAddress(t *testing.T) {
	k := testKubelet()
	seen := map[string]bool{}
	for i := range 50 {
		pod := &corev1.Pod{}
		pod.UID = types.UID(fmt.Sprintf("uid-%d", i))
		address := k.Node.podAddress(pod)
		if !k.Node.PodCIDR.Contains(netip.MustParseAddr(address)) {
			t.Errorf("%s is not in %s", address, k.Node.PodCIDR)
		}
		seen[address] = true
	}
	if len(seen) < 45 {
		t.Errorf("50 pods share %d addresses", len(seen))
	}
	host := &corev1.Pod{Spec: corev1.PodSpec{HostNetwork: true}}
	if got := k.Node.podAddress(host); got != "10.40.0.11" {
		t.Errorf("a pod on the host's network has %s", got)
	}
}
