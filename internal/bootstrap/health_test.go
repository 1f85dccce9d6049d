// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/talos"
)

func TestOnlyVotersCountAsMembers(t *testing.T) {
	members := []talos.Member{{Hostname: "cp-0"}, {Hostname: "cp-1", Learner: true}, {Hostname: "", Learner: true}}
	for name, want := range map[string]string{
		"cp-0": "", "cp-1": "cp-1 has joined etcd, but is not a voting member yet", "cp-2": "cp-2 has not joined etcd",
	} {
		if got := notVoting(members, name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestServicesOfExtensionsMayWait(t *testing.T) {
	up := talos.Service{ID: "etcd", State: "Running", Healthy: true}
	for reason, tc := range map[string]struct {
		service talos.Service
		want    string
	}{
		"runs":                 {talos.Service{ID: "kubelet", State: "Running", Healthy: true}, ""},
		"an extension waits":   {talos.Service{ID: "ext-tunnel", State: "Waiting"}, ""},
		"starts":               {talos.Service{ID: "kubelet", State: "Preparing", Message: "pull"}, "has service kubelet Preparing: pull"},
		"nothing known so far": {talos.Service{ID: "trustd", State: "Running", Message: "Started"}, "has service trustd Running: Started"},
	} {
		if got := unwell([]talos.Service{up, tc.service}); got != tc.want {
			t.Errorf("%s: %q", reason, got)
		}
	}
}

func TestNodesAreJudgedByTheirCondition(t *testing.T) {
	node := func(name string, status corev1.ConditionStatus) corev1.Node {
		return corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue},
				{Type: corev1.NodeReady, Status: status, Reason: "KubeletNotReady", Message: "no network"},
			}},
		}
	}
	s := withControlPlanes("a", "b")
	s.Status.Machines[0].Ready = true
	o := s.judgeNodes([]corev1.Node{node("cp-0", corev1.ConditionFalse), node("worker-0", corev1.ConditionTrue), node("other", corev1.ConditionFalse)})
	if o == nil || o.Message != "node cp-0 is not Ready: KubeletNotReady no network (and 1 more)" {
		t.Errorf("%+v", o)
	}
	if m := s.Status.Machines; m[0].Ready || m[1].Ready || !m[2].Ready {
		t.Errorf("%+v", m)
	}
	all := []corev1.Node{node("cp-0", corev1.ConditionTrue), node("cp-1", corev1.ConditionTrue), node("worker-0", corev1.ConditionTrue)}
	if o := s.judgeNodes(all); o != nil {
		t.Errorf("%+v", o)
	}
}

func TestLabelWithoutAValueIsStillALabel(t *testing.T) {
	want := map[string]string{"node-role.kubernetes.io/worker": ""}
	if containsAll(map[string]string{"a": "b"}, want) || !containsAll(map[string]string{"a": "b", "node-role.kubernetes.io/worker": ""}, want) {
		t.Error("a missing label without a value was taken for one that is there")
	}
}

func TestOnlySettledEndpointsStay(t *testing.T) {
	for reason, tc := range map[string]struct {
		plan       Plan
		balancer   string
		before     string
		configured bool
		want       string
	}{
		"the user's":                                 {plan: Plan{Endpoint: "vip"}, balancer: "lb", want: "vip"},
		"the load balancer's":                        {balancer: "lb", want: "lb"},
		"the first control plane's":                  {want: "a"},
		"changed before it is in use":                {plan: Plan{Endpoint: "new"}, before: "old", want: "new"},
		"kept once a machine was configured with it": {plan: Plan{Endpoint: "new"}, before: "old", configured: true, want: "old"},
	} {
		s := withControlPlanes("a", "b")
		s.Plan, s.endpoint.loadBalancer = tc.plan, tc.balancer
		s.Status.ControlPlaneEndpoint, s.Status.Machines[1].TalosConfigured = tc.before, tc.configured
		if _, err := settleEndpoint(t.Context(), s); err != nil || s.Status.ControlPlaneEndpoint != tc.want {
			t.Errorf("%s: %q, %v", reason, s.Status.ControlPlaneEndpoint, err)
		}
	}
}
