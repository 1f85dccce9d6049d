// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const account = "system:serviceaccount:butler-system:butler-controller"

// binding binds a ClusterRole to a user.
func binding(namespace, role, user string) *rbacv1.RoleBinding {
	b := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}}
	b.Subjects = []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	return b
}

// TestTheControllerBindsItsRolesInItsOwnNamespacesAlone acts as the account of the chart: with
// what RBAC allows it could read all Secrets, and the policy of the chart refuses that.
func TestTheControllerBindsItsRolesInItsOwnNamespacesAlone(t *testing.T) {
	f := &fixture{Fixture: newBare(t)}
	f.rights()
	c := f.as(account)
	tenantNS, teamNS := f.Namespace+"-tenant", f.Namespace+"-team"
	// The policy is in force a moment after it is applied.
	f.Await(func() error {
		if err := c.Create(t.Context(), binding("kube-system", secretsRole, account), client.DryRunAll); !apierrors.IsForbidden(err) {
			return fmt.Errorf("it binds its role in kube-system: %w", err)
		}
		return nil
	})
	named := func(name string, labels map[string]string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	}
	f.Must(c.Create(t.Context(), named(tenantNS, map[string]string{managedBy: "butler", v1alpha1.LabelSourceName: "a", v1alpha1.LabelSourceNamespace: "b"})))
	f.Must(c.Create(t.Context(), named(teamNS, map[string]string{managedBy: "butler", v1alpha1.LabelTeam: teamNS})))
	f.Must(client.IgnoreAlreadyExists(f.Create(t.Context(), named("capa-system", nil))))
	secret := func(namespace, name string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	for _, o := range []client.Object{
		binding(tenantNS, secretsRole, account), binding(teamNS, Owner+"-team-viewer", "vera"), binding("capa-system", outsideRole, account),
	} {
		f.Must(client.IgnoreAlreadyExists(c.Create(t.Context(), o)))
	}
	f.Await(func() error {
		return client.IgnoreAlreadyExists(c.Create(t.Context(), secret("capa-system", "butler-a")))
	})
	f.Must(client.IgnoreAlreadyExists(f.Create(t.Context(), secret("capa-system", "capa-manager"))))
	create := func(o client.Object) func() error { return func() error { return c.Create(t.Context(), o) } }
	label := func(namespace, key string) func() error {
		o := named(namespace, map[string]string{key: "x"})
		return func() error {
			return c.Patch(t.Context(), o, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{%q:"x"}}}`, key)))
		}
	}
	for reason, try := range map[string]func() error{
		"its role in a namespace of the platform":      create(binding(platformNamespace, secretsRole, account)),
		"its role in the namespace of a team":          create(binding(teamNS, secretsRole, account)),
		"its role where credentials of AWS are":        create(binding("capa-system", secretsRole, account)),
		"its role for another user":                    create(binding(tenantNS, outsideRole, "mallory")),
		"a role of members in the namespace of tenant": create(binding(tenantNS, Owner+"-team-admin", "mallory")),
		"a role of members elsewhere":                  create(binding("default", Owner+"-team-admin", "mallory")),
		"a namespace without labels":                   create(named(f.Namespace+"-none", nil)),
		"another namespace as that of a tenant":        label("kube-system", v1alpha1.LabelSourceName),
		"another namespace as that of a team":          label("kube-system", v1alpha1.LabelTeam),
		"the namespace of a team as that of a tenant":  label(teamNS, v1alpha1.LabelSourceName),
		"the deletion of another namespace":            func() error { return c.Delete(t.Context(), named("default", nil)) },
		"a Role elsewhere":                             create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: memberRole}}),
		"a Secret of the provider for AWS": func() error {
			return c.Patch(t.Context(), secret("capa-system", "capa-manager"), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`)))
		},
		"the Secrets of the provider for AWS": func() error {
			return c.List(t.Context(), &corev1.SecretList{}, client.InNamespace("capa-system"))
		},
	} {
		if err := try(); !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	f.Must(c.Delete(t.Context(), named(tenantNS, nil)))
	f.Must(c.Delete(t.Context(), named(teamNS, nil)))
}
