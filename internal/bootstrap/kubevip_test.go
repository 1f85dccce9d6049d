// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func environment(k KubeVIP) map[string]string {
	env := map[string]string{}
	for _, e := range k.env() {
		env[e.Name] = e.Value
	}
	return env
}

func TestKubeVIPHasTheEndpoint(t *testing.T) {
	s := ha(v1alpha1.ProviderHarvester, "10.40.0.100")
	s.Network.VIPInterface = "eth1"
	plan, err := NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"vip_arp": "true", "port": "6443", "address": "10.40.0.100", "vip_interface": "eth1",
		"cp_enable": "true", "cp_namespace": "kube-system", "vip_nodename": "",
		"vip_leaderelection": "true", "vip_leasename": "plndr-cp-lock",
		"vip_leaseduration": "5", "vip_renewdeadline": "3", "vip_retryperiod": "1",
		"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "7445",
	}
	if diff := cmp.Diff(want, environment(plan.KubeVIP)); diff != "" {
		t.Error(diff)
	}
	for _, address := range []string{"fd00::1", "api.example.com"} {
		env := environment(KubeVIP{Address: address})
		if _, named := env["vip_interface"]; named || env["address"] != address {
			t.Errorf("%s: %v", address, env)
		}
	}
}

func TestVersionOfKubeVIPIsThatOfTheSpec(t *testing.T) {
	s := ha(v1alpha1.ProviderHarvester, "10.40.0.100")
	for version, want := range map[string]string{"": "ghcr.io/kube-vip/kube-vip:v0.8.7", "v0.9.1": "ghcr.io/kube-vip/kube-vip:v0.9.1"} {
		s.Addons.ControlPlaneHA.Version = version
		plan, err := NewPlan(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.KubeVIP.container().Image; got != want {
			t.Errorf("version %q: image %s", version, got)
		}
	}
}

func TestChangedManifestOfKubeVIPHasAnotherMark(t *testing.T) {
	mark := func(k KubeVIP) string {
		m, err := newManifest(k)
		if err != nil {
			t.Fatal(err)
		}
		return m.mark
	}
	base := KubeVIP{Address: "10.40.0.100", Version: "v1"}
	if again := base; mark(again) != mark(base) || mark(base) == "" {
		t.Error("the same manifest has another mark")
	}
	for _, other := range []KubeVIP{{Address: "10.40.0.101", Version: "v1"}, {Address: "10.40.0.100", Version: "v2"}, {Address: "10.40.0.100", Version: "v1", Interface: "eth0"}} {
		if mark(other) == mark(base) {
			t.Errorf("%+v has the mark of %+v", other, base)
		}
	}
}

func TestKubeVIPThatCrashesDoesNotRun(t *testing.T) {
	pod := func(phase corev1.PodPhase, waits string) corev1.Pod {
		p := corev1.Pod{Spec: corev1.PodSpec{NodeName: "cp-0"}, Status: corev1.PodStatus{Phase: phase}}
		if waits != "" {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: waits}}}}
		}
		return p
	}
	for want, pods := range map[string][]corev1.Pod{
		"kube-vip on cp-0: CrashLoopBackOff":               {pod(corev1.PodRunning, "CrashLoopBackOff")},
		"kube-vip on cp-0: ImagePullBackOff":               {pod(corev1.PodPending, ""), pod(corev1.PodPending, "ImagePullBackOff")},
		"kube-vip runs, but does not hold the address yet": {pod(corev1.PodPending, ""), pod(corev1.PodRunning, "")},
		"the kube-vip pod is Pending":                      {pod(corev1.PodPending, "")},
	} {
		if got := podObstacle(pods); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
