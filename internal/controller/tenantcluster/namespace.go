// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	rbacv1ac "k8s.io/client-go/applyconfigurations/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

// annotationNamespace on a TenantCluster is the name of its namespace, generated once.
const annotationNamespace = v1alpha1.Group + "/tenant-namespace"

const (
	// secretsRole is the ClusterRole of this controller in the namespaces of tenants: it may
	// not read Secrets elsewhere.
	secretsRole = Owner + "-tenant"
	// outsideRole is the one in the namespace of a provider that wants credentials there.
	outsideRole = Owner + "-outside"
)

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
	found, err := s.namespace(ctx, name)
	id := s.Annotations[v1alpha1.AnnotationClusterID]
	switch {
	case apierrors.IsNotFound(err):
		if err := s.checkHome(ctx); err != nil {
			return nil, err
		}
		s.applied.forget(name) // what was in one of this name is gone with it
		s.secrets.forget(name)
	case err != nil:
		return nil, err
	case found.Annotations[v1alpha1.AnnotationClusterID] != id || found.Labels[v1alpha1.LabelSourceNamespace] != s.Namespace || found.Labels[v1alpha1.LabelSourceName] != s.Name:
		return reported("NamespaceConflict", "namespace %s belongs to another cluster; this TenantCluster is a copy: delete it, and create it without the annotations %s and %s", name, annotationNamespace, v1alpha1.AnnotationClusterID), nil
	case !found.DeletionTimestamp.IsZero():
		return polled("NamespaceTerminating", "namespace %s is being deleted", name), nil
	}
	if err == nil {
		if err := s.settleHere(ctx); err != nil {
			return nil, err
		}
	}
	s.Status.TenantNamespace = name
	if err == nil && containsAll(found.Labels, s.labels()) && s.bound(name) {
		return nil, nil
	}
	labels := s.labels()
	labels["pod-security.kubernetes.io/enforce"] = "privileged"
	namespace := corev1ac.Namespace(name).WithLabels(labels).WithAnnotations(map[string]string{v1alpha1.AnnotationClusterID: id})
	if err := s.apply(ctx, namespace); err != nil {
		return nil, err
	}
	return nil, s.enter(ctx, name)
}

// namespace reads the metadata of a namespace. One that is not in the cache may be about to come.
func (s *session) namespace(ctx context.Context, name string) (*metav1.PartialObjectMetadata, error) {
	found := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
	err := s.Client.Get(ctx, client.ObjectKey{Name: name}, found)
	if apierrors.IsNotFound(err) {
		err = s.Live.Get(ctx, client.ObjectKey{Name: name}, found)
	}
	return found, err
}

// enter gives this controller its rights in a namespace: that of the tenant, or that of a
// provider which wants credentials there. A policy of the chart refuses others.
func (s *session) enter(ctx context.Context, namespace string) error {
	if namespace == "" || s.bound(namespace) {
		return nil
	}
	account, err := s.whoAmI(ctx)
	if err != nil {
		return err
	}
	if err := s.apply(ctx, s.ownRights(namespace, account)); err != nil {
		return err
	}
	s.applied.put(namespace+"/rights", mark{generation: 1})
	return nil
}

// bound reports whether this process has given itself its rights in a namespace.
func (s *session) bound(namespace string) bool {
	return s.applied.get(namespace+"/rights").generation == 1
}

func containsAll(have, want map[string]string) bool {
	for key, value := range want {
		if have[key] != value {
			return false
		}
	}
	return true
}

// ownRights lets this controller read and write Secrets of the tenant namespace, or write some
// elsewhere. A binding elsewhere is that of all tenant clusters.
func (s *session) ownRights(namespace, account string) *rbacv1ac.RoleBindingApplyConfiguration {
	role, labels := secretsRole, s.labels()
	if namespace != tenantNamespace(s.TenantCluster) {
		role, labels = outsideRole, map[string]string{managedBy: "butler"}
	}
	return rbacv1ac.RoleBinding(role, namespace).WithLabels(labels).
		WithRoleRef(rbacv1ac.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind("ClusterRole").WithName(role)).
		WithSubjects(rbacv1ac.Subject().WithAPIGroup(rbacv1.GroupName).WithKind(rbacv1.UserKind).WithName(account))
}

// whoAmI asks the API server for the name of this controller, once.
func (r *Reconciler) whoAmI(ctx context.Context) (string, error) {
	if known := r.account.Load(); known != nil {
		return *known, nil
	}
	review := &authenticationv1.SelfSubjectReview{}
	if err := r.Client.Create(ctx, review); err != nil {
		return "", fmt.Errorf("find out the identity of this controller: %w", err)
	}
	name := review.Status.UserInfo.Username
	r.account.Store(&name)
	return name, nil
}
