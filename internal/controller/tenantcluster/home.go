// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

// annotationHome on a TenantCluster is the management cluster that it was created on: the UID
// of the namespace kube-system there.
const annotationHome = v1alpha1.Group + "/management-cluster"

// home is the identity of this management cluster.
func (r *Reconciler) home(ctx context.Context) (string, error) {
	found := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: kubeSystem}, found); err != nil {
		return "", fmt.Errorf("find out which management cluster this is: %w", err)
	}
	return string(found.UID), nil
}

// checkHome refuses to create a cluster a second time: a TenantCluster that was restored on
// another management cluster without its namespace has its workers and its control plane there.
func (s *session) checkHome(ctx context.Context) error {
	here, err := s.home(ctx)
	if err != nil {
		return err
	}
	if was := s.Annotations[annotationHome]; was != here {
		return &step.Failure{Reason: "CreatedElsewhere", Message: fmt.Sprintf(
			"the cluster was created on another management cluster (kube-system %s), where its control plane and its workers may still run; restore namespace %s too, or remove the annotations %s, %s and %s to create a new cluster",
			was, tenantNamespace(s.TenantCluster), annotationHome, annotationNamespace, v1alpha1.AnnotationClusterID)}
	}
	return nil
}

// settleHere records that the cluster has moved to this management cluster, with its namespace.
func (s *session) settleHere(ctx context.Context) error {
	here, err := s.home(ctx)
	if err != nil || s.Annotations[annotationHome] == here {
		return err
	}
	moved := s.DeepCopy()
	moved.Annotations[annotationHome] = here
	if err := s.Client.Patch(ctx, moved, client.MergeFromWithOptions(s.TenantCluster, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	return errChanged
}
