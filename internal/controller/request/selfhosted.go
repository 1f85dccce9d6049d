// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// HoldsDeletion returns why nothing on the platform is deleted for a request that is
// being deleted, empty if it may be. A cluster that manages itself deletes no
// machine of its own, but for one that it replaces, and workers that it does not have
// any more.
func (f Fence) HoldsDeletion(ctx context.Context, o client.Object) (string, error) {
	cb, err := find(ctx, o, f.Cache, f.Live)
	if err != nil || cb == nil || !selfHosted(cb, o) {
		return "", err
	}
	// The cache may not have the mark of a replacement yet that has deleted o, nor the status
	// without a worker.
	if cb, err = find(ctx, o, f.Live); err != nil || cb == nil || !selfHosted(cb, o) {
		return "", err
	}
	return fmt.Sprintf("the cluster manages itself and cannot delete its own machines: nothing is deleted on the platform; run butleradm destroy %s to delete the cluster, or name a lost machine in the annotation %s of the ClusterBootstrap to replace it; the last workers go when spec.cluster.workers.replicas is lowered",
		o.GetLabels()[v1alpha1.LabelCluster], v1alpha1.AnnotationReplace), nil
}

// selfHosted reports whether a request is of the cluster that it lies on, and not
// of a machine that is being replaced or removed.
func selfHosted(cb *v1alpha1.ClusterBootstrap, o client.Object) bool {
	return cb.Annotations[v1alpha1.AnnotationPlane] == v1alpha1.PlaneSelf && !replaced(cb, o) && !removed(cb, o)
}

// removed reports whether a request is that of a worker which its cluster, once Ready, does
// not count among its machines. Its status is written without it before the request is deleted.
func removed(cb *v1alpha1.ClusterBootstrap, o client.Object) bool {
	m, ok := o.(*v1alpha1.MachineRequest)
	if !ok || m.Spec.Role != v1alpha1.RoleWorker || cb.Status.Phase != v1alpha1.BootstrapReady || len(cb.Status.Machines) == 0 {
		return false
	}
	return !slices.ContainsFunc(cb.Status.Machines, func(s v1alpha1.BootstrapMachineStatus) bool { return s.Name == m.Name })
}

// replaced reports whether a request is the one that has to go for the replacement
// that is under way; the new one has the same name.
func replaced(cb, o client.Object) bool {
	mark := cb.GetAnnotations()[v1alpha1.AnnotationReplacing]
	name, _, _ := strings.Cut(mark, " ")
	_, machine := o.(*v1alpha1.MachineRequest)
	return machine && name == o.GetName() && o.GetAnnotations()[v1alpha1.AnnotationReplacement] != mark
}
