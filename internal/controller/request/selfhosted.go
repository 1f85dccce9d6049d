// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// HoldsDeletion says why nothing on the platform is deleted for a request that is
// being deleted, empty if it may be. A cluster that manages itself deletes no
// machine of its own, but for one that it replaces.
func (f Fence) HoldsDeletion(ctx context.Context, o client.Object) (string, error) {
	cb, err := find(ctx, o, f.Cache, f.Live)
	if err != nil || cb == nil || !selfHosted(cb, o) {
		return "", err
	}
	// The cache may not have the mark of a replacement yet that has deleted o.
	if cb, err = find(ctx, o, f.Live); err != nil || cb == nil || !selfHosted(cb, o) {
		return "", err
	}
	return fmt.Sprintf("the cluster manages itself and cannot delete its own machines: nothing is deleted on the platform; run butleradm destroy %s to delete the cluster, or name a lost machine in the annotation %s of the ClusterBootstrap to replace it",
		o.GetLabels()[v1alpha1.LabelCluster], v1alpha1.AnnotationReplace), nil
}

// selfHosted reports whether a request is of the cluster that it lies on, and not
// of a machine that is being replaced.
func selfHosted(cb, o client.Object) bool {
	return cb.GetAnnotations()[v1alpha1.AnnotationPlane] == v1alpha1.PlaneSelf && !replaced(cb, o)
}

// replaced reports whether a request is the one that has to go for the replacement
// that is under way; the new one has the same name.
func replaced(cb, o client.Object) bool {
	mark := cb.GetAnnotations()[v1alpha1.AnnotationReplacing]
	name, _, _ := strings.Cut(mark, " ")
	_, machine := o.(*v1alpha1.MachineRequest)
	return machine && name == o.GetName() && o.GetAnnotations()[v1alpha1.AnnotationReplacement] != mark
}
