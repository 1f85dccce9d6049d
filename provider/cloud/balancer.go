// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"slices"

	"github.com/butlerdotdev/butler/provider"
)

// Port is a port of a load balancer and the port that its health checks connect to.
type Port struct{ Port, Check int32 }

// Ports returns the ports of a load balancer, each once.
func Ports(s provider.LoadBalancerSpec) []Port {
	all := []Port{{s.Port, s.HealthCheckPort}}
	for _, p := range s.AdditionalPorts {
		if !slices.ContainsFunc(all, func(q Port) bool { return q.Port == p }) {
			all = append(all, Port{p, p})
		}
	}
	return all
}

// Clients returns the ranges of clients that a load balancer accepts: without any in the
// spec, everyone.
func Clients(s provider.LoadBalancerSpec) []string {
	if len(s.AllowedCIDRs) == 0 {
		return []string{"0.0.0.0/0"}
	}
	return s.AllowedCIDRs
}

// Difference returns what is wanted and not there, and what is there and not wanted, in
// the order given.
func Difference(want, have []string) (add, drop []string) {
	for _, w := range want {
		if !slices.Contains(have, w) && !slices.Contains(add, w) {
			add = append(add, w)
		}
	}
	for _, h := range have {
		if !slices.Contains(want, h) {
			drop = append(drop, h)
		}
	}
	return add, drop
}
