// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// TestTargetsTakeWhatTheLoadBalancerPassesOn guards the rule that a control plane has the
// load balancer's address before it is a target, and has joined before it has the address.
func TestTargetsTakeWhatTheLoadBalancerPassesOn(t *testing.T) {
	const address = "203.0.113.9"
	target := func(ip, id string) v1alpha1.LoadBalancerTarget {
		return v1alpha1.LoadBalancerTarget{IP: ip, InstanceID: id, InstanceName: "dev-cp-1"}
	}
	for reason, tc := range map[string]struct {
		balancer string
		phase    v1alpha1.ClusterBootstrapPhase
		machine  string
		has      bool // the address, by its status
		have     []v1alpha1.LoadBalancerTarget
		starts   bool // with the address
		takes    bool
	}{
		"the first of a new cluster":                       {balancer: address, machine: "dev-cp-0", starts: true, takes: true},
		"the first that replaces another":                  {balancer: address, phase: v1alpha1.BootstrapReady, machine: "dev-cp-0"},
		"one that is to join":                              {balancer: address, machine: "dev-cp-1"},
		"one whose targets were removed":                   {balancer: address, phase: v1alpha1.BootstrapReady, machine: "dev-cp-1", has: true, takes: true},
		"one that has joined":                              {balancer: address, machine: "dev-cp-1", has: true, takes: true},
		"one that is a target":                             {balancer: address, machine: "dev-cp-1", have: []v1alpha1.LoadBalancerTarget{target("10.0.0.5", "i-1")}, takes: true},
		"one in place of a target":                         {balancer: address, machine: "dev-cp-1", have: []v1alpha1.LoadBalancerTarget{target("10.0.0.5", "i-0")}},
		"one with another address than a target":           {balancer: address, machine: "dev-cp-1", have: []v1alpha1.LoadBalancerTarget{target("10.0.0.4", "i-1")}},
		"the first behind a load balancer with a name":     {balancer: "lb.example.com", machine: "dev-cp-0", takes: true},
		"one to join behind a load balancer with a name":   {balancer: "lb.example.com", machine: "dev-cp-1", takes: true},
		"one that replaces another behind one with a name": {balancer: "lb.example.com", phase: v1alpha1.BootstrapReady, machine: "dev-cp-1", takes: true},
	} {
		s := &Session{ClusterBootstrap: &v1alpha1.ClusterBootstrap{}, Plan: Plan{Machines: []Machine{{Name: "dev-cp-0"}, {Name: "dev-cp-1"}}}}
		s.Status.Phase = tc.phase
		s.endpoint = endpointResults{request: &v1alpha1.LoadBalancerRequest{}, loadBalancer: tc.balancer}
		s.endpoint.request.Spec.Targets = tc.have
		if got := s.startsWithLoopback(Machine{Name: tc.machine}); got != tc.starts {
			t.Errorf("%s has the address from its start: %v", reason, got)
		}
		if got := s.takesPackets(v1alpha1.BootstrapMachineStatus{Name: tc.machine, LoopbackConfigured: tc.has}, target("10.0.0.5", "i-1")); got != tc.takes {
			t.Errorf("%s takes packets: %v", reason, got)
		}
	}
}
