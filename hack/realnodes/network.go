// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const forwarding = "/proc/sys/net/ipv4/ip_forward"

// podNetwork routes the pods of all nodes through this machine, which is the gateway of the
// nodes: to the range of each node through its address.
type podNetwork struct {
	before []byte // the setting of forwarding
	routes map[netip.Prefix]netip.Addr
}

func openPodNetwork() (*podNetwork, error) {
	before, err := os.ReadFile(forwarding)
	if err != nil {
		return nil, err
	}
	return &podNetwork{before, map[netip.Prefix]netip.Addr{}}, os.WriteFile(forwarding, []byte("1\n"), 0o644)
}

// Follow adds, changes and removes routes so that they are those of the nodes.
func (n *podNetwork) Follow(ctx context.Context, nodes []corev1.Node) error {
	want := routesOf(nodes)
	for to := range n.routes {
		if _, stays := want[to]; !stays {
			if err := n.remove(ctx, to); err != nil {
				return err
			}
		}
	}
	for to, via := range want {
		if n.routes[to] == via {
			continue
		}
		if err := route(ctx, "replace", to.String(), "via", via.String()); err != nil {
			return err
		}
		n.routes[to] = via
	}
	return nil
}

func (n *podNetwork) remove(ctx context.Context, to netip.Prefix) error {
	delete(n.routes, to)
	return route(ctx, "del", to.String())
}

// Close removes the routes, and sets forwarding to what it was.
func (n *podNetwork) Close() error {
	var problems []error
	for to := range n.routes {
		problems = append(problems, n.remove(context.Background(), to))
	}
	return errors.Join(append(problems, os.WriteFile(forwarding, bytes.TrimSpace(n.before), 0o644))...)
}

// routesOf returns the address of each node by its range of pods.
func routesOf(nodes []corev1.Node) map[netip.Prefix]netip.Addr {
	out := map[netip.Prefix]netip.Addr{}
	for _, node := range nodes {
		to, err := netip.ParsePrefix(node.Spec.PodCIDR)
		via, problem := netip.ParseAddr(internalIP(node))
		if err == nil && problem == nil {
			out[to] = via
		}
	}
	return out
}

func internalIP(node corev1.Node) string {
	for _, a := range node.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return a.Address
		}
	}
	return ""
}

func route(ctx context.Context, arguments ...string) error {
	out, err := exec.CommandContext(ctx, "ip", append([]string{"-4", "route"}, arguments...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip route %s: %w: %s", strings.Join(arguments, " "), err, bytes.TrimSpace(out))
	}
	return nil
}
