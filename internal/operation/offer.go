// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"net"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Offers queries a platform for what fields of a ProviderConfig may refer to, by the paths of the
// fields. A platform that does not say so offers nothing.
func Offers(ctx context.Context, p provider.Provider, config *v1alpha1.ProviderConfig, secret *corev1.Secret) (map[string][]provider.Offer, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	platform, err := p.Open(ctx, provider.Config{
		ProviderConfig: config, Credentials: provider.NewCredentials(SecretData(secret)),
		Transport: provider.Transport{DialContext: (&net.Dialer{}).DialContext, Agent: agent},
	})
	if err != nil {
		return nil, err
	}
	if platform.Close != nil {
		defer platform.Close()
	}
	if platform.Offers == nil {
		return map[string][]provider.Offer{}, nil
	}
	return platform.Offers(ctx)
}
