// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	rbacv1ac "k8s.io/client-go/applyconfigurations/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

// annotationNamespace on a TenantCluster is the name of its namespace, generated once.
const annotationNamespace = v1alpha1.Group + "/tenant-namespace"

// secretsRole is the ClusterRole of this controller in the namespaces of tenants: it may
// not read Secrets elsewhere.
const secretsRole = Owner + "-tenant"

// tenantNamespace is that of the cluster's objects.
func tenantNamespace(tc *v1alpha1.TenantCluster) string { return tc.Annotations[annotationNamespace] }

// labels are on the namespace and on every object in it.
func (s *session) labels() map[string]string {
	out := map[string]string{
		"app.kubernetes.io/managed-by": "butler",
		v1alpha1.LabelTenant:           s.Name,
		v1alpha1.LabelSourceNamespace:  s.Namespace,
		v1alpha1.LabelSourceName:       s.Name,
	}
	if s.team != nil {
		out[v1alpha1.LabelTeam] = s.team.Name
	}
	return out
}

// prepareNamespace creates the namespace of the cluster's objects. One that exists and
// belongs to another cluster is left alone: the object is a copy.
func prepareNamespace(ctx context.Context, s *session) (*step.Obstacle, error) {
	name := tenantNamespace(s.TenantCluster)
	found := &corev1.Namespace{}
	err := s.Live.Get(ctx, client.ObjectKey{Name: name}, found)
	id := s.Annotations[v1alpha1.AnnotationClusterID]
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return nil, err
	case found.Annotations[v1alpha1.AnnotationClusterID] != id || found.Labels[v1alpha1.LabelSourceNamespace] != s.Namespace || found.Labels[v1alpha1.LabelSourceName] != s.Name:
		return reported("NamespaceConflict", "namespace %s belongs to another cluster; this TenantCluster is a copy: remove its annotations %s and %s", name, annotationNamespace, v1alpha1.AnnotationClusterID), nil
	case !found.DeletionTimestamp.IsZero():
		return polled("NamespaceTerminating", "namespace %s is being deleted", name), nil
	}
	s.Status.TenantNamespace = name
	labels := s.labels()
	labels["pod-security.kubernetes.io/enforce"] = "privileged"
	namespace := corev1ac.Namespace(name).WithLabels(labels).WithAnnotations(map[string]string{v1alpha1.AnnotationClusterID: id})
	if err := s.apply(ctx, namespace); err != nil {
		return nil, err
	}
	return nil, s.apply(ctx, s.ownRights(name))
}

// ownRights lets this controller read and write Secrets of the namespace.
func (s *session) ownRights(namespace string) *rbacv1ac.RoleBindingApplyConfiguration {
	return rbacv1ac.RoleBinding(secretsRole, namespace).WithLabels(s.labels()).
		WithRoleRef(rbacv1ac.RoleRef().WithAPIGroup("rbac.authorization.k8s.io").WithKind("ClusterRole").WithName(secretsRole)).
		WithSubjects(rbacv1ac.Subject().WithKind("ServiceAccount").WithName(s.Account.Name).WithNamespace(s.Account.Namespace))
}
