// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"maps"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestElasticLoadBalancersHaveNamesThatResolve(t *testing.T) {
	resolved := map[string]netip.Addr{}
	e := &elasticNames{known: map[string]func(){}, cloud: Cloud{Region: "eu-central-1", Name: func(name string, addrs func() []netip.Addr) func() {
		resolved[name] = addrs()[0]
		return func() { delete(resolved, name) }
	}}}
	service := func(kind string, address netip.Addr) *corev1.Service {
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{UID: "0210ecb0-f77b-432b-ad64-4f7c05212462", Annotations: map[string]string{balancerType: kind}}}
		s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{e.ingress(s, address)}
		return s
	}
	network, classic := netip.MustParseAddr("198.51.100.1"), netip.MustParseAddr("198.51.100.2")
	both := []*corev1.Service{service("nlb", network), service("", classic)}
	e.follow(both)
	want := map[string]netip.Addr{
		"a0210ecb0f77b432bad644f7c0521246-d8208feec6336401.elb.eu-central-1.amazonaws.com": network,
		"a0210ecb0f77b432bad644f7c0521246-d8208feec6336402.eu-central-1.elb.amazonaws.com": classic,
	}
	if diff := cmp.Diff(want, resolved, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	if taken, _ := sorted(both); !taken[network] || !taken[classic] {
		t.Errorf("taken are %v", taken)
	}
	e.follow(both[1:])
	if names := slices.Collect(maps.Values(resolved)); !slices.Equal(names, []netip.Addr{classic}) {
		t.Errorf("after the first is deleted: %v", names)
	}
}
