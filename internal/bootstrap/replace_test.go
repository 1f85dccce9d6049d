// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

func TestOnlyAMachineThatIsGoneForGoodIsLost(t *testing.T) {
	request := func(phase v1alpha1.MachinePhase, reason string) *v1alpha1.MachineRequest {
		return &v1alpha1.MachineRequest{Status: v1alpha1.MachineRequestStatus{Phase: phase, FailureReason: reason}}
	}
	deleting := request(v1alpha1.MachineFailed, "VMLost")
	deleting.DeletionTimestamp = &metav1.Time{}
	deleting.DeletionTimestamp.Time = metav1.Now().Time
	for reason, tc := range map[string]struct {
		request *v1alpha1.MachineRequest
		want    bool
	}{
		"its request was deleted":              {nil, true},
		"the platform does not have it":        {request(v1alpha1.MachineFailed, "VMLost"), true},
		"it was lost, and is being deleted":    {deleting, false},
		"it runs":                              {request(v1alpha1.MachineRunning, ""), false},
		"its platform cannot be asked":         {request(v1alpha1.MachineUnknown, ""), false},
		"its platform cannot be asked at last": {request(v1alpha1.MachineUnknown, "VMLost"), false},
		"it is broken":                         {request(v1alpha1.MachineFailed, "VMBroken"), false},
		"a part of it is missing":              {request(v1alpha1.MachineFailed, "VMIncomplete"), false},
		"it could not be made":                 {request(v1alpha1.MachineFailed, "ImageNotFound"), false},
	} {
		if got := isLost(tc.request); got != tc.want {
			t.Errorf("%s: %v", reason, got)
		}
	}
}

func TestMostNodesHaveToBeReadyAndTheLostOneNot(t *testing.T) {
	node := func(name string, ready corev1.ConditionStatus) corev1.Node {
		return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}}}
	}
	yes, no, unknown := corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown
	s := &Session{Plan: Plan{Machines: []Machine{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "goes"}}}}
	for reason, tc := range map[string]struct {
		nodes []corev1.Node
		want  string
	}{
		"all but the lost one":        {[]corev1.Node{node("a", yes), node("b", yes), node("c", yes), node("goes", unknown)}, ""},
		"the lost one is gone":        {[]corev1.Node{node("a", yes), node("b", yes), node("c", yes)}, ""},
		"the lost one works":          {[]corev1.Node{node("a", yes), node("b", yes), node("c", yes), node("goes", yes)}, "still Ready"},
		"half of them":                {[]corev1.Node{node("a", yes), node("b", yes), node("c", no), node("goes", no)}, "only 2 of 4 nodes"},
		"other nodes do not count":    {[]corev1.Node{node("a", yes), node("b", yes), node("x", yes), node("y", yes)}, "only 2 of 4 nodes"},
		"none, as far as can be seen": {nil, "only 0 of 4 nodes"},
	} {
		if got := s.tooFewNodes(tc.nodes, "goes"); got != tc.want && (tc.want == "" || !strings.Contains(got, tc.want)) {
			t.Errorf("%s: %q", reason, got)
		}
	}
}

func TestAPlatformThatHasLostWhatWorksIsNotBelieved(t *testing.T) {
	node := func(name string, ready corev1.ConditionStatus) corev1.Node {
		return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}}}
	}
	nodes := []corev1.Node{node("a", corev1.ConditionTrue), node("b", corev1.ConditionTrue), node("goes", corev1.ConditionUnknown)}
	runs := &v1alpha1.MachineRequest{Status: v1alpha1.MachineRequestStatus{Phase: v1alpha1.MachineRunning}}
	lost := &v1alpha1.MachineRequest{Status: v1alpha1.MachineRequestStatus{Phase: v1alpha1.MachineFailed, FailureReason: v1alpha1.ReasonVMLost}}
	for reason, tc := range map[string]struct {
		requests []*v1alpha1.MachineRequest
		want     string
	}{
		"only the one that goes":        {[]*v1alpha1.MachineRequest{runs, runs, lost}, ""},
		"one that works, too":           {[]*v1alpha1.MachineRequest{runs, lost, lost}, "b"},
		"all of them":                   {[]*v1alpha1.MachineRequest{lost, lost, lost}, "a"},
		"a request that was deleted":    {[]*v1alpha1.MachineRequest{nil, runs, lost}, ""},
		"all but the request that goes": {[]*v1alpha1.MachineRequest{lost, lost, nil}, "a"},
	} {
		s := &Session{Plan: Plan{Machines: []Machine{{Name: "a"}, {Name: "b"}, {Name: "goes"}}}, machines: machineResults{requests: tc.requests}}
		if got := s.misjudged(nodes); got != tc.want {
			t.Errorf("%s: %q", reason, got)
		}
	}
}

