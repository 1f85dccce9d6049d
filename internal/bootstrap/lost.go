// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

// isLost reports whether a machine is gone for good: its platform does not have it
// any more, or its request was deleted, which is gone after the machine. One whose
// platform cannot be asked is not meant, nor one that is merely broken.
func isLost(r *v1alpha1.MachineRequest) bool {
	return r == nil || r.DeletionTimestamp.IsZero() && r.Status.Phase == v1alpha1.MachineFailed && r.Status.FailureReason == v1alpha1.ReasonVMLost
}

// lostWorker is the first worker that is replaced without a request of the user.
func (s *Session) lostWorker() int {
	if !s.replacesWorkers() {
		return -1
	}
	for i, m := range s.Plan.Machines {
		if m.Role == v1alpha1.RoleWorker && isLost(s.machines.requests[i]) {
			return i
		}
	}
	return -1
}

// afterLoss returns what happens to a lost machine, or what an operator can do.
func (s *Session) afterLoss(m Machine) string {
	if s.Status.Phase == v1alpha1.BootstrapReady && m.Role == v1alpha1.RoleWorker && s.replacesWorkers() {
		return "it is replaced" + s.afterAnother(m)
	}
	return cmp.Or(s.howToReplace(m), "it is not replaced: destroy the cluster and create it again")
}

// afterAnother names the machine whose replacement comes first, if there is one.
func (s *Session) afterAnother(m Machine) string {
	if name := s.replaced(); name != "" && name != m.Name {
		return " after " + name
	}
	return ""
}

func (s *Session) replacesWorkers() bool {
	return s.Spec.Remediation == v1alpha1.RemediationReplaceWorkers
}

// howToReplace returns how an operator gets a new machine in place of one that is there
// no more; nothing, where there is no way.
func (s *Session) howToReplace(m Machine) string {
	ask := fmt.Sprintf("annotate the ClusterBootstrap with %s=%s", v1alpha1.AnnotationReplace, m.Name)
	switch {
	case s.Status.Phase != v1alpha1.BootstrapReady, m.Role == v1alpha1.RoleControlPlane && !s.spareControlPlanes():
		return ""
	case m.Role == v1alpha1.RoleWorker && !s.replacesWorkers():
		return "to have it replaced, set spec.remediation to ReplaceWorkers, or " + ask
	}
	return "to have it replaced, " + ask
}

// spareControlPlanes reports whether etcd can do without one of its members.
func (s *Session) spareControlPlanes() bool { return len(s.controlPlanesOfPlan()) > 2 }

func (s *Session) controlPlanesOfPlan() []Machine {
	return slices.DeleteFunc(slices.Clone(s.Plan.Machines), func(m Machine) bool { return m.Role != v1alpha1.RoleControlPlane })
}

// hindrance is why a machine cannot be replaced now: a controller that replaces machines
// while the platform or the cluster is in trouble as a whole soon has none left.
func (s *Session) hindrance(ctx context.Context, i int) string {
	if u := slices.IndexFunc(s.machines.requests, isUnknown); u >= 0 {
		return "the platform cannot be queried about " + s.Plan.Machines[u].Name
	}
	nodes, err := s.liveNodes(ctx)
	if err != nil {
		return "no control plane answers" + step.Because(err)
	}
	if why := s.tooFewNodes(nodes, s.Plan.Machines[i].Name); why != "" {
		return why
	}
	if name := s.misjudged(nodes); name != "" {
		return fmt.Sprintf("the platform does not have %s either, whose node is Ready: it may be another platform", name)
	}
	if s.Plan.Machines[i].Role == v1alpha1.RoleControlPlane {
		return s.etcdNeeds(ctx, i)
	}
	return ""
}

func isUnknown(r *v1alpha1.MachineRequest) bool {
	return r != nil && r.Status.Phase == v1alpha1.MachineUnknown
}

// tooFewNodes wants most of the nodes Ready, and the one that is to go not: the
// word of the platform alone does not do.
func (s *Session) tooFewNodes(nodes []corev1.Node, goes string) string {
	ready := s.readyNodes(nodes)
	switch all := len(s.Plan.Machines); {
	case isReadyNode(nodes, goes):
		return "its node is still Ready"
	case ready*2 <= all:
		return fmt.Sprintf("only %d of %d nodes are Ready, which may be more than the loss of a machine", ready, all)
	}
	return ""
}

// readyNodes counts the machines of the plan whose nodes are Ready.
func (s *Session) readyNodes(nodes []corev1.Node) (ready int) {
	for _, m := range s.Plan.Machines {
		if isReadyNode(nodes, m.Name) {
			ready++
		}
	}
	return ready
}

// misjudged is the first machine whose node is Ready although its platform has lost
// it: with other credentials it may be a platform that never had any of them.
func (s *Session) misjudged(nodes []corev1.Node) string {
	for i, r := range s.machines.requests {
		if r != nil && isLost(r) && isReadyNode(nodes, s.Plan.Machines[i].Name) {
			return s.Plan.Machines[i].Name
		}
	}
	return ""
}

func isReadyNode(nodes []corev1.Node, name string) bool {
	return slices.ContainsFunc(nodes, func(n corev1.Node) bool { return n.Name == name && notReady(n) == "" })
}

// liveNodes are those of the new cluster, by way of any control plane.
func (s *Session) liveNodes(ctx context.Context) ([]corev1.Node, error) {
	if err := s.openCluster(ctx); err != nil {
		return nil, err
	}
	return s.kubernetes.cluster.nodes(ctx)
}
