// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
)

// FindCluster finds the workspace's ClusterBootstrap on a plane. That of another
// cluster is never taken for it: a cluster that manages itself may manage others.
func (w Workspace) FindCluster(ctx context.Context, c client.Reader) (*v1alpha1.ClusterBootstrap, error) {
	var list v1alpha1.ClusterBootstrapList
	if err := c.List(ctx, &list); err != nil || len(list.Items) == 0 {
		return nil, err
	}
	cb := ClusterNamed(&list, w.Name)
	if cb == nil {
		return nil, failure.Usagef("the plane of %s holds the cluster %s, not %s", w.Dir, list.Items[0].Spec.Cluster.Name, w.Name)
	}
	return cb, nil
}

// ClusterNamed returns the ClusterBootstrap of a cluster; nil if the list has none.
func ClusterNamed(list *v1alpha1.ClusterBootstrapList, cluster string) *v1alpha1.ClusterBootstrap {
	i := slices.IndexFunc(list.Items, func(cb v1alpha1.ClusterBootstrap) bool { return cb.Spec.Cluster.Name == cluster })
	if i < 0 {
		return nil
	}
	cb := &list.Items[i]
	cb.SetGroupVersionKind(v1alpha1.GroupVersion().WithKind("ClusterBootstrap"))
	return cb
}

// AbsentError is the error for a cluster that its plane does not have: the bootstrap
// has not applied it, or it was destroyed.
func (w Workspace) AbsentError() error {
	return fmt.Errorf("%s does not exist: it was never created, or it was destroyed; its state is in %s", w.Name, w.Dir)
}
