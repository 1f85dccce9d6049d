// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	corev1 "k8s.io/api/core/v1"
)

// configuredWith is a node with an incomplete configuration.
func configuredWith(t *testing.T, yaml string) *node {
	t.Helper()
	cfg, err := configloader.NewFromBytes([]byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return &node{config: cfg}
}

func TestAddressesOfTheLoopbackInterface(t *testing.T) {
	const old = "version: v1alpha1\nmachine:\n  network:\n    interfaces:\n" +
		"    - {interface: lo, addresses: [203.0.113.10/32, 203.0.113.11]}\n    - {interface: eth0, addresses: [10.0.0.2/24]}\n"
	const link = "---\napiVersion: v1alpha1\nkind: LinkConfig\nname: %s\naddresses:\n- address: 203.0.113.12/32\n"
	for form, tc := range map[string]struct {
		yaml string
		want []string
	}{
		"old":             {old, []string{"203.0.113.10", "203.0.113.11"}},
		"new":             {"version: v1alpha1\nmachine: {}\n" + fmt.Sprintf(link, "lo"), []string{"203.0.113.12"}},
		"other interface": {"version: v1alpha1\nmachine: {}\n" + fmt.Sprintf(link, "eth0"), nil},
	} {
		var want []netip.Addr
		for _, a := range tc.want {
			want = append(want, netip.MustParseAddr(a))
		}
		if got := loopbackAddresses(configuredWith(t, tc.yaml).config); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", form, got, want)
		}
	}
}

func vipPod(image string, env ...string) *corev1.Pod {
	c := corev1.Container{Image: image}
	for i := 0; i < len(env); i += 2 {
		c.Env = append(c.Env, corev1.EnvVar{Name: env[i], Value: env[i+1]})
	}
	return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "other"}, c}}}
}

func TestKubeVIPIsKnownByItsImageAndTask(t *testing.T) {
	task := []string{"cp_enable", "true", "vip_arp", "true", "address", "10.0.0.100"}
	for reason, tc := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"with a tag":           {vipPod("ghcr.io/kube-vip/kube-vip:v0.8.7", task...), true},
		"from a mirror":        {vipPod("registry.example.com:5000/mirror/kube-vip@sha256:00", task...), true},
		"for services only":    {vipPod("ghcr.io/kube-vip/kube-vip:v0.8.7", "vip_arp", "true"), false},
		"by BGP":               {vipPod("ghcr.io/kube-vip/kube-vip:v0.8.7", "cp_enable", "true"), false},
		"its cloud controller": {vipPod("ghcr.io/kube-vip/kube-vip-cloud-provider:v0.0.4", task...), false},
	} {
		if vip, ok := kubeVIPOf(tc.pod); ok != tc.want || ok && (vip.address != "10.0.0.100" || vip.port != 6443) {
			t.Errorf("%s: %+v, %v", reason, vip, ok)
		}
	}
}

func TestKubeVIPFindsAnAPIServerOnItsNode(t *testing.T) {
	const prism = "version: v1alpha1\nmachine:\n  features:\n    kubePrism: {enabled: true, port: 7445}\ncluster:\n  proxy: {disabled: %v}\n"
	for reason, tc := range map[string]struct {
		config     string
		host, port string
		want       bool
	}{
		"KubePrism":                {fmt.Sprintf(prism, true), "127.0.0.1", "7445", true},
		"KubePrism, other port":    {fmt.Sprintf(prism, true), "127.0.0.1", "7446", false},
		"without KubePrism":        {"version: v1alpha1\nmachine: {}\ncluster: {}\n", "localhost", "7445", false},
		"own API server":           {fmt.Sprintf(prism, true), "localhost", "6443", true},
		"service with kube-proxy":  {fmt.Sprintf(prism, false), "", "", true},
		"service with a CNI to be": {fmt.Sprintf(prism, true), "", "", false},
	} {
		vip := kubeVIP{apiHost: tc.host, apiPort: tc.port}
		if got := configuredWith(t, tc.config).reaches(vip); got != tc.want || vip.looksElsewhere() {
			t.Errorf("%s: %v, want %v", reason, got, tc.want)
		}
	}
	if !(kubeVIP{apiHost: "10.0.0.2", apiPort: "6443"}).looksElsewhere() {
		t.Error("another machine is not elsewhere")
	}
}
