// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	rbacv1ac "k8s.io/client-go/applyconfigurations/rbac/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

// memberRole is the Role of a team's members in the namespace of a tenant.
const memberRole = "butler-team-credentials"

// grantAccess lets admins and operators of the team read the kubeconfig and the talosconfig of
// the cluster, and nothing else in its namespace: the keys of its authorities and the
// credentials of the platform are there. Viewers read nothing.
func grantAccess(ctx context.Context, s *session) (*step.Obstacle, error) {
	if s.team == nil {
		return nil, nil
	}
	names := []string{kubeconfigOf(s.Name), talosconfigOf(s.Name)}
	if s.byHostname() {
		names = append(names, adminKubeconfigOf(s.Name))
	}
	role := rbacv1ac.Role(memberRole, s.input.Namespace).WithLabels(s.labels()).WithRules(
		rbacv1ac.PolicyRule().WithAPIGroups("").WithResources("secrets").WithResourceNames(names...).WithVerbs("get"))
	if err := s.applyKept(ctx, keptKey{"Role", s.input.Namespace, memberRole}, role, role); err != nil {
		return nil, err
	}
	binding := rbacv1ac.RoleBinding(memberRole, s.input.Namespace).WithLabels(s.labels()).WithSubjects(s.readers()...).
		WithRoleRef(rbacv1ac.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind("Role").WithName(memberRole))
	return nil, s.applyKept(ctx, keptKey{"RoleBinding", s.input.Namespace, memberRole}, binding, binding)
}

// readers are the members of the team that may read credentials.
func (s *session) readers() (out []*rbacv1ac.SubjectApplyConfiguration) {
	may := func(role v1alpha1.TeamRole) bool { return role == v1alpha1.TeamAdmin || role == v1alpha1.TeamOperator }
	for _, u := range s.team.Spec.Access.Users {
		if may(u.Role) {
			out = append(out, rbacv1ac.Subject().WithAPIGroup(rbacv1.GroupName).WithKind(rbacv1.UserKind).WithName(u.Name))
		}
	}
	for _, g := range s.team.Spec.Access.Groups {
		if may(g.Role) {
			out = append(out, rbacv1ac.Subject().WithAPIGroup(rbacv1.GroupName).WithKind(rbacv1.GroupKind).WithName(g.Name))
		}
	}
	return out
}
