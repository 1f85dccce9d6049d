// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// nodeRangeBits is the size of a node's range, as Kubernetes has it by default.
const nodeRangeBits = 24

// AssignRange gives a node a range of the cluster's pod addresses that no other node
// has, as kube-controller-manager does, or returns the one that it has. Only one call
// may be under way in a cluster.
func AssignRange(ctx context.Context, config *rest.Config, node string, pods netip.Prefix) (netip.Prefix, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return netip.Prefix{}, err
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return netip.Prefix{}, err
	}
	taken := map[netip.Prefix]bool{}
	for _, n := range nodes.Items {
		own, err := netip.ParsePrefix(n.Spec.PodCIDR)
		if err == nil && n.Name == node {
			return own, nil
		}
		taken[own] = err == nil
	}
	free, ok := freeRange(pods, taken)
	if !ok {
		return netip.Prefix{}, fmt.Errorf("the pod network %s has no range of %d bits left for node %s; choose a larger one", pods, nodeRangeBits, node)
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"podCIDR": free.String(), "podCIDRs": []string{free.String()}}})
	if err != nil {
		return netip.Prefix{}, err
	}
	_, err = client.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	return free, err
}

func freeRange(pods netip.Prefix, taken map[netip.Prefix]bool) (netip.Prefix, bool) {
	if !pods.Addr().Is4() || pods.Bits() > nodeRangeBits {
		return netip.Prefix{}, false
	}
	for a := pods.Masked().Addr(); pods.Contains(a); {
		r := netip.PrefixFrom(a, nodeRangeBits)
		if !taken[r] {
			return r, true
		}
		b := a.As4()
		next := uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) + 1
		a = netip.AddrFrom4([4]byte{byte(next >> 16), byte(next >> 8), byte(next), 0})
	}
	return netip.Prefix{}, false
}

// addresses are those of the pods on a node; no two of them share one.
type addresses struct {
	mu    sync.Mutex
	pods  netip.Prefix
	taken map[netip.Addr]string // by whom: the name of a pod
	last  netip.Addr
}

// set makes the range known.
func (a *addresses) set(pods netip.Prefix) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pods = pods
}

func (a *addresses) known() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pods.IsValid()
}

// keep notes the addresses that pods have.
func (a *addresses) keep(key string, pod *corev1.Pod) {
	address, err := netip.ParseAddr(pod.Status.PodIP)
	if err != nil || pod.Spec.HostNetwork || hasEnded(pod) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.take(key, address)
}

func (a *addresses) take(key string, address netip.Addr) {
	if a.taken == nil {
		a.taken = map[netip.Addr]string{}
	}
	a.taken[address] = key
}

// find returns the pod's address, or a free one; those that were used last come last.
func (a *addresses) find(key string) (netip.Addr, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for address, who := range a.taken {
		if who == key {
			return address, true
		}
	}
	if !a.pods.IsValid() {
		return netip.Addr{}, false
	}
	first := a.pods.Masked().Addr().Next() // the network's own address is never assigned
	for range 1 << (32 - a.pods.Bits()) {
		next := a.last.Next()
		if !a.pods.Contains(next) || !a.pods.Contains(next.Next()) { // nor is the last one
			next = first
		}
		a.last = next
		if _, taken := a.taken[next]; !taken {
			a.take(key, next)
			return next, true
		}
	}
	return netip.Addr{}, false
}

// release gives the pod's address free.
func (a *addresses) release(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for address, who := range a.taken {
		if who == key {
			delete(a.taken, address)
		}
	}
}

// holder is the pod that has the address.
func (a *addresses) holder(address netip.Addr) (key string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key, ok = a.taken[address]
	return key, ok
}
