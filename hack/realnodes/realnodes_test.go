// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/manifest"
)

func TestRunIsRefusedInOneSentence(t *testing.T) {
	answers := func(string) error { return nil }
	local := func(netip.Addr) bool { return true }
	good := here{"linux", 0, local, answers}
	for reason, c := range map[string]struct {
		here here
		o    options
		want string
	}{
		"possible":          {good, options{Boot: "/bin/sh", Registry: "10.5.0.1:5000"}, ""},
		"another system":    {here{"darwin", 0, local, answers}, options{Boot: "/bin/sh", Registry: "10.5.0.1:5000"}, "run it on Linux"},
		"not root":          {here{"linux", 1000, local, answers}, options{Boot: "/bin/sh", Registry: "10.5.0.1:5000"}, "run it as root"},
		"no boot command":   {good, options{Registry: "10.5.0.1:5000"}, "set BOOT"},
		"a missing command": {good, options{Boot: "/no/such/boot", Registry: "10.5.0.1:5000"}, "/no/such/boot"},
		"no registry":       {good, options{Boot: "/bin/sh"}, "set REGISTRY"},
		"a registry's name": {good, options{Boot: "/bin/sh", Registry: "registry.example.com:5000"}, "REGISTRY must be an IPv4 address"},
		"another machine":   {here{"linux", 0, isLocal, answers}, options{Boot: "/bin/sh", Registry: "198.51.100.1:5000"}, "no interface of this machine has the address 198.51.100.1"},
		"this machine":      {here{"linux", 0, isLocal, answers}, options{Boot: "/bin/sh", Registry: "127.0.0.1:5000"}, ""},
		"a silent registry": {here{"linux", 0, local, func(string) error { return errors.New("connection refused") }}, options{Boot: "/bin/sh", Registry: "10.5.0.1:5000"}, "start the registry"},
	} {
		t.Run(reason, func(t *testing.T) {
			err := c.here.refuse(c.o)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v does not say %q in one line", err, c.want)
			}
		})
	}
}

func TestManifestIsOneOfTheNetworkOfTheRegistry(t *testing.T) {
	a, err := addressesOf("10.5.7.1:5000")
	if err != nil {
		t.Fatal(err)
	}
	data, err := a.manifest()
	if err != nil {
		t.Fatal(err)
	}
	m, err := manifest.Parse("cluster.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	s := m.Cluster.Spec
	got := []string{s.Cluster.Name, s.Network.VIP, s.Addons.ButlerController.Image, a.Subnet.String(), a.Gateway.String()}
	want := []string{cluster, "10.5.7.100", "10.5.7.1:5000/butler/butler-controller", "10.5.7.0/24", "10.5.7.1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Both are completed later, by others.
	for _, part := range []string{`"subnet": "{{.PodCIDR}}"`, `endpoints: ["http://10.5.7.1:5000"]`} {
		if !strings.Contains(s.Talos.StrategicPatches[0].Patch, part) {
			t.Errorf("%s is missing in\n%s", part, s.Talos.StrategicPatches[0].Patch)
		}
	}
}

func TestRoutesAreThoseOfNodesWithAddressAndRange(t *testing.T) {
	node := func(podCIDR, address string) corev1.Node {
		return corev1.Node{Spec: corev1.NodeSpec{PodCIDR: podCIDR}, Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeHostName, Address: "a"}, {Type: corev1.NodeInternalIP, Address: address},
		}}}
	}
	got := map[string]string{}
	for to, via := range routesOf([]corev1.Node{node("10.244.0.0/24", "10.5.0.2"), node("", "10.5.0.3"), node("10.244.2.0/24", ""), node("10.244.3.0/24", "10.5.0.5")}) {
		got[to.String()] = via.String()
	}
	want := map[string]string{"10.244.0.0/24": "10.5.0.2", "10.244.3.0/24": "10.5.0.5"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestClusterManagesItselfOnlyByPodsThatAreReady(t *testing.T) {
	pod := func(status corev1.ConditionStatus) corev1.Pod {
		return corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}}}
	}
	cluster := func(plane string, status metav1.ConditionStatus) *v1alpha1.ClusterBootstrap {
		cb := &v1alpha1.ClusterBootstrap{}
		cb.Annotations = map[string]string{v1alpha1.AnnotationPlane: plane}
		cb.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: status}}
		return cb
	}
	good := cluster(v1alpha1.PlaneSelf, metav1.ConditionTrue)
	for reason, c := range map[string]struct {
		state state
		want  string
	}{
		"it does":         {state{pods: []corev1.Pod{pod("True")}, cluster: good}, ""},
		"nothing is seen": {state{}, "does not manage itself"},
		"another plane":   {state{pods: []corev1.Pod{pod("True")}, cluster: cluster(v1alpha1.PlaneLocal, metav1.ConditionTrue)}, "does not manage itself"},
		"not Ready":       {state{pods: []corev1.Pod{pod("True")}, cluster: cluster(v1alpha1.PlaneSelf, metav1.ConditionFalse)}, "not Ready"},
		"no pods":         {state{cluster: good}, "no pods"},
		"a pod is not":    {state{pods: []corev1.Pod{pod("True"), pod("False")}, cluster: good}, "is not ready"},
	} {
		t.Run(reason, func(t *testing.T) {
			err := selfManaged(c.state)
			if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
