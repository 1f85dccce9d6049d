// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/pivot"
)

// epochPatience is how long a cluster has to say that it manages itself.
const epochPatience = 5 * time.Second

// heedEpoch fences the plane of this machine if the cluster has taken over its
// management at a later epoch: then the plane is an older copy of the one that was
// moved, and its controllers must not start. A cluster that says nothing changes
// nothing.
func (o *operation) heedEpoch(cb *v1alpha1.ClusterBootstrap) (*v1alpha1.ClusterBootstrap, error) {
	if o.local == nil || cb == nil || movedAway(cb) || !bootstrap.Moves(cb.Spec) {
		return cb, nil
	}
	here, err := pivot.Read(o.ctx, o.local, client.ObjectKeyFromObject(cb))
	if err != nil {
		return nil, err
	}
	there := o.heard(cb)
	if !there.InCharge() || there.ClusterID != here.ClusterID || there.Epoch <= here.Epoch {
		return cb, nil
	}
	before := client.MergeFromWithOptions(cb.DeepCopy(), client.MergeFromWithOptimisticLock{})
	metav1.SetMetaDataAnnotation(&cb.ObjectMeta, v1alpha1.AnnotationFenced,
		fmt.Sprintf("older than epoch %d, at which cluster %s manages itself; this plane was restored from a copy", there.Epoch, o.name))
	return cb, o.local.Patch(o.ctx, cb, before, client.FieldOwner("butleradm-plane"))
}

// heard is how a cluster says, asked once, that it stands to itself; nothing, if it
// does not, or if there is no way to it so far.
func (o *operation) heard(cb *v1alpha1.ClusterBootstrap) (nothing pivot.Standing) {
	ctx, cancel := context.WithTimeout(o.ctx, epochPatience)
	defer cancel()
	config, err := clusterConfig(ctx, o.local, cb, o.dial())
	if err != nil {
		return nothing
	}
	config.Timeout = epochPatience
	c, err := newClient(config)
	if err != nil {
		return nothing
	}
	there, err := pivot.Read(ctx, c, client.ObjectKeyFromObject(cb))
	if err != nil {
		return nothing
	}
	return there
}
