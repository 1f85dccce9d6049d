// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestPodsOfANodeShareNoAddress(t *testing.T) {
	var a addresses
	if _, ok := a.find("ns/early"); ok {
		t.Error("an address without a range")
	}
	pods := netip.MustParsePrefix("10.244.3.0/29")
	a.set(pods)
	a.keep("ns/old", &corev1.Pod{Status: corev1.PodStatus{PodIP: "10.244.3.2"}})
	a.keep("ns/host", &corev1.Pod{Spec: corev1.PodSpec{HostNetwork: true}, Status: corev1.PodStatus{PodIP: "10.244.3.3"}})
	a.keep("ns/job", &corev1.Pod{Status: corev1.PodStatus{PodIP: "10.244.3.4", Phase: corev1.PodSucceeded}})
	seen := map[netip.Addr]bool{netip.MustParseAddr("10.244.3.2"): true}
	for i := range 5 {
		key := fmt.Sprintf("ns/%d", i)
		address, ok := a.find(key)
		if !ok || seen[address] || !pods.Contains(address) {
			t.Fatalf("%s has %v", key, address)
		}
		if again, _ := a.find(key); again != address {
			t.Errorf("%s has %v and %v", key, address, again)
		}
		if holder, ok := a.holder(address); !ok || holder != key {
			t.Errorf("%v is held by %s", address, holder)
		}
		seen[address] = true
	}
	if address, ok := a.find("ns/more"); ok {
		t.Errorf("a seventh pod has %v", address)
	}
	a.release("ns/old")
	if address, ok := a.find("ns/more"); !ok || address.String() != "10.244.3.2" {
		t.Errorf("the free address is %v", address)
	}
}

func TestNodesShareNoRange(t *testing.T) {
	pods := netip.MustParsePrefix("10.244.254.0/23")
	taken := map[netip.Prefix]bool{}
	for _, want := range []string{"10.244.254.0/24", "10.244.255.0/24"} {
		got, ok := freeRange(pods, taken)
		if !ok || got.String() != want {
			t.Errorf("range %v, want %s", got, want)
		}
		taken[got] = true
	}
	if got, ok := freeRange(pods, taken); ok {
		t.Errorf("a third node has %v", got)
	}
	if got, ok := freeRange(netip.MustParsePrefix("10.244.0.0/25"), nil); ok {
		t.Errorf("a range of %v in half of it", got)
	}
}
