// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestAMachineHasAnAddressOfItsOwn(t *testing.T) {
	const own, other, vip, pod, service = "10.40.0.12", "10.40.0.13", "10.40.0.100", "10.244.1.27", "10.96.0.1"
	for reason, tc := range map[string]struct {
		kind      EndpointKind
		endpoint  string
		known     string
		addresses []string // the first one is the primary one
		want      string
	}{
		"one address":                            {addresses: []string{own}, want: own},
		"the VIP comes first":                    {addresses: []string{vip, own}, want: own},
		"the pod network comes first":            {addresses: []string{pod, service, own}, want: own},
		"the VIP in another spelling":            {addresses: []string{"fd00:0::1", "fd00::12"}, want: "fd00::12"},
		"only the pod network so far":            {addresses: []string{pod}, want: ""},
		"only the loopback and a link's address": {addresses: []string{"127.0.0.1", "fe80::1", "169.254.1.1"}, want: ""},
		"nothing so far":                         {want: ""},
		"the known one is still reported":        {known: own, addresses: []string{other, own}, want: own},
		"the known one is gone":                  {known: own, addresses: []string{other}, want: other},
		"nothing is reported any more":           {known: own, want: own},
		"only the VIP is reported any more":      {known: own, addresses: []string{vip}, want: own},
		"the VIP was taken for it before":        {known: vip, addresses: []string{vip, own}, want: own},
		"nothing but the VIP was ever known":     {known: vip, want: ""},
		"a load balancer's on its loopback":      {kind: EndpointLoadBalancer, endpoint: other, addresses: []string{other, own}, want: own},
		"the only node is the endpoint":          {kind: EndpointNode, endpoint: own, known: own, addresses: []string{own}, want: own},
	} {
		s := &Session{ClusterBootstrap: &v1alpha1.ClusterBootstrap{}, Plan: Plan{EndpointKind: tc.kind}}
		s.Spec.Network = v1alpha1.NetworkSpec{VIP: vip, PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12"}
		if strings.Contains(tc.want, ":") {
			s.Spec.Network.VIP = "fd00::1"
		}
		s.Status.ControlPlaneEndpoint = tc.endpoint
		r := &v1alpha1.MachineRequest{Status: v1alpha1.MachineRequestStatus{IPAddresses: tc.addresses}}
		if len(tc.addresses) > 0 {
			r.Status.IPAddress = tc.addresses[0]
		}
		if got := s.addressOf(r, tc.known); got != tc.want {
			t.Errorf("%s: %q, want %q", reason, got, tc.want)
		}
	}
}

func TestAMachineWithoutAnAddressOfItsOwnIsWaitedFor(t *testing.T) {
	s := &Session{ClusterBootstrap: &v1alpha1.ClusterBootstrap{}}
	s.Spec.Network.PodCIDR = "10.244.0.0/16"
	r := &v1alpha1.MachineRequest{Status: v1alpha1.MachineRequestStatus{Phase: v1alpha1.MachineRunning, IPAddress: "10.244.1.27"}}
	r.Name = "dev-cp-0"
	status, o := s.follow(Machine{Name: "dev-cp-0", Role: v1alpha1.RoleControlPlane}, r)
	if status.IPAddress != "" || o == nil || !strings.Contains(o.Message, "only 10.244.1.27") {
		t.Errorf("%+v, %+v", status, o)
	}
}
