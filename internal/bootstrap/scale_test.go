// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func requestNamed(name string, deleting bool) *v1alpha1.MachineRequest {
	r := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if deleting {
		r.DeletionTimestamp = new(metav1.Now())
	}
	return r
}

func TestTheHighestWorkerGoesFirstAfterOneThatIsGoing(t *testing.T) {
	all := []*v1alpha1.MachineRequest{requestNamed("dev-w-2", false), requestNamed("dev-w-10", false), requestNamed("dev-w-1", true), requestNamed("dev-worker-9", false)}
	slices.SortFunc(all, removedFirst)
	var names []string
	for _, r := range all {
		names = append(names, r.Name)
	}
	if diff := cmp.Diff([]string{"dev-w-1", "dev-w-10", "dev-worker-9", "dev-w-2"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestNoWorkerGoesWhileThePlatformOrTheClusterIsInTrouble(t *testing.T) {
	node := func(name string, ready corev1.ConditionStatus) corev1.Node {
		return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}}}
	}
	const yes, no = corev1.ConditionTrue, corev1.ConditionFalse
	in := func(phase v1alpha1.MachinePhase, reason string) *v1alpha1.MachineRequest {
		r := requestNamed("goes", false)
		r.Status.Phase, r.Status.FailureReason = phase, reason
		return r
	}
	runs, unknown, lost := in(v1alpha1.MachineRunning, ""), in(v1alpha1.MachineUnknown, ""), in(v1alpha1.MachineFailed, v1alpha1.ReasonVMLost)
	for reason, c := range map[string]struct {
		goes, other *v1alpha1.MachineRequest
		nodes       []corev1.Node
		want        string
	}{
		"all is well":                         {runs, runs, []corev1.Node{node("a", yes), node("b", yes), node("goes", yes)}, ""},
		"half of those that stay":             {runs, runs, []corev1.Node{node("a", yes), node("b", no), node("goes", yes)}, ""},
		"none of them":                        {runs, runs, []corev1.Node{node("a", no), node("goes", yes)}, "only 0 of the 2 nodes that stay are Ready"},
		"its platform is silent":              {unknown, runs, []corev1.Node{node("a", yes), node("b", yes)}, "the platform cannot be queried about it"},
		"the platform of another is":          {runs, unknown, []corev1.Node{node("a", yes), node("b", yes)}, "the platform cannot be queried about b"},
		"it is lost":                          {lost, runs, []corev1.Node{node("a", yes), node("b", yes), node("goes", no)}, ""},
		"it is lost, although its node is up": {lost, runs, []corev1.Node{node("a", yes), node("b", yes), node("goes", yes)}, "the platform does not have it, and its node is Ready: it may be another platform"},
	} {
		s := &Session{Plan: Plan{Machines: []Machine{{Name: "a"}, {Name: "b"}}}, machines: machineResults{requests: []*v1alpha1.MachineRequest{runs, c.other}}}
		if got := s.keepsWorkers(c.goes, c.nodes); got != c.want {
			t.Errorf("%s: %q", reason, got)
		}
	}
}

func TestPodsThatEndWithTheirNodeAreNotEvicted(t *testing.T) {
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		change(p)
		return p
	}
	owned := func(kind string, controls bool) *corev1.Pod {
		return pod(func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Controller: &controls}} })
	}
	ends := pod(func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) })
	for reason, c := range map[string]struct {
		pod   *corev1.Pod
		ready bool
		want  fate
	}{
		"a pod":                             {pod(func(*corev1.Pod) {}), true, podEvicted},
		"of a Deployment":                   {owned("ReplicaSet", true), true, podEvicted},
		"of a DaemonSet":                    {owned("DaemonSet", true), true, podStays},
		"that a DaemonSet does not control": {owned("DaemonSet", false), true, podEvicted},
		"of the node itself":                {pod(func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }), true, podStays},
		"that has ended":                    {pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), true, podStays},
		"that has failed":                   {pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), true, podStays},
		"that ends":                         {ends, true, podLeaves},
		"whose end is never reported":       {ends, false, podStays},
		"on a node that is not Ready":       {pod(func(*corev1.Pod) {}), false, podEvicted},
	} {
		if got := fateOf(c.pod, c.ready); got != c.want {
			t.Errorf("%s: %d", reason, got)
		}
	}
}

func TestARefusedEvictionNamesTheBudget(t *testing.T) {
	budget := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	budget.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: "DisruptionBudget", Message: "The disruption budget web needs 2 healthy pods and has 2 currently"}}
	for want, err := range map[string]error{
		"The disruption budget web needs 2 healthy pods and has 2 currently": budget,
		"another": errors.New("another"),
	} {
		if got := refusal(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestOnlyTheNodeOfAWorkerThatWasRemovedIsLeft(t *testing.T) {
	node := func(name, mark string, ready corev1.ConditionStatus) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}}}
		if mark != "" {
			n.Annotations = map[string]string{annotationRemoving: mark}
		}
		return n
	}
	s := &Session{ClusterBootstrap: &v1alpha1.ClusterBootstrap{}}
	s.Spec.Cluster.Name = "dev"
	for reason, c := range map[string]struct {
		node *corev1.Node
		want bool
	}{
		"marked, with a name of an earlier release": {node("dev-worker-1", markCordoned, corev1.ConditionTrue), true},
		"named as a worker, and silent":             {node("dev-w-9", "", corev1.ConditionUnknown), true},
		"named as a worker, and Ready":              {node("dev-w-9", "", corev1.ConditionTrue), false},
		"another node that is silent":               {node("dev-gpu-0", "", corev1.ConditionUnknown), false},
		"a control plane":                           {node("dev-cp-5", "", corev1.ConditionUnknown), false},
	} {
		if got := s.isLeft(c.node); got != c.want {
			t.Errorf("%s: %v", reason, got)
		}
	}
}

func TestAPodThatComesBackToACordonedNodeIsNotWaitedFor(t *testing.T) {
	cordoned := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	everywhere := []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	elsewhere := []corev1.Toleration{{Key: "node-role.kubernetes.io/control-plane", Operator: corev1.TolerationOpExists}}
	for reason, c := range map[string]struct {
		created     time.Time
		tolerations []corev1.Toleration
		want        bool
	}{
		"it was there before":                 {cordoned.Add(-time.Second), everywhere, false},
		"it came back":                        {cordoned.Add(time.Second), everywhere, true},
		"it is new, and was put there before": {cordoned.Add(time.Second), elsewhere, false},
	} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(c.created)}, Spec: corev1.PodSpec{Tolerations: c.tolerations}}
		if got := cameBack(p, cordoned); got != c.want {
			t.Errorf("%s: %t", reason, got)
		}
	}
}
