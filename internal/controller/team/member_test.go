// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package team

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/controllertest"
)

// roles creates the ClusterRoles of the chart.
func roles(f *controllertest.Fixture) {
	f.Helper()
	data, err := os.ReadFile("../../../config/rbac/butler-controller.yaml")
	f.Must(err)
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		role := &rbacv1.ClusterRole{}
		f.Must(yaml.Unmarshal([]byte(document), role))
		if role.Kind == "ClusterRole" {
			f.Must(client.IgnoreAlreadyExists(f.Create(f.Context(), role)))
		}
	}
}

// TestMembersMayWhatTheirRoleSays acts as a member of each role, in the namespace of the team and
// in that of another.
func TestMembersMayWhatTheirRoleSays(t *testing.T) {
	f := newFixture(t)
	roles(f)
	team := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace + "-a"}}
	team.Spec.Access.Users = []v1alpha1.TeamUser{{Name: "ada", Role: v1alpha1.TeamAdmin}, {Name: "vera"}}
	team.Spec.Access.Groups = []v1alpha1.TeamGroup{{Name: "ops", Role: v1alpha1.TeamOperator}}
	f.Must(f.Create(t.Context(), team))
	until(f, team, v1alpha1.ConditionReady, "Ready")
	tc := &v1alpha1.TenantCluster{ObjectMeta: metav1.ObjectMeta{Namespace: team.Name, Name: "shop"}}
	tc.Spec.KubernetesVersion, tc.Spec.Workers.Replicas = "v1.31.0", 1
	tc.Spec.Workers.MachineTemplate = v1alpha1.TenantMachineTemplateSpec{CPU: 2, Memory: resource.MustParse("4Gi"), DiskSize: resource.MustParse("40Gi")}
	f.Must(f.Create(t.Context(), tc))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: team.Name, Name: "credentials"}}
	f.Must(f.Create(t.Context(), secret))
	for member, may := range map[string]struct{ create, change, read bool }{
		"ada": {true, true, true}, "ops": {false, true, true}, "vera": {false, false, true}, "outsider": {},
	} {
		config := rest.CopyConfig(api)
		config.Impersonate = rest.ImpersonationConfig{UserName: member, Groups: []string{"system:authenticated", member}}
		c, err := client.New(config, client.Options{Scheme: f.Scheme()})
		f.Must(err)
		other := tc.DeepCopy()
		other.ObjectMeta = metav1.ObjectMeta{Namespace: team.Name, Name: "other"}
		elsewhere := other.DeepCopy()
		elsewhere.Namespace = f.Namespace
		for what, try := range map[string]struct {
			err   error
			allow bool
		}{
			"read":           {c.Get(t.Context(), client.ObjectKeyFromObject(tc), tc.DeepCopy()), may.read},
			"list":           {c.List(t.Context(), &v1alpha1.TenantClusterList{}, client.InNamespace(team.Name)), may.read},
			"list all":       {c.List(t.Context(), &v1alpha1.TenantClusterList{}), false},
			"create":         {c.Create(t.Context(), other, client.DryRunAll), may.create},
			"delete":         {c.Delete(t.Context(), tc.DeepCopy(), client.DryRunAll), may.create},
			"change":         {c.Patch(t.Context(), tc.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"workers":{"replicas":2}}}`)), client.DryRunAll), may.change},
			"write status":   {c.Status().Patch(t.Context(), tc.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"status":{"phase":"Ready"}}`)), client.DryRunAll), false},
			"read Secrets":   {c.Get(t.Context(), client.ObjectKeyFromObject(secret), secret.DeepCopy()), false},
			"list Secrets":   {c.List(t.Context(), &corev1.SecretList{}, client.InNamespace(team.Name)), false},
			"create Secrets": {c.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: team.Name, Name: "more"}}, client.DryRunAll), false},
			"elsewhere":      {c.Create(t.Context(), elsewhere, client.DryRunAll), false},
			"the team":       {c.Patch(t.Context(), team.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"resourceLimits":null}}`)), client.DryRunAll), false},
		} {
			if try.allow && try.err != nil || !try.allow && !apierrors.IsForbidden(try.err) {
				t.Errorf("%s, %s: %v", member, what, try.err)
			}
		}
	}
	f.Must(f.Delete(t.Context(), tc))
}
