// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"cmp"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// grant is one thing that a chart's account may do. A namespace that is empty
// means every one, and so does a name.
type grant struct{ Account, Namespace, Group, Resource, Name, Verb string }

// grants are all that the Roles of a chart amount to, each bound to the account.
func grants(t testing.TB, objects []*unstructured.Unstructured) (out []grant) {
	t.Helper()
	account := find(t, objects, "ServiceAccount").GetName()
	bound := map[string]bool{}
	for _, o := range objects {
		if ref, ok, _ := unstructured.NestedString(o.Object, "roleRef", "name"); ok {
			bound[o.GetNamespace()+"/"+ref] = true
		}
	}
	for _, o := range objects {
		if kind := o.GetKind(); kind != "Role" && kind != "ClusterRole" || o.GetName() == account+"-tenant" || o.GetName() == account+"-outside" || strings.HasPrefix(o.GetName(), account+"-team-") {
			continue // those the controller binds itself, in the namespaces of tenants and teams
		}
		if !bound[o.GetNamespace()+"/"+o.GetName()] {
			t.Errorf("%s %s is not bound", o.GetKind(), o.GetName())
		}
		var role rbacv1.Role // a ClusterRole has its rules in the same place
		must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role))
		for _, rule := range role.Rules {
			out = append(out, expand(grant{Account: account, Namespace: o.GetNamespace()}, rule)...)
		}
	}
	return out
}

func expand(g grant, rule rbacv1.PolicyRule) (out []grant) {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, g.Group = range rule.APIGroups {
		for _, g.Resource = range rule.Resources {
			for _, g.Name = range names {
				for _, g.Verb = range rule.Verbs {
					out = append(out, g)
				}
			}
		}
	}
	return out
}

// covers reports whether a grant allows what was done.
func (g grant) covers(done grant) bool {
	return g.Account == done.Account && g.Group == done.Group && g.Resource == done.Resource && g.Verb == done.Verb &&
		cmp.Or(g.Namespace, done.Namespace) == done.Namespace && cmp.Or(g.Name, done.Name) == done.Name
}
