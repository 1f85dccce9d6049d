// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/provider"
)

// siteOf is the platform of a cluster as a plane knows it.
func siteOf(ctx context.Context, o *operation.Operation, p provider.Provider, cb *v1alpha1.ClusterBootstrap, c client.Reader) (site, error) {
	config := &v1alpha1.ProviderConfig{}
	if err := c.Get(ctx, cb.ProviderConfig(), config); err != nil {
		return site{}, err
	}
	secret, err := secretOf(ctx, c, config)
	return site{p, config, secret, o.Transport()}, err
}
