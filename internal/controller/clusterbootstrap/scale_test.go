// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// scale changes the number of workers.
func (s *site) scale(workers int32) {
	s.Helper()
	s.change("dev", func(spec *v1alpha1.ClusterBootstrapSpec) { spec.Cluster.Workers.Replicas = workers })
}

// scaled reports whether a cluster is Ready with its present spec.
func scaled(cb *v1alpha1.ClusterBootstrap) bool {
	return isReady(cb) && cb.Status.ObservedGeneration == cb.Generation
}

// consistsOf checks the machines of the status, the requests, the platform and the nodes.
func (s *site) consistsOf(names ...string) {
	s.Helper()
	var listed, on []string
	for _, m := range s.get("dev").Status.Machines {
		listed = append(listed, m.Name)
		if !m.Ready || !m.TalosConfigured {
			s.Errorf("%+v", m)
		}
	}
	for _, m := range s.platform.Machines() {
		on = append(on, m.Ref.Name)
	}
	slices.Sort(on)
	nodes := slices.Sorted(maps.Keys(s.cordons()))
	for _, got := range [][]string{listed, slices.Sorted(maps.Keys(s.identities())), on, nodes} {
		if diff := cmp.Diff(names, got); diff != "" {
			s.Error(diff)
		}
	}
}

// cordons are the nodes, and whether they take pods no more.
func (s *site) cordons() map[string]bool {
	s.Helper()
	list, err := s.kubernetes("dev").CoreV1().Nodes().List(s.Context(), metav1.ListOptions{})
	s.must(err)
	out := map[string]bool{}
	for _, n := range list.Items {
		out[n.Name] = n.Spec.Unschedulable
	}
	return out
}

// guard puts a pod on a node, and a budget that does not let it go.
func (s *site) guard(node string) {
	s.Helper()
	api, label := s.kubernetes("dev"), map[string]string{"app": "held"}
	s.eventually("a pod", func() bool {
		_, err := api.CoreV1().Pods("default").Create(s.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "held", Labels: label},
			Spec: corev1.PodSpec{
				NodeName: node, AutomountServiceAccountToken: new(false), TerminationGracePeriodSeconds: new(int64(1)),
				Containers: []corev1.Container{{Name: "c", Image: "example.com/held"}},
			},
		}, metav1.CreateOptions{})
		return err == nil
	})
	_, err := api.PolicyV1().PodDisruptionBudgets("default").Create(s.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "guard"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: label}},
	}, metav1.CreateOptions{})
	s.must(err)
	s.eventually("the budget", func() bool {
		b, err := api.PolicyV1().PodDisruptionBudgets("default").Get(s.Context(), "guard", metav1.GetOptions{})
		return err == nil && b.Status.ObservedGeneration == b.Generation && b.Status.CurrentHealthy == 1
	})
}

// comeBack puts a pod on a node that is cordoned, as a scheduler does with one that tolerates it.
func (s *site) comeBack(node string) {
	s.Helper()
	api := s.kubernetes("dev")
	n, err := api.CoreV1().Nodes().Get(s.Context(), node, metav1.GetOptions{})
	s.must(err)
	_, since, _ := strings.Cut(n.Annotations["butler.butlerlabs.dev/removing"], " ")
	cordoned, err := time.Parse(time.RFC3339, since)
	s.must(err)
	s.eventually("a later second", func() bool { return time.Since(cordoned) > 2*time.Second })
	_, err = api.CoreV1().Pods("default").Create(s.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "back"},
		Spec: corev1.PodSpec{
			NodeName: node, AutomountServiceAccountToken: new(false), Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{Name: "c", Image: "example.com/back"}},
		},
	}, metav1.CreateOptions{})
	s.must(err)
}

