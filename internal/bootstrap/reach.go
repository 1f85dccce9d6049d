// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"fmt"
	"net/netip"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

// Reach is how the nodes of a cluster are reached: their Talos API, and the Kubernetes
// API of single control planes.
type Reach string

// The ways to reach nodes.
const (
	ReachDirect       Reach = "direct"        // at their own addresses
	ReachPublic       Reach = "public"        // at their public addresses
	ReachLoadBalancer Reach = "load-balancer" // through that of the control planes, which pass Talos calls on
)

// reachPatience is how long a machine may run without an answer before the ways to
// reach it are named.
const reachPatience = 45 * time.Second

// reachOf is what follows from the ClusterBootstrap alone. A cluster that manages itself
// is in the network of its nodes.
func reachOf(cb *v1alpha1.ClusterBootstrap) Reach {
	if cb.Spec.Provider.OnPrem() || SelfHosted(cb) || cb.Spec.Network.NodeAccess == v1alpha1.NodeAccessDirect {
		return ReachDirect
	}
	return ReachLoadBalancer
}

// reach is how nodes are reached in this walk. Public addresses are known from the
// moment that the ProviderConfig is.
func (s *Session) reach() Reach {
	reach := reachOf(s.ClusterBootstrap)
	if reach == ReachLoadBalancer && s.provider != nil && s.provider.Spec.PublicIP() {
		return ReachPublic
	}
	return reach
}

// route is how the node of an address is reached. One without a public address is
// reached as if none had one.
func (s *Session) route(address string) talos.Route {
	reach := s.reach()
	if reach == ReachDirect {
		return talos.Direct(address)
	}
	if public := s.publicAddress(address); reach == ReachPublic && public != "" {
		return talos.Direct(public)
	}
	return talos.Route{Host: cmp.Or(s.endpoint.loadBalancer, s.Status.ControlPlaneEndpoint), Forwarded: true}
}

// publicAddress returns that of the machine with a private address, IPv4 if it has
// both; empty if it has none.
func (s *Session) publicAddress(private string) (found string) {
	for i, m := range s.Status.Machines {
		if m.IPAddress != private || i >= len(s.machines.requests) || s.machines.requests[i] == nil {
			continue
		}
		for _, address := range reported(s.machines.requests[i]) {
			a, err := netip.ParseAddr(address)
			if err != nil || address == private || a.IsPrivate() || !s.isOwnAddress(address) {
				continue
			}
			if a.Is4() {
				return address
			}
			found = cmp.Or(found, address)
		}
	}
	return found
}

// unreachable says what to check about a machine that has been silent for a while, and
// in which other ways it could be reached.
func (s *Session) unreachable(i int) string {
	m, reach := s.Status.Machines[i], s.reach()
	if s.Spec.Provider.OnPrem() || s.runningFor(i) < reachPatience {
		return ""
	}
	route := s.route(m.IPAddress)
	switch {
	case reach == ReachDirect && !s.selfHosted():
		return fmt.Sprintf("; check that there is a route to it from here, and that TCP %d and %d are allowed, or leave out spec.network.nodeAccess", talos.APIPort, APIServerPort)
	case reach == ReachDirect:
		return fmt.Sprintf("; check that TCP %d is allowed from the control planes to it", talos.APIPort)
	case !route.Forwarded:
		return fmt.Sprintf(" at its public address %s; allow TCP %d and %d from here in its firewall or security groups", route.Host, talos.APIPort, APIServerPort)
	}
	hint := fmt.Sprintf(" through the load balancer %s; check that TCP %d is allowed from here to the load balancer, from there to the control planes and from those to the machine, and that the machine has read its user data", route.Host, talos.APIPort)
	if lb := s.Spec.Network.LoadBalancer; lb != nil && len(lb.AllowedCIDRs) > 0 {
		hint += "; spec.network.loadBalancer.allowedCIDRs has to contain the address of this machine"
	}
	if reach == ReachPublic {
		return hint + "; it has no public address, although the ProviderConfig sets publicIP"
	}
	return hint + "; other ways are publicIP: true in the ProviderConfig, or spec.network.nodeAccess: Direct where there is a route to its network"
}

// runningFor is how long the platform has reported that a machine runs.
func (s *Session) runningFor(i int) time.Duration {
	if i >= len(s.machines.requests) || s.machines.requests[i] == nil {
		return 0
	}
	c := meta.FindStatusCondition(s.machines.requests[i].Status.Conditions, v1alpha1.ConditionReady)
	if c == nil || c.Status != metav1.ConditionTrue {
		return 0
	}
	return s.Clock().Sub(c.LastTransitionTime.Time)
}
