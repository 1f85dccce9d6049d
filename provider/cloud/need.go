// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import "fmt"

// Need is a range of ports that the machines of a cluster have to be reached on.
type Need struct {
	Protocol string
	From, To int32
	// Balancer: clients and health checks connect through the load balancer, else the
	// machines themselves do.
	Balancer bool
	// Addon is the only one that needs it; empty means every cluster.
	Addon string
	Use   string
}

// Needs returns the ports of Talos, Kubernetes and the default network addon.
func Needs() []Need {
	return []Need{
		{"tcp", 6443, 6443, true, "", "the Kubernetes API"},
		{"tcp", 50000, 50000, true, "", "the Talos API"},
		{"tcp", 6443, 6443, false, "", "the Kubernetes API"},
		{"tcp", 50000, 50001, false, "", "the Talos API and its trust service"},
		{"tcp", 2379, 2380, false, "", "etcd"},
		{"tcp", 10250, 10250, false, "", "the kubelet"},
		{"udp", 8472, 8472, false, "Cilium", "the pod network"},
		{"tcp", 4240, 4240, false, "Cilium", "health checks of the pod network"},
	}
}

// from says what is needed from a source.
func (n Need) from(source string) string {
	ports := fmt.Sprint(n.From)
	if n.To != n.From {
		ports = fmt.Sprintf("%d-%d", n.From, n.To)
	}
	return fmt.Sprintf("%s %s from %s, for %s", n.Protocol, ports, source, n.Use)
}