// TestWorkersFollowTheirNumber scales a cluster whose addresses come from a pool up and down.
// Every write is followed by a death.
func TestWorkersFollowTheirNumber(t *testing.T) {
	s := newSite(t, v1alpha1.ProviderHarvester, false)
	s.allocateFrom("10.0.0.20", "10.0.0.40")
	cb := haBootstrap(v1alpha1.ProviderHarvester, 2)
	cb.Spec.Cluster.ControlPlane.Replicas, cb.Spec.Network.VIP = 1, ""
	s.create(cb)
	s.walkUntil("Ready", isReady)
	writes := func() *crashing {
		m := &crashing{forgetful: &forgetful{Client: s.Client}, seen: map[string]bool{}}
		s.Reconciler.Client = m
		return m
	}
	before := s.identities()

	m := writes()
	s.scale(3)
	s.walkUntil("a third worker", scaled)
	s.consistsOf("dev-cp-0", "dev-w-0", "dev-w-1", "dev-w-2")
	if diff := cmp.Diff([]string{"dev-w-2", "dev-w-2"}, m.created); diff != "" || len(m.deleted) != 0 {
		t.Errorf("%s, deleted %v", diff, m.deleted)
	}
	r, err := s.request("dev-w-2")
	s.must(err)
	if r.Spec.Network == nil || r.Spec.Network.Address != r.Status.IPAddress+"/24" || len(s.claims()) != 5 {
		t.Errorf("it was requested with %+v and has %s; %v", r.Spec.Network, r.Status.IPAddress, s.claims())
	}

	s.guard("dev-w-2")
	three := s.identities()
	s.scale(1)
	s.walkUntil("the budget", says("machine dev-w-2 is being removed: pod default/held cannot be evicted: The disruption budget guard needs 1 healthy pods and has 1 currently"))
	if diff := cmp.Diff(three, s.identities()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]bool{"dev-cp-0": false, "dev-w-0": false, "dev-w-1": false, "dev-w-2": true}, s.cordons()); diff != "" {
		t.Error(diff)
	}
	s.scale(3)
	s.walkUntil("another mind", scaled)
	s.consistsOf("dev-cp-0", "dev-w-0", "dev-w-1", "dev-w-2")
	if s.cordons()["dev-w-2"] {
		t.Error("it is still cordoned")
	}

	m = writes()
	s.scale(1)
	s.walkUntil("the budget", says("pod default/held cannot be evicted"))
	s.comeBack("dev-w-2")
	s.must(s.kubernetes("dev").PolicyV1().PodDisruptionBudgets("default").Delete(t.Context(), "guard", metav1.DeleteOptions{}))
	recorded := s.walkUntil("one worker", scaled)
	s.Reconciler.Client = s.Client
	s.consistsOf("dev-cp-0", "dev-w-0")
	if _, err := s.kubernetes("dev").CoreV1().Pods("default").Get(t.Context(), "back", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a pod of a node that is gone: %v", err)
	}
	if diff := cmp.Diff([]string{"dev-w-1", "dev-w-1", "dev-w-2", "dev-w-2"}, slices.Sorted(slices.Values(m.deleted))); diff != "" || len(m.created) != 0 || m.deleted[0] != "dev-w-2" {
		t.Errorf("created %v, deleted %v", m.created, m.deleted)
	}
	if !slices.Contains(recorded, "Normal MachineRemoved") {
		t.Errorf("recorded %v", recorded)
	}
	s.eventually("its addresses are released", func() bool { return len(s.claims()) == 3 })
	if now := s.get("dev"); len(now.Status.Allocations) != 3 {
		t.Errorf("%+v", now.Status.Allocations)
	}

	t.Run("a machine that is wanted again while it goes", func(t *testing.T) {
		s.scale(2)
		s.walkUntil("a second worker", scaled)
		two := s.identities()
		s.hold("dev-w-1", "example.com/hold")
		s.scale(1)
		s.walkUntil("the deletion", says("machine dev-w-1 is being removed: its MachineRequest is being deleted"))
		s.scale(2)
		s.walkUntil("the end of the first", says("machine dev-w-1 is not requested yet: the MachineRequest of that name is being deleted"))
		s.hold("dev-w-1", "")
		s.walkUntil("another second worker", scaled)
		s.consistsOf("dev-cp-0", "dev-w-0", "dev-w-1")
		s.isNew("dev-w-1", two)
	})
	t.Run("a worker that is lost goes without its pods' consent", func(t *testing.T) {
		s.guard("dev-w-1")
		s.lose("dev-w-1")
		s.scale(1)
		s.walkUntil("the node's word", says("the platform does not have it, and its node is Ready"))
		s.forsake("dev-w-1")
		s.walkUntil("one worker", scaled)
		s.consistsOf("dev-cp-0", "dev-w-0")
	})
	if after := s.identities(); after["dev-w-0"] != before["dev-w-0"] || after["dev-cp-0"] != before["dev-cp-0"] {
		t.Errorf("%v, %v", before, after)
	}
}
