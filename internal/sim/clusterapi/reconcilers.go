// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/core/reconcilers/cluster"
	"sigs.k8s.io/cluster-api/core/reconcilers/machine"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinedeployment"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinehealthcheck"
	"sigs.k8s.io/cluster-api/core/reconcilers/machineset"
	"sigs.k8s.io/cluster-api/core/setup"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

// The periods are the defaults of the real program.
const (
	syncPeriod                  = 10 * time.Minute
	remoteConnectionGracePeriod = 50 * time.Second
	remoteConditionsGracePeriod = 5 * time.Minute
	// connectAgain is when a tenant that did not answer is asked again. It is 30 seconds in
	// the real program, where a control plane takes minutes.
	connectAgain = 2 * time.Second
)

// reconciler is one of core's.
type reconciler interface {
	SetupWithManager(context.Context, ctrl.Manager, controller.Options) error
}

func addReconcilers(ctx context.Context, m ctrl.Manager) (clustercache.ClusterCache, error) {
	secrets, err := setup.CreateSecretCachingClient(m)
	if err != nil {
		return nil, err
	}
	options := controller.Options{MaxConcurrentReconciles: 4}
	cache, err := clustercache.SetupWithManager(ctx, m, clustercache.Options{
		SecretClient: secrets, Cache: setup.ClusterCacheCacheOptions(),
		Client: setup.ClusterCacheClientOptions(agent, 20, 30),
	}, options)
	if err != nil {
		return nil, fmt.Errorf("open the connections to tenants: %w", err)
	}
	if c, ok := cache.(interface{ SetConnectionCreationRetryInterval(time.Duration) }); ok {
		c.SetConnectionCreationRetryInterval(connectAgain)
	}
	for _, r := range reconcilers(m, cache) {
		if err := r.SetupWithManager(ctx, m, options); err != nil {
			return nil, fmt.Errorf("add %T: %w", r, err)
		}
	}
	return cache, nil
}

func reconcilers(m ctrl.Manager, cache clustercache.ClusterCache) []reconciler {
	c, live := m.GetClient(), m.GetAPIReader()
	return []reconciler{
		&cluster.Reconciler{Client: c, APIReader: live, ClusterCache: cache, RemoteConnectionGracePeriod: remoteConnectionGracePeriod},
		&machine.Reconciler{Client: c, APIReader: live, ClusterCache: cache, RemoteConditionsGracePeriod: remoteConditionsGracePeriod},
		&machineset.Reconciler{
			Client: c, APIReader: live, ClusterCache: cache,
			PreflightChecks: sets.New(clusterv1.MachineSetPreflightCheckAll),
		},
		&machinedeployment.Reconciler{Client: c, APIReader: live},
		&machinehealthcheck.Reconciler{Client: c, ClusterCache: cache},
	}
}
