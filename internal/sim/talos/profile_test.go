// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/internal/talos"
)

// threeControlPlanes are configured to hold Talos' own shared IP, and the first one is
// bootstrapped.
func threeControlPlanes(t *testing.T, p datacenter.Profile) (s *site, addresses []string) {
	t.Helper()
	s = newSite(t, simtalos.Options{Executable: planetest.Executable(t), Profile: p})
	addresses = append(addresses, s.bootstrapFirst(t))
	for _, name := range []string{"cp-1", "cp-2"} {
		m := s.powerOn(t, name)
		s.configure(t, m, talos.ControlPlane)
		addresses = append(addresses, m.Address.Addr().String())
	}
	return s, addresses
}

func TestSharedIPIsHeldBeforeAnyAPIServerAnswers(t *testing.T) {
	t.Parallel()
	s, addresses := threeControlPlanes(t, datacenter.Profile{APIServer: time.Hour})
	for _, address := range addresses {
		s.awaitState(t, address, talos.StateConfigured)
		var members []talos.Member
		eventually(t, func(ctx context.Context) bool {
			bounded, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			var err error
			members, err = s.client.Members(bounded, address)
			return err == nil && len(members) == 3 && !slices.ContainsFunc(members, func(m talos.Member) bool { return m.Learner })
		}, func() any { return fmt.Sprintf("members by %s: %v", address, members) })
	}
	for _, address := range append(addresses, sharedIP) {
		if _, err := s.network.Dial(t.Context(), "tcp", address+":6443"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("API server at %s: %v, want it refused", address, err)
		}
	}
}

func TestNodeIsNotReadyAtFirst(t *testing.T) {
	t.Parallel()
	s, addresses := threeControlPlanes(t, datacenter.Profile{NodeReady: time.Hour, SharedIP: time.Hour})
	check(t, s.network.Await(t.Context(), sharedIP+":6443"))
	client := s.kubernetes(t, addresses[0])
	var ready *corev1.NodeCondition
	eventually(t, func(ctx context.Context) bool {
		ready = readyCondition(ctx, client, "cp-0")
		return ready != nil
	}, func() any { return "cp-0 is not registered" })
	if ready.Status != corev1.ConditionFalse || ready.Reason != "KubeletNotReady" || !strings.HasPrefix(ready.Message, "container runtime network not ready: ") {
		t.Errorf("condition %+v", ready)
	}
	t.Run("only pods on the host's network run", func(t *testing.T) { hostPods(t, client) })
	t.Run("a lost holder is not noticed at once", func(t *testing.T) { lostHolder(t, s, addresses) })
}

func readyCondition(ctx context.Context, client *kubernetes.Clientset, name string) *corev1.NodeCondition {
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Reason != "NodeStatusNeverUpdated" {
			return &c
		}
	}
	return nil
}

func hostPods(t *testing.T, client *kubernetes.Clientset) {
	pods := client.CoreV1().Pods("kube-system")
	for _, host := range []bool{false, true} {
		_, err := pods.Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("host-%v", host)},
			Spec: corev1.PodSpec{
				NodeName: "cp-0", HostNetwork: host,
				Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
				Containers:  []corev1.Container{{Name: "a", Image: "a"}},
			},
		}, metav1.CreateOptions{})
		check(t, err)
	}
	var pod *corev1.Pod
	var err error
	eventually(t, func(ctx context.Context) bool {
		pod, err = pods.Get(ctx, "host-true", metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning
	}, func() any { return fmt.Sprint(pod.Status.Phase, err) })
	if pod, err = pods.Get(t.Context(), "host-false", metav1.GetOptions{}); err != nil || pod.Status.Phase != corev1.PodPending {
		t.Errorf("pod of a node without network: %v, %v", pod.Status.Phase, err)
	}
}

func lostHolder(t *testing.T, s *site, addresses []string) {
	for _, address := range addresses {
		check(t, s.network.Await(t.Context(), address+":6443"))
	}
	s.datacenter.PowerOff("cp-0") // it held the address first, and gives it back
	check(t, s.network.Await(t.Context(), sharedIP+":6443"))
	s.powerOn(t, "cp-0")
	check(t, s.network.Await(t.Context(), addresses[0]+":6443"))
	for i, name := range []string{"cp-1", "cp-2"} {
		s.datacenter.Kill(name)
		other := addresses[2-i]
		if _, err := s.network.Dial(t.Context(), "tcp", other+":6443"); err != nil {
			t.Errorf("the API server at %s went with another machine: %v", other, err)
		}
		_, err := s.network.Dial(t.Context(), "tcp", sharedIP+":6443")
		if errors.Is(err, syscall.EHOSTUNREACH) {
			return // this one held the address
		}
		s.powerOn(t, name)
		check(t, s.network.Await(t.Context(), addresses[i+1]+":6443"))
	}
	t.Error("the shared IP never was silent, whichever machine lost power")
}
