// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	sim "github.com/butlerdotdev/butler/internal/sim/harvester"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
)

func TestCapacityIsReadFromTheNodes(t *testing.T) {
	p, admin := connected(t), administrator(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "preflight"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("64Gi"),
	}}}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "capacity"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes", "pods"}, Verbs: []string{"list"}},
	}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "capacity"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "capacity"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: sim.User}},
	}
	for _, o := range []client.Object{node, role, binding} {
		if err := admin.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := admin.Delete(context.Background(), o); err != nil {
				t.Error(err)
			}
		})
	}
	until(t, func() bool { return verdicts(t, p, wanted("a"))["capacity"] == provider.Passed })
	huge := wanted("a", func(s *provider.MachineSpec) { s.MemoryMB = 65 << 10 })
	if got := verdicts(t, p, huge)["capacity"]; got != provider.Refused {
		t.Errorf("a machine larger than every node is %s", got)
	}
}

func TestCapacityCountsWhatRunsOnNodesThatTakeMachines(t *testing.T) {
	list := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	nodes := &corev1.NodeList{Items: []corev1.Node{
		{Status: corev1.NodeStatus{Allocatable: list("16", "64Gi")}},
		{Spec: corev1.NodeSpec{Unschedulable: true}, Status: corev1.NodeStatus{Allocatable: list("16", "64Gi")}},
	}}
	if diff := cmp.Diff([]check.Amount{{CPU: 16_000, Memory: 64 << 30}}, schedulable(nodes)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	pod := func(node string, phase corev1.PodPhase) corev1.Pod {
		c := corev1.Container{Resources: corev1.ResourceRequirements{Requests: list("500m", "1Gi")}}
		return corev1.Pod{Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{c, c}}, Status: corev1.PodStatus{Phase: phase}}
	}
	pods := &corev1.PodList{Items: []corev1.Pod{pod("a", corev1.PodRunning), pod("", corev1.PodPending), pod("a", corev1.PodSucceeded)}}
	if got := inUse(pods); got != (check.Amount{CPU: 1000, Memory: 2 << 30}) {
		t.Errorf("in use: %v", got)
	}
}
