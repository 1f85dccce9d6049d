// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package selfhosted

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/pivot"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// EpochPatience is how long a cluster has to report its epoch.
const EpochPatience = 5 * time.Second

// FenceStalePlane fences the plane of this machine if the cluster knows of a later epoch:
// then the plane is an older copy of one that was moved since, and its controllers
// must not start. Without an answer of the cluster nothing is changed.
func FenceStalePlane(o *operation.Operation, cb *v1alpha1.ClusterBootstrap) (*v1alpha1.ClusterBootstrap, error) {
	if o.Local == nil || cb == nil || MovedAway(cb) || !bootstrap.Moves(cb.Spec) {
		return cb, nil
	}
	here, err := pivot.Read(o.Context(), o.Local, client.ObjectKeyFromObject(cb))
	if err != nil {
		return nil, err
	}
	fence := fenceReason(o.Workspace, here, readStanding(o, cb))
	if fence == "" {
		return cb, nil
	}
	before := client.MergeFromWithOptions(cb.DeepCopy(), client.MergeFromWithOptimisticLock{})
	metav1.SetMetaDataAnnotation(&cb.ObjectMeta, v1alpha1.AnnotationFenced, fence)
	return cb, o.Local.Patch(o.Context(), cb, before, client.FieldOwner("butleradm-plane"))
}

// fenceReason returns why the plane here is not in charge of a cluster, by the standing
// of the cluster there; empty if it may be. A cluster whose plane was moved back is
// fenced itself, and its fence names the plane that is in charge.
func fenceReason(w workspace.Workspace, here, there pivot.Standing) string {
	if !there.Exists || there.ClusterID != here.ClusterID || there.Epoch <= here.Epoch {
		return ""
	}
	reason := fmt.Sprintf("cluster %s manages itself", w.Name)
	if !there.InCharge() {
		reason = fmt.Sprintf("cluster %s was %s", w.Name, there.Fenced)
	}
	return fmt.Sprintf("older than epoch %d, at which %s; this plane was restored from a copy", there.Epoch, reason)
}

// readStanding reads the standing of the cluster once; it is zero if the cluster does
// not answer, or has no kubeconfig yet.
func readStanding(o *operation.Operation, cb *v1alpha1.ClusterBootstrap) (nothing pivot.Standing) {
	ctx, cancel := context.WithTimeout(o.Context(), EpochPatience)
	defer cancel()
	config, err := RESTConfig(ctx, o.Local, cb, o.Dial())
	if err != nil {
		return nothing
	}
	config.Timeout = EpochPatience
	c, err := workspace.NewClient(config)
	if err != nil {
		return nothing
	}
	there, err := pivot.Read(ctx, c, client.ObjectKeyFromObject(cb))
	if err != nil {
		return nothing
	}
	return there
}
