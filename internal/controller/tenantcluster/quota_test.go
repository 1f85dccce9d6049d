// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// team creates a Ready team with its namespace, in mode Optional.
func (f *fixture) team(limits v1alpha1.TeamResourceLimits) *v1alpha1.Team {
	f.Helper()
	config := &v1alpha1.ButlerConfig{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.ButlerConfigName}}
	config.Spec.MultiTenancy = &v1alpha1.MultiTenancySpec{Mode: v1alpha1.TenancyOptional}
	f.Must(f.Create(f.Context(), config))
	f.Cleanup(func() { f.Must(client.IgnoreNotFound(f.Delete(context.Background(), config))) })
	t := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace}}
	t.Spec.ResourceLimits = &limits
	t.Spec.Access.Users = []v1alpha1.TeamUser{{Name: "olga", Role: v1alpha1.TeamOperator}, {Name: "vera", Role: v1alpha1.TeamViewer}}
	f.Must(f.Create(f.Context(), t))
	t.Status.Phase, t.Status.Namespace = v1alpha1.TeamReady, t.Name
	f.Must(f.Status().Update(f.Context(), t))
	return t
}

// inTeam is a cluster of the team.
func (f *fixture) inTeam(name string) *v1alpha1.TenantCluster {
	tc := f.tenant()
	tc.Namespace, tc.Name = f.Namespace, f.Namespace+"-"+name
	tc.Spec.TeamRef = &v1alpha1.LocalReference{Name: f.Namespace}
	return tc
}

func TestTwoClustersCannotBothGetTheLastShare(t *testing.T) {
	f := newFixture(t)
	team := f.team(v1alpha1.TeamResourceLimits{MaxClusters: new(int32(1))})
	one, two := f.inTeam("one"), f.inTeam("two")
	f.Must(f.Create(t.Context(), one))
	f.Must(f.Create(t.Context(), two))
	counts := map[string]int{}
	for _, tc := range []*v1alpha1.TenantCluster{one, two} {
		now := f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
			return isTrue(tc, v1alpha1.ConditionQuotaSatisfied) || condition(tc, v1alpha1.ConditionQuotaSatisfied).Reason == "QuotaExceeded"
		})
		counts[string(condition(now, v1alpha1.ConditionQuotaSatisfied).Status)]++
	}
	f.Must(f.Get(t.Context(), client.ObjectKeyFromObject(team), team))
	if counts["True"] != 1 || len(team.Status.Reservations) != 1 {
		t.Errorf("%v, %d reservations", counts, len(team.Status.Reservations))
	}
	t.Run("lowered limits block neither what runs nor its deletion", func(t *testing.T) {
		f.Must(f.Get(t.Context(), client.ObjectKeyFromObject(team), team))
		team.Spec.ResourceLimits.MaxClusters = new(int32(0))
		f.Must(f.Update(t.Context(), team))
		holder := one
		if team.Status.Reservations[0].UID == string(two.UID) {
			holder = two
		}
		f.until(holder, isReady)
		f.gone(holder)
	})
	f.Must(f.Get(t.Context(), client.ObjectKeyFromObject(team), team))
	if len(team.Status.Reservations) != 0 {
		t.Errorf("a deleted cluster keeps its share: %+v", team.Status.Reservations)
	}
}

func TestMembersOfATeamReadTheKubeconfigAndNoOtherSecret(t *testing.T) {
	f := newFixture(t)
	f.team(v1alpha1.TeamResourceLimits{MaxMemory: new(resource.MustParse("8Gi"))})
	tc := f.ready(f.inTeam("one"))
	may := func(user, secret string) bool {
		t.Helper()
		review := &authorizationv1.SubjectAccessReview{}
		review.Spec.User, review.Spec.Groups = user, []string{"system:authenticated"}
		review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{Namespace: tc.Status.TenantNamespace, Verb: "get", Resource: "secrets", Name: secret}
		f.Must(f.Create(t.Context(), review))
		return review.Status.Allowed
	}
	for secret, want := range map[string]bool{kubeconfigOf(tc.Name): true, talosconfigOf(tc.Name): true, authorityOf(tc.Name): false, tc.Name + "-credentials": false, tokenOf(tc.Name): false} {
		if may("olga", secret) != want || may("vera", secret) {
			t.Errorf("%s: operator %v, viewer %v", secret, may("olga", secret), may("vera", secret))
		}
	}
	t.Run("growth beyond a limit is refused, the cluster stays", func(t *testing.T) {
		f.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Spec.Workers.Replicas = 3 })
		now := f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
			return strings.Contains(condition(tc, v1alpha1.ConditionQuotaSatisfied).Message, "maxMemory is 8Gi, and this would be 12Gi")
		})
		if n := number(f.deployment(now), "spec", "replicas"); n != 2 || now.Status.WorkerNodesReady != 2 {
			t.Errorf("%d replicas, %d Ready", n, now.Status.WorkerNodesReady)
		}
	})
	f.gone(tc)
	var left corev1.SecretList
	f.Must(f.List(t.Context(), &left, client.InNamespace(tc.Status.TenantNamespace)))
	if len(left.Items) > 0 {
		t.Errorf("%d Secrets are left", len(left.Items))
	}
}
