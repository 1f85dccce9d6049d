// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"cmp"
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
)

const reasonTaken = "ClusterIDTaken"

// unique refuses a ClusterBootstrap that came with the id of another one, as a copy
// of it does: machines under one id are deleted together.
func (r *Reconciler) unique(ctx context.Context, cb *v1alpha1.ClusterBootstrap) error {
	if copied(cb) {
		return &bootstrap.Failure{Reason: reasonTaken, Message: fmt.Sprintf(
			"annotation %s was copied from a ClusterBootstrap with another UID, here or on another API server: nothing is done for this one; delete it and create it again without annotations of %s; if the other one is gone for good and this one is to take over its machines, remove the annotation %s",
			v1alpha1.AnnotationClusterID, v1alpha1.Group, v1alpha1.AnnotationClaimedBy)}
	}
	var all v1alpha1.ClusterBootstrapList
	if err := r.Client.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	id := cb.Annotations[v1alpha1.AnnotationClusterID]
	for i := range all.Items {
		other := &all.Items[i]
		if other.UID != cb.UID && other.Annotations[v1alpha1.AnnotationClusterID] == id && younger(cb, other) {
			return &bootstrap.Failure{Reason: reasonTaken, Message: fmt.Sprintf(
				"annotation %s is that of ClusterBootstrap %s, which is older: nothing is done for this one; delete it and create it again without the annotation",
				v1alpha1.AnnotationClusterID, client.ObjectKeyFromObject(other))}
		}
	}
	return nil
}

// copied reports whether the id of a ClusterBootstrap was claimed by another one.
// Its requests are copies as well, so that deleting them deletes nothing.
func copied(cb *v1alpha1.ClusterBootstrap) bool {
	by := cb.Annotations[v1alpha1.AnnotationClaimedBy]
	return by != "" && by != string(cb.UID)
}

// younger orders ClusterBootstraps by age, and those of one second by name.
func younger(a, b *v1alpha1.ClusterBootstrap) bool {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name)) > 0
}
