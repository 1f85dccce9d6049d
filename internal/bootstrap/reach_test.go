// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

// cloudSession is a walk with one machine that has these addresses.
func cloudSession(p v1alpha1.ProviderType, public bool, addresses ...string) *Session {
	cb := &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}}}
	cb.Spec.Provider = p
	cb.Status.Machines = []v1alpha1.BootstrapMachineStatus{{Name: "a", IPAddress: addresses[0]}}
	r := &v1alpha1.MachineRequest{Status: v1alpha1.MachineRequestStatus{IPAddress: addresses[0], IPAddresses: addresses}}
	return &Session{
		ClusterBootstrap: cb, Clock: time.Now, Plan: Plan{Machines: []Machine{{Name: "a"}}},
		provider: &v1alpha1.ProviderConfig{Spec: v1alpha1.ProviderConfigSpec{AWS: &v1alpha1.AWSSpec{PublicIP: public}}},
		machines: machineResults{requests: []*v1alpha1.MachineRequest{r}, nodeProviderIDs: []string{"aws:///z/i-1"}},
		endpoint: endpointResults{loadBalancer: "lb.example.com"},
	}
}

func TestRouteToANode(t *testing.T) {
	const private = "10.0.0.5"
	through := talos.Route{Host: "lb.example.com", Forwarded: true}
	for reason, tc := range map[string]struct {
		session *Session
		want    talos.Route
	}{
		"on-prem":                          {cloudSession(v1alpha1.ProviderHarvester, false, private), talos.Direct(private)},
		"cloud":                            {cloudSession(v1alpha1.ProviderAWS, false, private, "198.51.100.7"), through},
		"public address":                   {cloudSession(v1alpha1.ProviderAWS, true, private, "fd00::5", "2001:db8::5", "198.51.100.7"), talos.Direct("198.51.100.7")},
		"public address of IPv6 only":      {cloudSession(v1alpha1.ProviderAWS, true, private, "2001:db8::5"), talos.Direct("2001:db8::5")},
		"routed network":                   {routed(cloudSession(v1alpha1.ProviderAWS, true, private, "198.51.100.7")), talos.Direct(private)},
		"asked for a public one in vain":   {cloudSession(v1alpha1.ProviderAWS, true, private), through},
		"cluster that manages itself":      {onItself(cloudSession(v1alpha1.ProviderAWS, true, private, "198.51.100.7")), talos.Direct(private)},
		"before the load balancer is read": {nameless(cloudSession(v1alpha1.ProviderAWS, false, private)), talos.Route{Host: "api.example.com", Forwarded: true}},
	} {
		if got := tc.session.route(private); got != tc.want {
			t.Errorf("%s: %+v, want %+v", reason, got, tc.want)
		}
	}
}

func routed(s *Session) *Session {
	s.Spec.Network.NodeAccess = v1alpha1.NodeAccessDirect
	return s
}

// TestASilentMachineIsNamedWithTheAllowedClients: this machine may not be among them.
func TestASilentMachineIsNamedWithTheAllowedClients(t *testing.T) {
	s := cloudSession(v1alpha1.ProviderAWS, false, "10.0.0.5")
	s.machines.requests[0].Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Now().Add(-2 * reachPatience)),
	}}
	const field = "spec.network.loadBalancer.allowedCIDRs"
	if said := s.unreachable(0); strings.Contains(said, field) || !strings.Contains(said, "lb.example.com") {
		t.Errorf("without ranges: %q", said)
	}
	s.Spec.Network.LoadBalancer = &v1alpha1.ControlPlaneLoadBalancerSpec{AllowedCIDRs: []string{"203.0.113.0/24"}}
	if said := s.unreachable(0); !strings.Contains(said, field) {
		t.Errorf("with ranges: %q", said)
	}
}

func TestMachinesThatAreReachedDirectlyHaveNoUserData(t *testing.T) {
	for access, want := range map[v1alpha1.NodeAccess]bool{"": true, v1alpha1.NodeAccessLoadBalancer: true, v1alpha1.NodeAccessDirect: false} {
		s := ha(v1alpha1.ProviderAWS, "")
		s.Network.NodeAccess = access
		plan, err := NewPlan(s)
		if err != nil || plan.UserDataLimit > 0 != want {
			t.Errorf("%q: %d bytes, %v", access, plan.UserDataLimit, err)
		}
	}
}

func onItself(s *Session) *Session {
	s.Annotations[v1alpha1.AnnotationPlane] = v1alpha1.PlaneSelf
	return s
}

// nameless is what a command has that reads credentials: no plan and no results.
func nameless(s *Session) *Session {
	s.Status.ControlPlaneEndpoint = "api.example.com"
	return &Session{ClusterBootstrap: s.ClusterBootstrap}
}

func TestNodesGetTheirProviderIDsOnce(t *testing.T) {
	nodes := []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, {ObjectMeta: metav1.ObjectMeta{Name: "unknown"}}}
	api := fake.NewClientset(&nodes[0], &nodes[1])
	s := cloudSession(v1alpha1.ProviderAWS, false, "10.0.0.5")
	for range 2 {
		if err := s.setProviderIDs(t.Context(), api.CoreV1().Nodes(), nodes); err != nil {
			t.Fatal(err)
		}
	}
	got, err := api.CoreV1().Nodes().Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil || got.Spec.ProviderID != "aws:///z/i-1" || len(api.Actions()) != 2 {
		t.Errorf("%q, %v, %d calls", got.Spec.ProviderID, err, len(api.Actions()))
	}
}

func TestANodeWaitsForTheCloudControllerManager(t *testing.T) {
	ready := []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	for reason, tc := range map[string]struct{ taint, id, want string }{
		"no ID":       {uninitialized, "", "has no provider ID yet"},
		"not seen":    {uninitialized, "aws:///z/i-1", "waits for the cloud controller manager"},
		"initialized": {"example.com/other", "aws:///z/i-1", ""},
	} {
		s := cloudSession(v1alpha1.ProviderAWS, false, "10.0.0.5")
		o := s.judgeNodes([]corev1.Node{{
			ObjectMeta: metav1.ObjectMeta{Name: "a"},
			Spec:       corev1.NodeSpec{ProviderID: tc.id, Taints: []corev1.Taint{{Key: tc.taint}}},
			Status:     corev1.NodeStatus{Conditions: ready},
		}})
		if (o == nil) != (tc.want == "") || o != nil && !strings.Contains(o.Message, tc.want) || s.Status.Machines[0].Ready != (tc.want == "") {
			t.Errorf("%s: %+v", reason, o)
		}
	}
}