func TestEtcdKeepsItsMajorityWithoutAMember(t *testing.T) {
	members := func(names ...string) (out []talos.Member) {
		for _, name := range names {
			out = append(out, talos.Member{Hostname: name})
		}
		return out
	}
	learning := members("a", "b", "goes")
	learning[1].Learner = true
	nameless := append(members("a", "b"), talos.Member{Address: "10.0.0.3", Learner: true})
	s := &Session{ClusterBootstrap: &v1alpha1.ClusterBootstrap{}, Plan: Plan{Machines: []Machine{{Name: "goes"}}}, machines: machineResults{requests: []*v1alpha1.MachineRequest{{Status: v1alpha1.MachineRequestStatus{IPAddress: "10.0.0.3"}}}}}
	for reason, tc := range map[string]struct {
		members []talos.Member
		up      string
		want    string
	}{
		"three, two are healthy":           {members("a", "b", "goes"), "ab", ""},
		"three, one is":                    {members("a", "b", "goes"), "a", "only 1 are healthy"},
		"three, and itself does not count": {members("a", "b", "goes"), "a goes", "only 1 are healthy"},
		"five, three are":                  {members("a", "b", "c", "d", "goes"), "abc", ""},
		"five, two are":                    {members("a", "b", "c", "d", "goes"), "ab", "only 2 are healthy"},
		"two":                              {members("a", "goes"), "a", "only 1 are healthy"},
		"it is off the list already":       {members("a", "b"), "ab", ""},
		"it never ran":                     {nameless, "ab", ""},
		"one that does not vote yet":       {learning, "ab", "not a voting member yet"},
	} {
		got := minorityWithout(tc.members, s.memberOf(0), func(name string) bool { return strings.Contains(tc.up, name) })
		if got != tc.want && (tc.want == "" || !strings.Contains(got, tc.want)) {
			t.Errorf("%s: %q", reason, got)
		}
	}
}

func TestNothingIsReplacedWhileThePlatformCannotBeAsked(t *testing.T) {
	unknown := &v1alpha1.MachineRequest{Status: v1alpha1.MachineRequestStatus{Phase: v1alpha1.MachineUnknown}}
	s := &Session{Plan: Plan{Machines: []Machine{{Name: "other"}, {Name: "goes"}}}, machines: machineResults{requests: []*v1alpha1.MachineRequest{unknown, nil}}}
	if got := s.hindrance(t.Context(), 1); got != "the platform cannot be queried about other" {
		t.Errorf("%q", got)
	}
}

func TestALossSaysWhatBecomesOfTheMachine(t *testing.T) {
	worker, first := Machine{Name: "worker", Role: v1alpha1.RoleWorker}, Machine{Name: "cp-0", Role: v1alpha1.RoleControlPlane}
	three := []Machine{first, {Name: "cp-1", Role: v1alpha1.RoleControlPlane}, {Name: "cp-2", Role: v1alpha1.RoleControlPlane}, worker}
	const again, ask = "it is not replaced: destroy the cluster and create it again", "annotate the ClusterBootstrap with " + v1alpha1.AnnotationReplace + "="
	for reason, tc := range map[string]struct {
		lost      Machine
		of        []Machine
		phase     v1alpha1.ClusterBootstrapPhase
		replaces  v1alpha1.Remediation
		replacing string
		want      string
	}{
		"before it was Ready":           {worker, three, v1alpha1.BootstrapInstallingAddons, v1alpha1.RemediationReplaceWorkers, "", again},
		"a worker":                      {worker, three, v1alpha1.BootstrapReady, v1alpha1.RemediationReplaceWorkers, "", "it is replaced"},
		"a worker, after another":       {worker, three, v1alpha1.BootstrapReady, v1alpha1.RemediationReplaceWorkers, "other 2026-01-01T00:00:00Z", "it is replaced after other"},
		"a worker, unless asked for":    {worker, three, v1alpha1.BootstrapReady, v1alpha1.RemediationNone, "", "to have it replaced, set spec.remediation to ReplaceWorkers, or " + ask + "worker"},
		"a control plane":               {first, three, v1alpha1.BootstrapReady, v1alpha1.RemediationReplaceWorkers, "", "to have it replaced, " + ask + "cp-0"},
		"the only control plane, alone": {first, three[:1], v1alpha1.BootstrapReady, v1alpha1.RemediationNone, "", again},
	} {
		cb := &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{annotationReplacing: tc.replacing}}}
		cb.Status.Phase, cb.Spec.Remediation = tc.phase, tc.replaces
		s := &Session{ClusterBootstrap: cb, Plan: Plan{Machines: tc.of}}
		if got := s.afterLoss(tc.lost); got != tc.want {
			t.Errorf("%s: %q", reason, got)
		}
	}
}
