// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package team

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/controllertest"
)

var api *rest.Config

func TestMain(m *testing.M) { controllertest.Main(m, &api) }

func newFixture(t *testing.T) *controllertest.Fixture {
	t.Helper()
	f := controllertest.New(t, api)
	m := f.Manager(f.Namespace + "-a")
	f.Must(Register(m))
	controllertest.Run(t, m)
	return f
}

func until(f *controllertest.Fixture, team *v1alpha1.Team, kind, reason string) {
	f.Helper()
	f.Await(func() error {
		f.Must(f.Get(f.Context(), client.ObjectKeyFromObject(team), team))
		if c := meta.FindStatusCondition(team.Status.Conditions, kind); c == nil || c.Reason != reason {
			return fmt.Errorf("no %s: %+v", reason, team.Status)
		}
		return nil
	})
}

// TestATeamHasANamespaceAndRoles follows a team from its creation to its deletion, which a
// cluster holds up.
func TestATeamHasANamespaceAndRoles(t *testing.T) {
	f := newFixture(t)
	team := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace + "-a"}}
	team.Spec.DisplayName, team.Spec.Description = "Payments", "takes the money"
	team.Spec.Access.Users = []v1alpha1.TeamUser{{Name: "ada", Role: v1alpha1.TeamAdmin}, {Name: "vera"}}
	team.Spec.Access.Groups = []v1alpha1.TeamGroup{{Name: "ops", Role: v1alpha1.TeamOperator}}
	f.Must(f.Create(t.Context(), team))
	until(f, team, v1alpha1.ConditionReady, "Ready")
	if s := team.Status; s.Phase != v1alpha1.TeamReady || s.Namespace != team.Name || s.MemberCount != 3 || s.QuotaStatus != v1alpha1.QuotaOK {
		t.Errorf("%+v", s)
	}
	namespace := &corev1.Namespace{}
	f.Must(f.Get(t.Context(), client.ObjectKey{Name: team.Name}, namespace))
	if a := namespace.Annotations; a[annotationDescription] != "takes the money" || a[annotationDisplayName] != "Payments" {
		t.Errorf("the namespace has %v", a)
	}
	for role, want := range map[v1alpha1.TeamRole]string{v1alpha1.TeamAdmin: "ada", v1alpha1.TeamOperator: "ops", v1alpha1.TeamViewer: "vera"} {
		binding := &rbacv1.RoleBinding{}
		f.Must(f.Get(t.Context(), client.ObjectKey{Namespace: team.Name, Name: RoleName(role)}, binding))
		if len(binding.Subjects) != 1 || binding.Subjects[0].Name != want || binding.RoleRef.Name != RoleName(role) {
			t.Errorf("%s: %+v", role, binding.Subjects)
		}
	}
	t.Run("a member who leaves loses the role", func(t *testing.T) {
		team.Spec.Access.Users = team.Spec.Access.Users[:1]
		f.Must(f.Update(t.Context(), team))
		f.Await(func() error {
			binding := &rbacv1.RoleBinding{}
			f.Must(f.Get(t.Context(), client.ObjectKey{Namespace: team.Name, Name: RoleName(v1alpha1.TeamViewer)}, binding))
			if len(binding.Subjects) > 0 {
				return fmt.Errorf("%+v", binding.Subjects)
			}
			return nil
		})
	})
}

func TestANamespaceOfOthersIsLeftAlone(t *testing.T) {
	f := newFixture(t)
	team := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace}}
	f.Must(f.Create(t.Context(), team))
	until(f, team, v1alpha1.ConditionReady, "NamespaceConflict")
	f.Must(f.Delete(t.Context(), team))
	f.Gone(team)
	f.Must(f.Get(t.Context(), client.ObjectKey{Name: f.Namespace}, &corev1.Namespace{}))
}

// TestAClusterHoldsUpTheDeletionOfItsTeam has a cluster in the namespace of the fixture, which
// the manager sees.
func TestAClusterHoldsUpTheDeletionOfItsTeam(t *testing.T) {
	f := newFixture(t)
	namespace := &corev1.Namespace{}
	f.Must(f.Get(t.Context(), client.ObjectKey{Name: f.Namespace}, namespace))
	namespace.Labels[v1alpha1.LabelTeam] = f.Namespace
	f.Must(f.Update(t.Context(), namespace))
	team := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace}}
	f.Must(f.Create(t.Context(), team))
	tc := &v1alpha1.TenantCluster{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "web"}}
	tc.Spec.KubernetesVersion, tc.Spec.Workers.Replicas = "v1.31.0", 1
	tc.Spec.Workers.MachineTemplate = v1alpha1.TenantMachineTemplateSpec{CPU: 2, Memory: resource.MustParse("4Gi"), DiskSize: resource.MustParse("40Gi")}
	f.Must(f.Create(t.Context(), tc))
	f.Await(func() error {
		f.Must(f.Get(t.Context(), client.ObjectKeyFromObject(team), team))
		if team.Status.ClusterCount != 1 {
			return fmt.Errorf("%+v", team.Status)
		}
		return nil
	})
	f.Must(f.Delete(t.Context(), team))
	until(f, team, v1alpha1.ConditionReady, "DeletionBlocked")
	f.Must(f.Delete(t.Context(), tc))
	until(f, team, v1alpha1.ConditionReady, "DeletingNamespace") // this API server deletes none
}
